package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

func (a App) reachCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "reach POLICY[/RULE]",
		Short: "Show where a policy, or one rule of it, is in force and where it is not",
		Long: `Show every gateway, route and rule below a policy's targets, and whether the policy is in force there.

POLICY is [KIND/]NAME[/RULE]. RULE is the name that 'effective' prints, or any unambiguous ending of it.`,
		Example: `  # where is this policy in force?
  kubectl dopolicy reach gw-auth -f manifests/

  # where is one rule of it?
  kubectl dopolicy reach authpolicy/gw-auth/geo -f manifests/`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			named, err := session.policy(args[0])
			if err != nil {
				return err
			}
			reach := view.Reach(session.Resolution, named.kind, named.policy, named.rule)
			return q.write(s, session, args[0], reach, &reach.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	a.completion(cmd, &q.sourceFlags, s, firstArgument((*session).policyRuleWords))
	return cmd
}
