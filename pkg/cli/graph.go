package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

// graphFlags say what is drawn, and how.
type graphFlags struct {
	graphScope
	request string
	pictureFlags
	lookFlags
}

func (a App) graphCmd(s Streams) *cobra.Command {
	q, g := &question{}, &graphFlags{}
	cmd := &cobra.Command{
		Use:   "graph [TARGET | --focus TARGET|POLICY [--depth N]]",
		Short: "Draw the targets, the policies on them and where each is in force",
		Long: `Draw the gateways, listeners, routes, rules and backends with the policies attached to them. Edges tell where a policy is
in force, partly in force or overridden; what is named and not in the input is drawn too, and edges to it dangle. With a
TARGET, only what is above and below it; with --focus, only what is a few edges away from it, whichever way they point.
The focus may be a policy: a NAME without a kind means a route, and a policy only if no route has it. With
--only-affected-by, only the targets where a policy is in force or overridden, with what is above them, the backends
below them, and of the other policies those that beat it or lose to it there.

Pictures draw as one what looks alike, as far as it takes to be readable: rules as their route, routes with the same
parents and policies as one node, in the end namespaces. --collapse says how far instead, for all formats; --collapse none
draws everything.

Mermaid draws no more than 500 edges unless it is told to; --focus keeps a picture small.`,
		Example: `  # look at a picture of everything
  kubectl dopolicy graph -f manifests/ --open

  # the way of a request, as a file
  kubectl dopolicy graph --request 'GET https://shop.example.com/cart' -f manifests/ -o svg > way.svg

  # what surrounds one route, for Markdown
  kubectl dopolicy graph --focus httproute/baker --depth 1 -f manifests/ -o mermaid`,
		Args: takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.check(cmd, args, q.labels); err != nil {
				return err
			}
			if err := g.look(q); err != nil {
				return err
			}
			return g.write(picturing(cmd.Context(), s), q, cmd.Flags().Changed("output"), func(to Streams) error {
				return a.ask(cmd.Context(), q, s, to, g.draw(q), args)
			})
		},
	}
	q.add(cmd, "dot", "svg", "png", "mermaid", "json", "yaml", "table", "name")
	q.addLabels(cmd)
	g.graphScope.add(a, cmd, q, s)
	cmd.Flags().StringVar(&g.request, "request", "", "mark the way of a request, written as '[METHOD] URL' with the flags of the request command")
	g.pictureFlags.add(cmd, "a picture")
	g.addLook(cmd)
	a.completion(cmd, &q.sourceFlags, s, targetArguments)
	return cmd
}

// write has the graph written where it is looked at: to standard output, or to a file that is opened, as SVG if nothing else was asked for.
func (g *graphFlags) write(s Streams, q *question, outputGiven bool, write func(to Streams) error) error {
	if g.open && !outputGiven {
		q.format = string(render.SVG)
	}
	switch {
	case g.open && q.format != string(render.SVG) && q.format != string(render.PNG):
		return usage("drop -o, or use -o svg or -o png", "--open opens pictures, not %s", q.format)
	case g.open:
		return opened(s, "topology."+q.format, write)
	case q.format == string(render.PNG) && s.OutIsTTY:
		return usage("redirect it to a file, or add --open", "a PNG cannot be shown on a terminal")
	}
	return write(s)
}

func (g *graphFlags) draw(form *question) answer {
	return func(s *session, query view.Query) (render.View, *view.Envelope, error) {
		q := view.GraphQuery{Query: query}
		if err := g.fill(s, &q); err != nil {
			return nil, nil, err
		}
		if g.request != "" {
			answer, err := s.answerTo(g.request)
			if err != nil {
				return nil, nil, err
			}
			q.Taken = view.Way(s.Resolution, answer)
		}
		out := g.collapsed(view.Graph(s.Resolution, q), form.format)
		return out, &out.Envelope, nil
	}
}
