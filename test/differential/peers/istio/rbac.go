package main

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"istio.io/istio/pkg/workloadapi/security"
)

// connection is what ztunnel sees of a client that connects to a workload. Who has no identity has no namespace and no account.
type connection struct {
	namespace, account string
	address            netip.Addr
	port               uint32
}

// identity is the name of the client; "" if it has none.
func (c connection) identity() string {
	if c.account == "" {
		return ""
	}
	return "cluster.local/ns/" + c.namespace + "/sa/" + c.account
}

// judged is what ztunnel says of a connection: a policy that denies counts first, and without policies that allow everything is allowed (ztunnel
// src/state.rs, assert_rbac).
func (c connection) judged(all []*security.Authorization) string {
	allows := false
	for _, a := range all {
		if a.Action == security.Action_DENY && c.matches(a) {
			return "denied"
		}
		allows = allows || a.Action == security.Action_ALLOW
	}
	for _, a := range all {
		if a.Action == security.Action_ALLOW && c.matches(a) {
			return "allowed"
		}
	}
	if allows {
		return "denied"
	}
	return "allowed"
}

// matches reports whether one of the rules of a policy matches: every clause of it, by one entry that is not empty, or without any (ztunnel
// src/rbac.rs, Authorization.matches).
func (c connection) matches(a *security.Authorization) bool {
	return slices.ContainsFunc(a.Groups, func(g *security.Group) bool {
		return !slices.ContainsFunc(g.Rules, func(clause *security.Rules) bool {
			return len(clause.Matches) > 0 && !slices.ContainsFunc(clause.Matches, c.fits)
		})
	})
}

// fits reports whether all that an entry says fits.
func (c connection) fits(m *security.Match) bool {
	if proto.Equal(m, &security.Match{}) {
		return false
	}
	account := func(s *security.ServiceAccountMatch) bool {
		return c.account != "" && s.Namespace == c.namespace && s.ServiceAccount == c.account
	}
	principal := func(s *security.StringMatch) bool { return c.account != "" && fits(s, c.identity()) }
	namespace := func(s *security.StringMatch) bool { return fits(s, c.namespace) }
	return either(m.Namespaces, m.NotNamespaces, namespace) && either(m.Principals, m.NotPrincipals, principal) &&
		either(m.ServiceAccounts, m.NotServiceAccounts, account) && either(m.SourceIps, m.NotSourceIps, c.comesFrom) &&
		either(m.DestinationPorts, m.NotDestinationPorts, func(port uint32) bool { return port == c.port })
}

// either reports whether one entry of a list fits, if it has any, and none of those that may not.
func either[T any](want, not []T, fit func(T) bool) bool {
	return (len(want) == 0 || slices.ContainsFunc(want, fit)) && !slices.ContainsFunc(not, fit)
}

func fits(s *security.StringMatch, have string) bool {
	switch m := s.MatchType.(type) {
	case *security.StringMatch_Exact:
		return m.Exact == have
	case *security.StringMatch_Prefix:
		return strings.HasPrefix(have, m.Prefix)
	case *security.StringMatch_Suffix:
		return strings.HasSuffix(have, m.Suffix)
	}
	return have != ""
}

func (c connection) comesFrom(block *security.Address) bool {
	base, ok := netip.AddrFromSlice(bytes.Clone(block.Address))
	if !ok {
		return false
	}
	prefix, err := base.Prefix(int(block.Length))
	return err == nil && prefix.Contains(c.address)
}
