package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

func (a App) effectiveCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "effective [TARGET] -f FILE",
		Short: "Show the policies in force, per route rule, with the source of every setting",
		Long: `Show the effective policies of a route, a rule, a gateway, a listener or a backend, or of everything.

TARGET is [KIND/]NAME[/SECTION] or KIND NAME. Without a kind, routes are looked up. A section is a listener, a rule's name,
rule-N (counted from 1) for an unnamed rule, or a Service port.`,
		Example: `  # every rule of one route
  kubectl dopolicy effective baker -f manifests/

  # one rule, as YAML
  kubectl dopolicy effective httproute/baker/rule-2 -f manifests/ -o yaml

  # everything, only rate limits
  kubectl dopolicy effective -A -f manifests/ --policy-kind ratelimitpolicy`,
		Args: takes(0, 2),
		RunE: a.about(q, s, func(s *session, query view.Query) (render.View, *view.Envelope) {
			out := view.Effective(s.Resolution, query)
			return out, &out.Envelope
		}),
	}
	q.add(cmd, "table", "wide", "tree", "yaml", "json", "name")
	q.addLabels(cmd)
	q.addTable(cmd)
	cmd.Flags().BoolVar(&q.showNone, "show-none", false, "also show targets on which no policy is in force")
	cmd.Flags().BoolVar(&q.byRule, "by-rule", false, "one line per rule, even where several rules have the same answer")
	a.completion(cmd, &q.sourceFlags, s, targetArguments)
	return cmd
}
