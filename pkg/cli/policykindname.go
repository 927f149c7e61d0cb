package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// kinds are the policy kinds that --policy-kind names, nil for all.
func (s *session) kinds() ([]model.GroupKind, error) {
	var out []model.GroupKind
	for _, name := range s.flags.onlyKinds {
		named := s.policyKind(name)
		if gk, ok := s.findKind(name); named == nil && ok && slices.Contains(topology.RouteKinds(), gk) { // what routes say themselves
			out = append(out, gk)
			continue
		}
		if named == nil {
			return nil, s.unknownPolicyKind(name)
		}
		for _, k := range named {
			out = append(out, k.Resolved().GroupKind)
		}
	}
	return out, nil
}

// policyKind finds a policy kind by kind, plural, singular or short name, with or without its group. Vendors may call theirs alike: of several,
// those with policies in the input are meant, or all if there are none.
func (s *session) policyKind(name string) []*resolve.Kind {
	var all, used []*resolve.Kind
	for _, k := range s.Kinds {
		if k.Again() {
			continue
		}
		if name := strings.ToLower(name); slices.Contains(kindNames(k.GroupKind, k.Plural, k.Short), name) || s.servedAs(k.GroupKind, name) {
			all = append(all, k)
			if len(s.Snapshot.Of(k.GroupKind)) > 0 {
				used = append(used, k)
			}
		}
	}
	if len(used) > 0 {
		return used
	}
	return all
}

// among reports whether one of the kinds is that one.
func among(kinds []*resolve.Kind, gk model.GroupKind) bool {
	return slices.ContainsFunc(kinds, func(k *resolve.Kind) bool { return k.GroupKind == gk })
}

func (s *session) unknownPolicyKind(name string) error {
	var known []string
	for _, k := range s.Kinds {
		known = append(known, strings.ToLower(k.GroupKind.Kind), k.Plural)
	}
	all := *s.flags
	all.onlyKinds = nil
	hint := strings.TrimSpace("list the kinds with: kubectl dopolicy kinds " + all.given())
	if near := form.Nearest(name, known); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return usage(hint, "unknown policy kind %q", name)
}

// kindNames are the spellings of a kind on the command line, in lower case.
func kindNames(gk model.GroupKind, plural string, short []string) []string {
	singular := strings.ToLower(gk.Kind)
	out := []string{singular, plural, strings.ToLower(gk.String())}
	if gk.Group != "" {
		out = append(out, plural+"."+gk.Group)
	}
	return append(out, short...)
}
