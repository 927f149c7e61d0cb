package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// FindPolicies finds the policies that the arguments name: [KIND/]NAME[/RULE]…, or KIND
// NAME[/RULE]….
func (s *Session) FindPolicies(args []string) ([]NamedPolicy, error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") && s.FindPolicyKinds(args[0]) != nil && !s.HasPolicy(args[0]) {
		args = PrefixWords(args[0]+"/", args[1:])
	}
	var out []NamedPolicy
	for _, text := range args {
		named, err := s.FindPolicy(text)
		if err != nil {
			return nil, err
		}
		out = append(out, named)
	}
	return out, nil
}

// HasPolicy reports whether a policy has the name.
func (s *Session) HasPolicy(name string) bool {
	return slices.ContainsFunc(s.Kinds, func(k *resolve.Kind) bool {
		return slices.ContainsFunc(k.Policies, func(p *policy.Policy) bool {
			return p.Ref().Name == name &&
				s.IsInNamespace(p.Ref())
		})
	})
}
