package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

func (a App) overriddenCmd(s Streams) *cobra.Command {
	q := &question{}
	var target string
	cmd := &cobra.Command{
		Use:   "overridden [POLICY[/RULE]…] [--target TARGET]",
		Short: "Show which settings were overridden, by which policy and why",
		Long:  `Show the settings that a policy sets but that are not in force: those of some policies, at one target, or all.`,
		Example: `  # which settings were overridden on this route?
  kubectl dopolicy overridden --target httproute/baker -f manifests/

  # where did this policy lose, and to whom?
  kubectl dopolicy overridden gw-auth -f manifests/`,
		Args: takes(0, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			named, err := policyNames{session}.each(args)
			if err != nil {
				return err
			}
			query, typed, err := overriddenQuery(q, session, target, len(args) > 0)
			if err != nil {
				return err
			}
			list := overriddenList(session, query, named)
			return q.write(s, session, typed, list, &list.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	q.addTable(cmd)
	cmd.Flags().StringVar(&target, "target", "", "only settings that lost at this target, as [KIND/]NAME[/SECTION]")
	a.completion(cmd, &q.sourceFlags, s, everyArgument(policyRuleWords))
	completeFlag(cmd, "target", a.propose(&q.sourceFlags, s, (*sourceFlags).open, inFlag(targetWords)))
	return cmd
}

// overriddenQuery asks about the target, if one is given. A policy by itself is asked about everywhere: -n found the policy.
func overriddenQuery(q *question, s *session, target string, named bool) (view.Query, string, error) {
	var args []string
	if target != "" {
		args = []string{target}
	}
	query, typed, err := q.query(s, args)
	if named && target == "" {
		query.Targets = nil
	}
	return query, typed, err
}

// overriddenList is what lost: of the policies that are named, or of every one.
func overriddenList(s *session, query view.Query, named []namedPolicy) *view.OverriddenRuleList {
	var policies []*policy.Policy
	var rules []string
	for _, n := range named {
		policies, rules = append(policies, n.policy), append(rules, n.rule)
	}
	return s.Overridden(query, policies, rules)
}
