package cli

import (
	"slices"

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
	dumpFlags
}

func (a App) graphCmd(s Streams) *cobra.Command {
	q, g := &question{}, &graphFlags{}
	cmd := &cobra.Command{
		Use:   "graph [TARGET… | --focus TARGET|POLICY [--depth N]]",
		Short: "Draw targets, their policies and where each is in force",
		Long: `Draw gateways, listeners, routes, rules and backends with the policies attached to them. Edges show where a policy is in
force, partly in force or overridden. Objects that are referenced but missing from the input are drawn too, with dangling
edges.

TARGET draws only what is above and below it. --focus draws only what is within a few edges of it, in either direction; it
may be a policy: NAME without a kind is a route, or a policy if there is no such route. --only-affected-by draws only the
targets where a policy is in force or overridden, their parents and backends, and the policies that beat it or lose to it.

--request highlights the path of a request, or with '[METHOD] HOST/PATH' the paths of all requests of a class, in the words of
prove: 'shop.example.com/admin/**' is every request to paths below /admin there, '/admin' every one to this path of any host,
'POST *.example.com' every POST to a host below example.com. It is a class if it has no scheme, and begins with / or has a *.
What takes the class is said below the picture; where it is not known which rule does, the paths by all that may are highlighted
and the answer is incomplete.

Large pictures merge nodes that look alike until they are readable: first the rules of a route, then routes with the same
parents and policies, then namespaces. --collapse sets the level for all formats; --collapse none draws everything.

--dataplane names dumps of proxies, as audit takes them. What they do not do as predicted is marked: where a policy is in force
and the proxy does otherwise, and rules for which it has no route.

By default Mermaid refuses to draw more than 500 edges; use --focus to keep the picture small.`,
		Example: `  # open a picture of everything
  kubectl dopolicy graph -f manifests/ --open

  # the path of a request, as a file
  kubectl dopolicy graph --request 'GET https://shop.example.com/cart' -f manifests/ -o svg > path.svg

  # who takes requests to /admin, whatever the host, method and headers?
  kubectl dopolicy graph --request '/admin/**' -f manifests/ --open

  # where does the proxy not do what is predicted?
  kubectl dopolicy graph -f manifests/ --dataplane config_dump.json --open

  # the surroundings of one route, for Markdown
  kubectl dopolicy graph --focus httproute/baker --depth 1 -f manifests/ -o mermaid`,
		Args: takes(0, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.check(cmd, args, q.labels); err != nil {
				return err
			}
			if err := g.checkStdin(&q.sourceFlags); err != nil {
				return err
			}
			if err := g.look(q); err != nil {
				return err
			}
			return g.write(picturing(cmd.Context(), s), q, cmd.Flags().Changed("output"), func(to Streams) error {
				return a.ask(cmd.Context(), q, s, to, g.draw(a, q), args)
			})
		},
	}
	q.add(cmd, "dot", "svg", "png", "mermaid", "json", "yaml", "table", "name")
	q.addLabels(cmd)
	g.graphScope.add(a, cmd, q, s)
	cmd.Flags().StringVar(&g.request, "request", "", "highlight the path of a request, as '[METHOD] URL' with the flags of the request command, or those of all requests of a class, as '[METHOD] HOST/PATH' (docs/graph.md)")
	g.pictureFlags.add(cmd, "a picture")
	g.addLook(cmd)
	g.addDumps(cmd, "mark what a proxy does otherwise, by its config_dump")
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

func (g *graphFlags) draw(a App, form *question) answer {
	return func(s *session, query view.Query) (render.View, *view.Envelope, error) {
		q := view.GraphQuery{Query: query}
		if err := g.fill(s, &q); err != nil {
			return nil, nil, err
		}
		if err := g.mark(s, &q); err != nil {
			return nil, nil, err
		}
		witness, err := g.witness(s, q.Kinds)
		if err != nil {
			return nil, nil, err
		}
		if witness != nil {
			q.Proxies = witness.Facts()
		}
		whole := s.Topology(q)
		if witness != nil {
			whole.Seal(whole.Kind, slices.Concat(whole.Problems, witness.OfProxies()))
		}
		out := g.collapsed(whole, form.format)
		return out, &out.Envelope, nil
	}
}

// mark finds the ways of the requests that are asked about.
func (g *graphFlags) mark(s *session, q *view.GraphQuery) error {
	if g.request == "" {
		return nil
	}
	class, err := parseRequestClass(g.request)
	if err != nil {
		return err
	}
	if class != nil {
		q.Ways, err = class.ways(s)
		return err
	}
	m := s.matcher()
	answer, listener, err := m.answerTo(g.request)
	if err == nil {
		q.Taken, q.Told, err = view.RequestPaths(s.Resolution, m.requests, answer, listener)
	}
	return err
}
