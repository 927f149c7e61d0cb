package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// effectiveOptions are what the flags and arguments of the command say.
type effectiveOptions struct {
	Environment environment
	Args        []string
	Query       queryFlags
	Request     string // the one that is asked about, in the place of targets
}

// newEffectiveCommand makes the command.
func newEffectiveCommand(env environment) *cobra.Command {
	o := &effectiveOptions{Environment: env}
	o.Query.Source.reports = true
	cmd := &cobra.Command{
		Use:   "effective [TARGET…]",
		Short: "Show the policies in force on each route rule, with the source of every setting",
		Long: `Show the effective policies of a route, rule, gateway, listener or backend, or of everything.

TARGET is [KIND/]NAME[/SECTION]; several may be given, also as KIND NAME…. Without a kind, it is a route. A section is a listener, a rule's name,
rule-N (counted from 1) for an unnamed rule, or a Service port.`,
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
		Args: checkArgumentCount(0, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return runEffective(cmd.Context(), o)
		},
	}
	o.Query.addFlags(cmd, "table", "wide", "grouped", "tree", "yaml", "json", "ndjson", "name")
	o.Query.addLabelSelector(cmd)
	o.Query.Output.addTable(cmd)
	o.Query.addWatchFlag(cmd)
	cmd.Flags().StringVar(&o.Request, "for-request", "", "show what is in force for a request, given as '[METHOD] URL' with the flags of the request command")
	cmd.Flags().BoolVar(&o.Query.showNone, "show-none", false, "also list targets where no policy is in force")
	cmd.Flags().BoolVar(&o.Query.Output.byRule, "by-rule", false, "print one line per rule, even if several rules have the same answer")
	addCompletion(cmd, o.Environment, &o.Query.Source, proposeTargetArguments)
	return cmd
}

// runEffective answers, again and again with --watch.
func runEffective(ctx context.Context, o *effectiveOptions) error {
	if o.Request != "" && len(o.Args) > 0 {
		return newUsageError("drop one of the two", "a TARGET and --for-request cannot be given together")
	}
	return o.Query.answerOrWatch(ctx, o.Environment.Streams, func(ctx context.Context, to Streams) error {
		return o.Query.answerQuery(ctx, o.Environment, to, o.findEffective, o.Args)
	})
}

// findEffective answers the question. Items that are written one after the other are computed so.
func (o *effectiveOptions) findEffective(s *session, query view.Query) (render.View, *view.Envelope, error) {
	if o.Request != "" {
		return effectiveForRequest(s, o.Request, query.Kinds)
	}
	if o.Query.Output.isItemFormat() {
		out := s.StreamEffective(query)
		out.Head.Reported = findReportedPolicies(s, query, out.Head)
		return out, out.Opening(), nil
	}
	ask := s.EffectivePolicies
	if o.Query.Output.template.parsed != nil {
		ask = s.Effective
	}
	out := ask(query)
	out.Reported = findReportedPolicies(s, query, out)
	return out, &out.Envelope, nil
}
