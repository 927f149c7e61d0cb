package cli

import (
	"context"
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// overriddenOptions are what the flags and arguments of the command say.
type overriddenOptions struct {
	Environment environment
	Args        []string
	Query       queryFlags
	Target      string // at which settings lost; "": anywhere
}

// newOverriddenCommand makes the command.
func newOverriddenCommand(env environment) *cobra.Command {
	o := &overriddenOptions{Environment: env}
	cmd := &cobra.Command{
		Use:   "overridden [POLICY[/RULE]…] [--target TARGET]",
		Short: "Show which settings were overridden, by which policy and why",
		Long:  `Show the settings that a policy sets but that are not in force: those of some policies, at one target, or all.`,
		Example: `  # which settings were overridden on this route?
  kubectl dopolicy overridden --target httproute/baker -f manifests/

  # where did this policy lose, and to whom?
  kubectl dopolicy overridden gw-auth -f manifests/`,
		Args: checkArgumentCount(0, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return runOverridden(cmd.Context(), o)
		},
	}
	o.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.addTable(cmd)
	cmd.Flags().StringVar(&o.Target, "target", "", "only settings that lost at this target, as [KIND/]NAME[/SECTION]")
	addCompletion(cmd, o.Environment, &o.Query.Source, proposeForEachArgument(proposePolicyRules))
	completeFlag(cmd, "target", proposeFromInput(o.Environment, &o.Query.Source, (*sourceFlags).openInput, proposeForFlag(proposeTargets)))
	return cmd
}

// runOverridden answers.
func runOverridden(ctx context.Context, o *overriddenOptions) error {
	session, err := o.Query.Source.openInput(ctx, o.Environment)
	if err != nil {
		return err
	}
	named, err := session.findPolicies(o.Args)
	if err != nil {
		return err
	}
	query, typed, err := o.parseQuery(session)
	if err != nil {
		return err
	}
	list := listOverridden(session, query, named)
	return o.Query.Output.writeWithProblems(o.Environment.Streams, session, typed, list, &list.Envelope)
}

// parseQuery makes the query for the target, if one is given. Without a target, a policy
// is looked for everywhere: -n only found the policy.
func (o *overriddenOptions) parseQuery(s *session) (view.Query, string, error) {
	var args []string
	if o.Target != "" {
		args = []string{o.Target}
	}
	query, typed, err := o.Query.parseQuery(s, args)
	if len(o.Args) > 0 && o.Target == "" {
		query.Targets = nil
	}
	return query, typed, err
}

// listOverridden returns what lost: of the policies that are named, or of every one.
func listOverridden(s *session, query view.Query, named []namedPolicy) *view.OverriddenRuleList {
	var policies []*policy.Policy
	var rules []string
	for _, n := range named {
		policies, rules = append(policies, n.policy), append(rules, n.rule)
	}
	return s.Overridden(query, policies, rules)
}
