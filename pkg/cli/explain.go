package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

func (a App) explainCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "explain TARGET [RULE]",
		Short: "Show how policies were merged, step by step",
		Long: `Show how the policies above a target were merged, most specific first: each step with its strategy and condition,
what it contributed and what was overridden. RULE limits this to one rule or setting; it is the name that
'effective' prints, or any unambiguous ending of it.`,
		Example: `  # the whole merge
  kubectl dopolicy explain baker/rule-1 -f manifests/

  # one setting of it
  kubectl dopolicy explain baker/rule-1 limits.cap -f manifests/`,
		Args: takes(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			target, rule := splitExplain(session, args)
			query, typed, err := q.query(session, target)
			if err != nil {
				return err
			}
			if rule != "" {
				if rule, err = pickRule(view.RuleNames(session.Resolution, query), rule, typed); err != nil {
					return err
				}
			}
			out := view.Explain(session.Resolution, query, rule)
			return q.write(s, session, typed, out, &out.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	q.addTable(cmd)
	a.completion(cmd, &q.sourceFlags, s, q.explainArguments)
	return cmd
}

// splitExplain tells TARGET RULE from KIND NAME [RULE].
func splitExplain(s *session, args []string) (target []string, rule string) {
	if _, isKind := s.findKind(args[0]); isKind && len(args) > 1 {
		target, args = args[:2], args[2:]
	} else {
		target, args = args[:1], args[1:]
	}
	if len(args) > 0 {
		rule = args[0]
	}
	return target, rule
}
