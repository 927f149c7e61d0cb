package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// SelectedKinds returns the policy kinds that --policy-kind names, nil for all.
func (s *Session) SelectedKinds() ([]model.GroupKind, error) {
	var out []model.GroupKind
	for _, name := range s.Flags.OnlyKinds {
		named := s.FindPolicyKinds(name)
		// what routes say themselves
		if gk, ok := s.FindKind(name); named == nil && ok && slices.Contains(gatewayapi.RouteKinds(), gk) {
			out = append(out, gk)
			continue
		}
		if named == nil {
			return nil, s.UnknownPolicyKind(name)
		}
		for _, k := range named {
			out = append(out, k.ResolvedKind().GroupKind)
		}
	}
	return out, nil
}

// FindPolicyKinds finds a policy kind by kind, plural, singular or short name, with or without its
// group. Vendors may use the same name: of several kinds, those with policies in the input are
// meant, or all if there are none.
func (s *Session) FindPolicyKinds(name string) []*resolve.Kind {
	var all, used []*resolve.Kind
	for _, k := range s.Kinds {
		if k.IsLaterScope() {
			continue
		}
		if name := strings.ToLower(name); slices.Contains(SpellKind(k.GroupKind, k.Plural, k.ShortNames), name) ||
			s.isServedAs(k.GroupKind, name) {
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

// ContainsKind reports whether one of the kinds is gk.
func ContainsKind(kinds []*resolve.Kind, gk model.GroupKind) bool {
	return slices.ContainsFunc(kinds, func(k *resolve.Kind) bool { return k.GroupKind == gk })
}

// UnknownPolicyKind is the usage error for a word that is no policy kind.
func (s *Session) UnknownPolicyKind(name string) error {
	var known []string
	for _, k := range s.Kinds {
		known = append(known, strings.ToLower(k.GroupKind.Kind), k.Plural)
	}
	all := *s.Flags
	all.OnlyKinds = nil
	hint := strings.TrimSpace("list the kinds with: kubectl dopolicy kinds " + all.Args())
	if near := form.Nearest(name, known); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return failure.Usage(hint, "unknown policy kind or namespace %q", name)
}

// SpellKind lists the spellings of a kind on the command line, in lower case.
func SpellKind(gk model.GroupKind, plural string, short []string) []string {
	singular := strings.ToLower(gk.Kind)
	out := []string{singular, plural, strings.ToLower(gk.String())}
	if gk.Group != "" {
		out = append(out, plural+"."+gk.Group)
	}
	return append(out, short...)
}
