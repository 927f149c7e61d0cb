package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// selectedKinds returns the policy kinds that --policy-kind names, nil for all.
func (s *session) selectedKinds() ([]model.GroupKind, error) {
	var out []model.GroupKind
	for _, name := range s.flags.onlyKinds {
		named := s.findPolicyKinds(name)
		if gk, ok := s.findKind(name); named == nil && ok && slices.Contains(topology.RouteKinds(), gk) { // what routes say themselves
			out = append(out, gk)
			continue
		}
		if named == nil {
			return nil, s.unknownPolicyKind(name)
		}
		for _, k := range named {
			out = append(out, k.ResolvedKind().GroupKind)
		}
	}
	return out, nil
}

// findPolicyKinds finds a policy kind by kind, plural, singular or short name, with or without its
// group. Vendors may use the same name: of several kinds, those with policies in the input are
// meant, or all if there are none.
func (s *session) findPolicyKinds(name string) []*resolve.Kind {
	var all, used []*resolve.Kind
	for _, k := range s.Kinds {
		if k.IsLaterScope() {
			continue
		}
		if name := strings.ToLower(name); slices.Contains(spellKind(k.GroupKind, k.Plural, k.ShortNames), name) || s.isServedAs(k.GroupKind, name) {
			all = append(all, k)
			if len(s.Snapshot.OfKind(k.GroupKind)) > 0 {
				used = append(used, k)
			}
		}
	}
	if len(used) > 0 {
		return used
	}
	return all
}

// containsKind reports whether one of the kinds is gk.
func containsKind(kinds []*resolve.Kind, gk model.GroupKind) bool {
	return slices.ContainsFunc(kinds, func(k *resolve.Kind) bool { return k.GroupKind == gk })
}

// unknownPolicyKind is the usage error for a word that is no policy kind.
func (s *session) unknownPolicyKind(name string) error {
	var known []string
	for _, k := range s.Kinds {
		known = append(known, strings.ToLower(k.GroupKind.Kind), k.Plural)
	}
	all := *s.flags
	all.onlyKinds = nil
	hint := strings.TrimSpace("list the kinds with: kubectl dopolicy kinds " + all.sourceArgs())
	if near := form.Nearest(name, known); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return newUsageError(hint, "unknown policy kind %q", name)
}

// spellKind lists the spellings of a kind on the command line, in lower case.
func spellKind(gk model.GroupKind, plural string, short []string) []string {
	singular := strings.ToLower(gk.Kind)
	out := []string{singular, plural, strings.ToLower(gk.String())}
	if gk.Group != "" {
		out = append(out, plural+"."+gk.Group)
	}
	return append(out, short...)
}
