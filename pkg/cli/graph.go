package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

func (a App) graphCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "graph [TARGET] -f FILE",
		Short: "Draw the targets, the policies on them and where each is in force",
		Long: `Draw the gateways, listeners, routes, rules and backends with the policies attached to them. Edges tell where a policy is
in force, partly in force or overridden. With a TARGET, only what is above and below it.`,
		Example: `  # a picture of everything
  kubectl dopolicy graph -f manifests/ -o dot | dot -Tsvg > policies.svg`,
		Args: takes(0, 2),
		RunE: a.about(q, s, func(s *session, query view.Query) (render.View, *view.Envelope) {
			out := view.Graph(s.Resolution, query)
			return out, &out.Envelope
		}),
	}
	q.add(cmd, "dot", "json", "yaml", "table")
	q.addLabels(cmd)
	return cmd
}
