package effective

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
	Request     string // the one that is asked about, in the place of targets
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	o.Query.Source.Reports = true
	cmd := &cobra.Command{
		Use:   "effective [TARGET…]",
		Short: "Show the policies in force on a route, and who set every setting",
		Long: `Show which policies are in force on a route, rule, gateway, listener or Service, or on everything: each setting with its
value, the policy that set it, and why.

TARGET is [KIND/][NAMESPACE/]NAME[/SECTION]; several may be given, also as KIND NAME…. Without a kind it is a route. A
section is a listener, a rule's name, rule-N for the Nth rule without a name, or a Service port.`,
		Example: `  # every rule of one route, in the cluster and namespace of the kubeconfig
  kubectl dopolicy effective baker

  # one rule, as YAML, from manifests
  kubectl dopolicy effective httproute/baker/rule-2 -f manifests/ -o yaml

  # what applies to a request
  kubectl dopolicy effective --for-request 'GET https://shop.example.com/cart'

  # everything, only rate limits
  kubectl dopolicy effective -A --policy-kind ratelimitpolicy

  # after applying these manifests
  kubectl dopolicy effective baker -f new.yaml --live

  # as another user sees it, and again on every change
  kubectl dopolicy effective baker --as dev@example.com -w`,
		Args: command.CheckArguments(0, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "grouped", "tree", "yaml", "json", "ndjson", "name")
	o.Query.AddLabelSelector(cmd)
	o.Query.Output.AddTableFlags(cmd)
	o.Query.AddWatchFlag(cmd)
	cmd.Flags().StringVar(&o.Request, "for-request", "",
		"only what is in force for one request: '[METHOD] URL', with the syntax of 'kubectl dopolicy request'")
	cmd.Flags().BoolVar(&o.Query.ShowNone, "show-none", false, "also list targets where no policy is in force")
	cmd.Flags().BoolVar(&o.Query.Output.ByRule, "by-rule", false,
		"print one line per rule, even if several rules have the same answer")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, completion.ProposeTargetArguments)
	return cmd
}

// Run answers, again and again with --watch.
func Run(ctx context.Context, o *Options) error {
	if o.Request != "" && len(o.Args) > 0 {
		return failure.Usage("drop one of the two", "a TARGET and --for-request cannot be given together")
	}
	return o.Query.AnswerOrWatch(ctx, o.Environment.Streams, func(ctx context.Context, to run.Streams) error {
		return o.Query.Answer(ctx, o.Environment, to, o.findEffective, o.Args)
	})
}

// findEffective answers the question. Items that are written one after the other are computed so.
func (o *Options) findEffective(s *source.Session, query view.Query) (render.View, *view.Envelope, error) {
	if o.Request != "" {
		return effectiveForRequest(s, o.Request, query.Kinds)
	}
	if o.Query.Output.IsItemFormat() {
		out := s.StreamEffective(query)
		out.Head.Reported = findReportedPolicies(s, query, out.Head)
		return out, out.Opening(), nil
	}
	ask := s.EffectivePolicies
	if o.Query.Output.Template.Parsed != nil {
		ask = s.Effective
	}
	out := ask(query)
	out.Reported = findReportedPolicies(s, query, out)
	return out, &out.Envelope, nil
}

// effectiveForRequest returns what is in force on the path of a request.
func effectiveForRequest(s *source.Session, text string, kinds []model.GroupKind) (render.View, *view.Envelope, error) {
	answer, _, err := requestline.NewMatcher(s).AnswerText(text)
	if err != nil {
		return nil, nil, err
	}
	out := s.EffectiveForRequest(answer, kinds)
	return out, &out.Envelope, nil
}
