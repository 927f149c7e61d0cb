package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

// defaultDepth is how far from its focus a graph goes.
const defaultDepth = 2

// graphFlags narrow the picture.
type graphFlags struct {
	focus   string
	depth   int
	request string
	pictureFlags
	lookFlags
}

func (a App) graphCmd(s Streams) *cobra.Command {
	q, g := &question{}, &graphFlags{}
	cmd := &cobra.Command{
		Use:   "graph [TARGET | --focus TARGET [--depth N]]",
		Short: "Draw the targets, the policies on them and where each is in force",
		Long: `Draw the gateways, listeners, routes, rules and backends with the policies attached to them. Edges tell where a policy is
in force, partly in force or overridden. With a TARGET, only what is above and below it; with --focus, only what is a few
edges away from it, whichever way they point.

Mermaid draws no more than 500 edges unless it is told to; --focus keeps a picture small.`,
		Example: `  # look at a picture of everything
  kubectl dopolicy graph -f manifests/ --open

  # the way of a request, as a file
  kubectl dopolicy graph --request 'GET https://shop.example.com/cart' -f manifests/ -o svg > way.svg

  # what surrounds one route, for Markdown
  kubectl dopolicy graph --focus httproute/baker --depth 1 -f manifests/ -o mermaid`,
		Args: takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := g.target(args, cmd.Flags().Changed("depth"))
			if err != nil {
				return err
			}
			if err := g.look(q); err != nil {
				return err
			}
			return g.write(picturing(cmd.Context(), s), q, cmd.Flags().Changed("output"), func(to Streams) error {
				return a.ask(cmd.Context(), q, s, to, g.draw, args)
			})
		},
	}
	q.add(cmd, "dot", "svg", "png", "mermaid", "json", "yaml", "table", "name")
	q.addLabels(cmd)
	cmd.Flags().StringVar(&g.focus, "focus", "", "only what is near this target, as [KIND/]NAME[/SECTION]")
	cmd.Flags().IntVar(&g.depth, "depth", defaultDepth, "how many edges away from the focus")
	cmd.Flags().StringVar(&g.request, "request", "", "mark the way of a request, written as '[METHOD] URL' with the flags of the request command")
	g.add(cmd, "a picture")
	g.addLook(cmd)
	a.completion(cmd, &q.sourceFlags, s, targetArguments)
	_ = cmd.RegisterFlagCompletionFunc("focus", a.propose(&q.sourceFlags, s, (*sourceFlags).open, inFlag((*session).targetWords)))
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

// target is what the picture is about: the arguments, or the focus.
func (g *graphFlags) target(args []string, depthGiven bool) ([]string, error) {
	switch {
	case g.focus != "" && len(args) > 0:
		return nil, usage("a TARGET is drawn with what is above and below it, a focus with what is near it: drop one of the two", "a target and --focus cannot be given together")
	case g.focus == "" && depthGiven:
		return nil, usage("name what it counts from: --focus [KIND/]NAME[/SECTION]", "--depth needs --focus")
	case g.depth < 0:
		return nil, usage("0 shows the focus by itself", "--depth cannot be %d", g.depth)
	case g.focus != "":
		return []string{g.focus}, nil
	}
	return args, nil
}

func (g *graphFlags) draw(s *session, query view.Query) (render.View, *view.Envelope, error) {
	q := view.GraphQuery{Query: query}
	if g.focus != "" {
		q.Focus, q.Depth, q.Targets = query.Targets, g.depth, nil
	}
	if g.request != "" {
		answer, err := s.answerTo(g.request)
		if err != nil {
			return nil, nil, err
		}
		q.Taken = view.Way(s.Resolution, answer)
	}
	out := view.Graph(s.Resolution, q)
	return out, &out.Envelope, nil
}
