package reach

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "reach POLICY[/SETTING]…",
		Short: "Show where a policy, or one setting of it, is in force, and where not",
		Long: `Show every gateway, route and rule below a policy's targets, and whether the policy is in force there.

POLICY is [KIND/][NAMESPACE/]NAME[/SETTING]; several may be given, also as KIND NAME…. SETTING is the name that effective
prints, or any unique suffix of it.`,
		Example: `  # where is this policy in force?
  kubectl dopolicy reach gw-auth -f manifests/

  # where is one setting of it?
  kubectl dopolicy reach authpolicy/gw-auth/geo -f manifests/

  # in the cluster, and again on every change
  kubectl dopolicy reach gw-auth -n infra -w`,
		Args: command.CheckArguments(1, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.AddTableFlags(cmd)
	o.Query.AddWatchFlag(cmd)
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source,
		completion.ProposeForWord(completion.ProposePolicyRules))
	return cmd
}

// Run answers, again and again with --watch.
func Run(ctx context.Context, o *Options) error {
	return o.Query.AnswerOrWatch(ctx, o.Environment.Streams, o.answerOnce)
}

// answerOnce answers once.
func (o *Options) answerOnce(ctx context.Context, to run.Streams) error {
	q, names := &o.Query, o.Args
	session, err := q.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	named, err := session.FindPolicies(names)
	if err != nil {
		return err
	}
	all := make([]*reach.PolicyReach, len(named))
	for i, n := range named {
		all[i] = session.Reach(n.Kind, n.Policy, n.Rule)
	}
	if len(all) == 1 {
		return q.Output.Write(to, session, names[0], all[0], &all[0].Envelope)
	}
	list := reach.NewList(all)
	return q.Output.Write(to, session, "", list, &list.Envelope)
}
