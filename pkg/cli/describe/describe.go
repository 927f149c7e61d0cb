package describe

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
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
		Use:   "describe NAME",
		Short: "Show one object on one screen: its policies, what is in force, overridden and wrong, and its status",
		Long: `Show what there is to know about one route, rule, gateway, listener, service or policy: how its traffic flows, which
policies target it and whether they are accepted, what is in force and from whom, what was overridden, what check finds,
and what to ask next. Long lists are cut; -o json has all of it.

NAME is [KIND/][NAMESPACE/]NAME[/SECTION]. Without a kind it is a route, else the only object that has the name.`,
		Example: `  # a route, or one rule of it
  kubectl dopolicy describe cart
  kubectl dopolicy describe httproute/cart/checkout

  # a gateway, a policy
  kubectl dopolicy describe gateway/external -n infra
  kubectl dopolicy describe authpolicy/gw-auth -n infra -f manifests/`,
		Args: command.CheckArguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "name")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, proposeObjects)
	return cmd
}

// proposeObjects completes targets and policies.
func proposeObjects(s *source.Session, args []string, typed string) []string {
	if len(args) > 0 {
		return completion.ProposeTargetArguments(s, args, typed)
	}
	return append(completion.ProposeTargets(s, typed), completion.ProposePolicies(s, typed)...)
}

// Run answers.
func Run(ctx context.Context, o *Options) error {
	q := &o.Query
	session, err := q.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	object, err := session.FindObject(o.Args)
	if err != nil {
		return err
	}
	kinds, err := session.SelectedKinds()
	if err != nil {
		return err
	}
	asked := dopolicy.DescribeQuery{Kinds: kinds}
	if object.Policy != nil {
		asked.Policy, asked.PolicyKind = object.Policy.Policy, object.Policy.Kind
		asked.Settings = session.ListRules(*object.Policy)
	} else {
		asked.Object, asked.Targets = object.Ref, object.Nodes
		asked.Through = session.FilterAboveRoutes(object.Nodes)
	}
	out := session.Describe(asked)
	return q.Output.Write(o.Environment.Streams, session, "", out, &out.Envelope)
}
