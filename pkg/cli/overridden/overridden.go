package overridden

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string // policies, or targets
	Query       command.Query
	Target      string // at which settings were overridden; "": anywhere
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "overridden [POLICY[/SETTING]… | TARGET…] [--target TARGET]",
		Short: "Show which settings were overridden, by which policy and why",
		Long: `Show the settings that a policy sets but that are not in force: those of some policies, at some targets, or all.
If a policy and a route have the same name, the policy is meant.`,
		Example: `  # which settings were overridden on this route?
  kubectl dopolicy overridden httproute/baker -f manifests/

  # where was this policy overridden, and by whom?
  kubectl dopolicy overridden gw-auth -f manifests/

  # the settings of one policy on one route
  kubectl dopolicy overridden gw-auth --target shop/cart -f manifests/`,
		Args: command.CheckArguments(0, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.AddTableFlags(cmd)
	cmd.Flags().StringVar(&o.Target, "target", "", "only settings that were overridden at this target, as [KIND/][NAMESPACE/]NAME[/SECTION]")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source,
		completion.ProposeForWord(proposeArguments))
	completion.AddToFlag(cmd, "target", completion.FromInput(o.Environment, &o.Query.Source, (*source.Flags).Open,
		completion.ProposeForWord(completion.ProposeTargets)))
	return cmd
}

// Run answers.
func Run(ctx context.Context, o *Options) error {
	session, err := o.Query.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	named, err := session.FindPolicies(o.Args)
	if err != nil && o.Target == "" && namesTargets(session, o.Args) {
		query, typed, err := o.Query.Parse(session, o.Args)
		if err != nil {
			return err
		}
		list := session.Overridden(query, nil, nil)
		return o.Query.Output.Write(o.Environment.Streams, session, typed, list, &list.Envelope)
	}
	if err != nil {
		return err
	}
	query, typed, err := o.parseQuery(session)
	if err != nil {
		return err
	}
	list := listOverridden(session, query, named)
	return o.Query.Output.Write(o.Environment.Streams, session, typed, list, &list.Envelope)
}

// namesTargets reports whether the arguments are targets.
func namesTargets(s *source.Session, args []string) bool {
	_, _, err := s.FindTargets(args, source.LabelSelector{})
	return err == nil
}

// proposeArguments completes policies and their settings, and targets.
func proposeArguments(s *source.Session, typed string) []string {
	return append(completion.ProposePolicyRules(s, typed), completion.ProposeTargets(s, typed)...)
}

// parseQuery makes the query for the target, if one is given. Without a target, a policy
// is looked for everywhere: -n only found the policy.
func (o *Options) parseQuery(s *source.Session) (view.Query, string, error) {
	var args []string
	if o.Target != "" {
		args = []string{o.Target}
	}
	query, typed, err := o.Query.Parse(s, args)
	if len(o.Args) > 0 && o.Target == "" {
		query.Targets = nil
	}
	return query, typed, err
}

// listOverridden returns what lost: of the policies that are named, or of every one.
func listOverridden(s *source.Session, query view.Query, named []source.NamedPolicy) *overridden.OverriddenRuleList {
	var policies []*policy.Policy
	var rules []string
	for _, n := range named {
		policies, rules = append(policies, n.Policy), append(rules, n.Rule)
	}
	return s.Overridden(query, policies, rules)
}
