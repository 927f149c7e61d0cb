package cli

import (
	"context"

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
  kubectl dopolicy reach authpolicy/gw-auth/geo -f manifests/

  # in the cluster, and again on every change
  kubectl dopolicy reach gw-auth -n infra -w`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.run(cmd, s, func(ctx context.Context, s, to Streams) error { return a.reach(ctx, q, s, to, args[0]) })
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	q.addWatch(cmd)
	a.completion(cmd, &q.sourceFlags, s, firstArgument(policyRuleWords))
	return cmd
}

// reach is the whole of the command.
func (a App) reach(ctx context.Context, q *question, s, to Streams, name string) error {
	session, err := q.open(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	named, err := session.policy(name)
	if err != nil {
		return err
	}
	reach := view.Reach(session.Resolution, named.kind, named.policy, named.rule)
	return q.write(to, session, name, reach, &reach.Envelope)
}
