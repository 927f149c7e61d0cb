package cli

import (
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func (a App) newOverriddenCommand(s Streams) *cobra.Command {
	q := &queryFlags{}
	var target string
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
			session, err := q.openInput(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			named, err := policyNames{session}.findEach(args)
			if err != nil {
				return err
			}
			query, typed, err := parseOverriddenQuery(q, session, target, len(args) > 0)
			if err != nil {
				return err
			}
			list := listOverridden(session, query, named)
			return q.writeWithProblems(s, session, typed, list, &list.Envelope)
		},
	}
	q.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	q.addTable(cmd)
	cmd.Flags().StringVar(&target, "target", "", "only settings that lost at this target, as [KIND/]NAME[/SECTION]")
	a.addCompletion(cmd, &q.sourceFlags, s, proposeForEachArgument(proposePolicyRules))
	completeFlag(cmd, "target", a.proposeFromInput(&q.sourceFlags, s, (*sourceFlags).openInput, proposeForFlag(proposeTargets)))
	return cmd
}

// parseOverriddenQuery makes the query for the target, if one is given. Without a target, a policy
// is looked for everywhere: -n only found the policy.
func parseOverriddenQuery(q *queryFlags, s *session, target string, named bool) (view.Query, string, error) {
	var args []string
	if target != "" {
		args = []string{target}
	}
	query, typed, err := q.parseQuery(s, args)
	if named && target == "" {
		query.Targets = nil
	}
	return query, typed, err
}

// listOverridden returns what lost: of the policies that are named, or of every one.
func listOverridden(s *session, query view.Query, named []namedPolicy) *view.OverriddenRuleList {
	switch len(named) {
	case 0:
		return view.Overridden(s.Resolution, query, nil, "")
	case 1:
		return view.Overridden(s.Resolution, query, named[0].policy, named[0].rule)
	}
	var policies []*policy.Policy
	var rules []string
	for _, n := range named {
		policies, rules = append(policies, n.policy), append(rules, n.rule)
	}
	return view.OverriddenOfPolicies(s.Resolution, query, policies, rules)
}
