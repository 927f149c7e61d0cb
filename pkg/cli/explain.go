package cli

import (
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func (a App) newExplainCommand(s Streams) *cobra.Command {
	q := &queryFlags{}
	cmd := &cobra.Command{
		Use:   "explain TARGET… [RULE]",
		Short: "Show how policies were merged, step by step",
		Long: `Show how the policies above targets were merged, most specific first: each step with its strategy and condition,
what it contributed and what was overridden. RULE, the last word, limits this to one rule or setting; it is the name that
'effective' prints, or any unambiguous ending of it.`,
		Example: `  # the whole merge
  kubectl dopolicy explain baker/rule-1 -f manifests/

  # one setting of it
  kubectl dopolicy explain baker/rule-1 limits.cap -f manifests/`,
		Args: checkArgumentCount(1, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.openInput(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			query, typed, rule, err := q.parseExplainArgs(session, args)
			if err != nil {
				return err
			}
			out := view.Explain(session.Resolution, query, rule)
			return q.writeWithProblems(s, session, typed, out, &out.Envelope)
		},
	}
	q.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	q.addTable(cmd)
	a.addCompletion(cmd, &q.sourceFlags, s, q.proposeExplainArguments)
	return cmd
}

// parseExplainArgs tells TARGET… from TARGET… RULE: the last word is a rule of the targets
// before it, if they have one of that name.
func (q *queryFlags) parseExplainArgs(s *session, args []string) (query view.Query, typed, rule string, err error) {
	if _, isKind := s.findKind(args[0]); isKind && len(args) == 2 || len(args) == 1 {
		query, typed, err = q.parseQuery(s, args)
		return query, typed, "", err
	}
	last := len(args) - 1
	query, typed, err = q.parseQuery(s, args[:last])
	if err != nil {
		return query, "", "", err
	}
	rule, err = pickRule(view.RuleNames(s.Resolution, query), args[last], typed)
	if err == nil {
		return query, typed, rule, nil
	}
	if _, _, unknown := s.findTargets(args[last:], labelSelector{}); unknown != nil {
		return query, "", "", err
	}
	query, typed, err = q.parseQuery(s, args)
	return query, typed, "", err
}
