package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func (a App) newEffectiveCommand(s Streams) *cobra.Command {
	q, request := &queryFlags{}, ""
	q.reports = true
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
	}
	answer := func(s *session, query view.Query) (render.View, *view.Envelope, error) {
		if request != "" {
			return s.effectiveForRequest(request, query.Kinds)
		}
		if q.isItemFormat() || q.parsed != nil {
			query.Judges = q.requestJudges(a.Plugins)
		}
		if q.isItemFormat() {
			out := view.StreamEffective(s.Resolution, query)
			out.Head.Reported = findReportedPolicies(s, query, out.Head)
			return out, out.Opening(), nil
		}
		out := view.Effective(s.Resolution, query)
		out.Reported = findReportedPolicies(s, query, out)
		return out, &out.Envelope, nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if request != "" && len(args) > 0 {
			return newUsageError("drop one of the two", "a TARGET and --for-request cannot be given together")
		}
		return q.answerOrWatch(cmd, s, func(ctx context.Context, s, to Streams) error { return a.answerQuery(ctx, q, s, to, answer, args) })
	}
	q.addFlags(cmd, "table", "wide", "grouped", "tree", "yaml", "json", "ndjson", "name")
	q.addLabelSelector(cmd)
	q.addTable(cmd)
	q.addWatchFlag(cmd)
	cmd.Flags().StringVar(&request, "for-request", "", "show what is in force for a request, given as '[METHOD] URL' with the flags of the request command")
	cmd.Flags().BoolVar(&q.showNone, "show-none", false, "also list targets where no policy is in force")
	cmd.Flags().BoolVar(&q.byRule, "by-rule", false, "print one line per rule, even if several rules have the same answer")
	a.addCompletion(cmd, &q.sourceFlags, s, proposeTargetArguments)
	return cmd
}
