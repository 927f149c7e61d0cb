package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// reachOptions are what the flags and arguments of the command say.
type reachOptions struct {
	Environment environment
	Args        []string
	Query       queryFlags
}

// newReachCommand makes the command.
func newReachCommand(env environment) *cobra.Command {
	o := &reachOptions{Environment: env}
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
			o.Args = args
			return runReach(cmd.Context(), o)
		},
	}
	o.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.addTable(cmd)
	o.Query.addWatchFlag(cmd)
	addCompletion(cmd, o.Environment, &o.Query.Source, proposeForEachArgument(proposePolicyRules))
	return cmd
}

// runReach answers, again and again with --watch.
func runReach(ctx context.Context, o *reachOptions) error {
	return o.Query.answerOrWatch(ctx, o.Environment.Streams, o.answer)
}

// answer answers once.
func (o *reachOptions) answer(ctx context.Context, to Streams) error {
	q, names := &o.Query, o.Args
	session, err := q.Source.openInput(ctx, o.Environment)
	if err != nil {
		return err
	}
	named, err := session.findPolicies(names)
	if err != nil {
		return err
	}
	all := make([]*view.PolicyReach, len(named))
	for i, n := range named {
		all[i] = session.Reach(n.kind, n.policy, n.rule)
	}
	if len(all) == 1 {
		return q.Output.writeWithProblems(to, session, names[0], all[0], &all[0].Envelope)
	}
	list := view.NewPolicyReachList(all)
	return q.Output.writeWithProblems(to, session, "", list, &list.Envelope)
}
