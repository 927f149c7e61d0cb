package cli

import (
	"context"
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// explainOptions are what the flags and arguments of the command say.
type explainOptions struct {
	Environment environment
	Args        []string
	Query       queryFlags
}

// newExplainCommand makes the command.
func newExplainCommand(env environment) *cobra.Command {
	o := &explainOptions{Environment: env}
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
			o.Args = args
			return runExplain(cmd.Context(), o)
		},
	}
	o.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.addTable(cmd)
	addCompletion(cmd, o.Environment, &o.Query.Source, o.proposeArguments)
	return cmd
}

// runExplain answers.
func runExplain(ctx context.Context, o *explainOptions) error {
	session, err := o.Query.Source.openInput(ctx, o.Environment)
	if err != nil {
		return err
	}
	query, typed, rule, err := parseArguments(&o.Query, session, o.Args)
	if err != nil {
		return err
	}
	out := session.Explain(query, rule)
	return o.Query.Output.writeWithProblems(o.Environment.Streams, session, typed, out, &out.Envelope)
}

// parseArguments tells TARGET… from TARGET… RULE: the last word is a rule of the targets
// before it, if they have one of that name.
func parseArguments(q *queryFlags, s *session, args []string) (query view.Query, typed, rule string, err error) {
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

// proposeArguments completes targets and, behind them, a rule.
func (o *explainOptions) proposeArguments(s *session, args []string, typed string) []string {
	if len(args) == 0 {
		return proposeTargets(s, typed)
	}
	if gk, kind := s.findKind(args[0]); kind && len(args) == 1 {
		return proposeNames(s, gk, typed)
	}
	query, _, err := o.Query.parseQuery(s, args)
	if err != nil { // the last one is a rule
		return nil
	}
	return proposeRules(view.RuleNames(s.Resolution, query), typed)
}
