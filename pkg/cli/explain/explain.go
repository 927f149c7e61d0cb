package explain

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
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
		Use:   "explain TARGET… [SETTING]",
		Short: "Show step by step how policies were merged on a route",
		Long: `Show how the policies above targets were merged, most specific first: each step with its strategy and condition,
what it contributed and what was overridden. SETTING, the last word, limits this to one setting; it is the name that
effective prints, or any unique suffix of it.`,
		Example: `  # the whole merge
  kubectl dopolicy explain baker/rule-1 -f manifests/

  # one setting of it
  kubectl dopolicy explain baker/rule-1 limits.cap -f manifests/`,
		Args: command.CheckArguments(1, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.AddTableFlags(cmd)
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, o.proposeArguments)
	return cmd
}

// Run answers.
func Run(ctx context.Context, o *Options) error {
	session, err := o.Query.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	query, typed, rule, err := parseArguments(&o.Query, session, o.Args)
	if err != nil {
		return err
	}
	out := session.Explain(query, rule)
	return o.Query.Output.Write(o.Environment.Streams, session, typed, out, &out.Envelope)
}

// parseArguments tells TARGET… from TARGET… SETTING: the last word is a setting of the targets
// before it, if they have one of that name.
func parseArguments(q *command.Query, s *source.Session, args []string) (query view.Query, typed,
	rule string, err error) {
	if _, isKind := s.FindKind(args[0]); isKind && len(args) == 2 || len(args) == 1 {
		query, typed, err = q.Parse(s, args)
		return query, typed, "", err
	}
	last := len(args) - 1
	query, typed, err = q.Parse(s, args[:last])
	if err != nil {
		return query, "", "", err
	}
	rule, err = source.PickRule(explain.RuleNames(s.Resolution, query), args[last], typed)
	if err == nil {
		return query, typed, rule, nil
	}
	if _, _, unknown := s.FindTargets(args[last:], source.LabelSelector{}); unknown != nil {
		return query, "", "", err
	}
	query, typed, err = q.Parse(s, args)
	return query, typed, "", err
}

// proposeArguments completes targets and, behind them, a rule.
func (o *Options) proposeArguments(s *source.Session, args []string, typed string) []string {
	if len(args) == 0 {
		return completion.ProposeTargets(s, typed)
	}
	if gk, kind := s.FindKind(args[0]); kind && len(args) == 1 {
		return completion.ProposeNames(s, gk, typed)
	}
	query, _, err := o.Query.Parse(s, args)
	if err != nil { // the last one is a rule
		return nil
	}
	return completion.ProposeRules(explain.RuleNames(s.Resolution, query), typed)
}
