package authorization

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// AddAddress adds an address of the source, as it is written.
func (s *Source) AddAddress(text string) {
	if a, err := netip.ParseAddr(text); err == nil {
		s.Addresses = append(s.Addresses, a.Unmap())
	}
}

// LooksAtRequests reports whether a rule asks for anything that a connection alone does not tell.
func (r Rule) LooksAtRequests() bool {
	fields, ok := r.Value.(map[string]any)
	if !ok {
		return false
	}
	_, dropped := dropRequestAttributes(fields)
	return dropped || r.Action == "CUSTOM"
}

// matchSource matches who sends: all fields have to fit, and none of those that begin with not.
func (j *ruleEvaluator) matchSource(fields map[string]any) selector.Truth {
	out := selector.Truth(selector.Yes)
	for _, name := range sortNames(fields) {
		values, _ := fields[name].([]any)
		if len(values) == 0 {
			continue
		}
		plain, negative := cutNegation(name)
		fits := j.matchSourceField(plain, values)
		if negative {
			fits = negateTruth(fits)
		}
		out = min(out, fits)
	}
	return out
}

// cutNegation returns the name of a field without the not that it begins with.
func cutNegation(name string) (plain string, negative bool) {
	plain, negative = strings.CutPrefix(name, "not")
	if !negative {
		return name, false
	}
	return strings.ToLower(plain[:1]) + plain[1:], true
}

// matchSourceField matches one field of a source. Who has no identity has no principal, no namespace
// and no service account (ztunnel src/rbac.rs).
func (j *ruleEvaluator) matchSourceField(name string, values []any) selector.Truth {
	if j.Source == nil {
		return j.noteUnknown("source." + name)
	}
	switch name {
	case "principals":
		return j.matchIdentity(values, func(want, id, _, _ string) bool {
			want = strings.TrimPrefix(want, "spiffe://")
			return matchesValue(want, id)
		})
	case "namespaces":
		if j.Source.Doubt != "" && j.Source.Namespace != "" {
			return matchAny(values, func(want string) selector.Truth { return truthOf(matchesValue(want, j.Source.Namespace)) })
		}
		return j.matchIdentity(values, func(want, _, namespace, _ string) bool { return matchesValue(want, namespace) })
	case "serviceAccounts":
		return j.matchIdentity(values, func(want, _, namespace, account string) bool {
			if !strings.Contains(want, "/") {
				want = j.policy.Ref.Namespace + "/" + want
			}
			return want == namespace+"/"+account
		})
	case "ipBlocks":
		return j.matchAddresses(values)
	}
	return j.noteUnknown("source." + name)
}

// matchIdentity matches the identity of the source.
func (j *ruleEvaluator) matchIdentity(values []any, fits func(want, id, namespace, account string) bool) selector.Truth {
	if j.Source.Doubt != "" {
		return j.noteUnknown("the identity of the source (" + j.Source.Doubt + ")")
	}
	id := j.Source.Identity
	if id == "" {
		return selector.No
	}
	_, rest, _ := strings.Cut(id, "/ns/")
	namespace, account, _ := strings.Cut(rest, "/sa/")
	return matchAny(values, func(want string) selector.Truth { return truthOf(fits(want, id, namespace, account)) })
}

// matchAddresses matches the address from which the connection comes.
func (j *ruleEvaluator) matchAddresses(values []any) selector.Truth {
	if len(j.Source.Addresses) != 1 {
		return j.noteUnknown("the address of the source")
	}
	return matchAny(values, func(want string) selector.Truth {
		if p, err := netip.ParsePrefix(want); err == nil {
			return truthOf(p.Contains(j.Source.Addresses[0]))
		}
		a, err := netip.ParseAddr(want)
		return truthOf(err == nil && a == j.Source.Addresses[0])
	})
}

// sourceConditions are the conditions about the source, by the fields that they stand for.
var sourceConditions = map[string]string{"source.principal": "principals", "source.namespace": "namespaces",
	"source.serviceAccount": "serviceAccounts", "source.ip": "ipBlocks"}

// connectionConditions are the conditions that need no request.
var connectionConditions = []string{"source.principal", "source.namespace", "source.serviceAccount", "source.ip",
	"destination.ip", "destination.port", "connection.sni"}

// matchOpaqueRule matches a rule where only connections are seen.
func (j *ruleEvaluator) matchOpaqueRule(rule Rule) selector.Truth {
	fields, ok := rule.Value.(map[string]any)
	if !ok {
		return selector.No
	}
	plain, dropped := dropRequestAttributes(fields)
	if dropped && rule.Action == "ALLOW" {
		return selector.No
	}
	return j.matchRule(plain)
}

// requestFields are the fields of sources and operations that need a request.
var requestFields = map[string]bool{"requestPrincipals": true, "notRequestPrincipals": true, "hosts": true,
	"notHosts": true, "methods": true, "notMethods": true, "paths": true, "notPaths": true}

// dropRequestAttributes returns a rule without what needs a request, and whether there was anything.
func dropRequestAttributes(rule map[string]any) (out map[string]any, dropped bool) {
	out = map[string]any{}
	for _, at := range [][2]string{{"from", "source"}, {"to", "operation"}} {
		entries, _ := rule[at[0]].([]any)
		var kept []any
		for _, e := range entries {
			have, _ := model.Get(e, at[1]).(map[string]any)
			left := map[string]any{}
			for name, value := range have {
				if requestFields[name] {
					dropped = true
				} else {
					left[name] = value
				}
			}
			kept = append(kept, map[string]any{at[1]: left})
		}
		if kept != nil {
			out[at[0]] = kept
		}
	}
	conditions, _ := rule["when"].([]any)
	var kept []any
	for _, c := range conditions {
		key := model.Text(c, "key")
		if slices.Contains(connectionConditions, key) {
			kept = append(kept, c)
		} else {
			dropped = true
		}
	}
	if kept != nil {
		out["when"] = kept
	}
	return out, dropped
}
