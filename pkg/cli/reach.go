package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func (a App) newReachCommand(s Streams) *cobra.Command {
	q := &queryFlags{}
	cmd := &cobra.Command{
		Use:   "reach POLICY[/RULE]…",
		Short: "Show where a policy, or one rule of it, is in force and where it is not",
		Long: `Show every gateway, route and rule below a policy's targets, and whether the policy is in force there.

POLICY is [KIND/]NAME[/RULE]; several may be given, also as KIND NAME[/RULE]…. RULE is the name that 'effective' prints, or any unambiguous ending of it.`,
		Example: `  # where is this policy in force?
  kubectl dopolicy reach gw-auth -f manifests/

  # where is one rule of it?
  kubectl dopolicy reach authpolicy/gw-auth/geo -f manifests/

  # in the cluster, and again on every change
  kubectl dopolicy reach gw-auth -n infra -w`,
		Args: checkArgumentCount(1, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.answerOrWatch(cmd, s, func(ctx context.Context, s, to Streams) error { return a.reach(ctx, q, s, to, args) })
		},
	}
	q.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	q.addTable(cmd)
	q.addWatchFlag(cmd)
	a.addCompletion(cmd, &q.sourceFlags, s, proposeForEachArgument(proposePolicyRules))
	return cmd
}

// reach is the whole of the command.
func (a App) reach(ctx context.Context, q *queryFlags, s, to Streams, names []string) error {
	session, err := q.openInput(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	named, err := policyNames{session}.findEach(names)
	if err != nil {
		return err
	}
	all := make([]*view.PolicyReach, len(named))
	for i, n := range named {
		all[i] = view.Reach(session.Resolution, n.kind, n.policy, n.rule)
	}
	if len(all) == 1 {
		return q.writeWithProblems(to, session, names[0], all[0], &all[0].Envelope)
	}
	list := view.NewPolicyReachList(all)
	return q.writeWithProblems(to, session, "", list, &list.Envelope)
}
