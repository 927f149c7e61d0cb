package cli

import "strings"

// findPolicies finds the policies that the arguments name: [KIND/]NAME[/RULE]…, or KIND
// NAME[/RULE]….
func (s *session) findPolicies(args []string) ([]namedPolicy, error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") && s.findPolicyKinds(args[0]) != nil && !s.hasPolicy(args[0]) {
		args = prefixWords(args[0]+"/", args[1:])
	}
	var out []namedPolicy
	for _, text := range args {
		named, err := s.findPolicy(text)
		if err != nil {
			return nil, err
		}
		out = append(out, named)
	}
	return out, nil
}
