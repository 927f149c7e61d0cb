package cli

import "strings"

// policyNames reads several policies from the command line.
type policyNames struct{ *session }

// each finds the policies that the arguments name: [KIND/]NAME[/RULE]…, or KIND NAME[/RULE]….
func (s policyNames) each(args []string) ([]namedPolicy, error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") && s.policyKind(args[0]) != nil && !s.isPolicy(args[0]) {
		args = prefixed(args[0]+"/", args[1:])
	}
	var out []namedPolicy
	for _, text := range args {
		named, err := s.policy(text)
		if err != nil {
			return nil, err
		}
		out = append(out, named)
	}
	return out, nil
}
