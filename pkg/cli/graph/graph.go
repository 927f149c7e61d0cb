package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/viewer"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Options say what is drawn, and how.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
	Scope       Scope
	Request     string
	Viewer      viewer.Flags
	Style       Style
	Dumps       source.DumpFlags

	outputGiven bool // -o is the user's
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "graph [TARGET… | --focus TARGET|POLICY [--depth N]]",
		Short: "Draw targets, their policies and where each is in force",
		Long: `Draw gateways, listeners, routes, rules and backends with the policies attached to them. Edges show where a policy is in
force, partly in force or overridden. Objects that are referenced but missing from the input are drawn too, with dangling
edges. A namespace is drawn with what matters to it in others: the Gateways through which its traffic comes, the policies there, and what
its own policies target. On a terminal the edges are listed, unless -o asks for something else.

TARGET draws only what is above and below it. --focus draws only what is within a few edges of it, in either direction; it
may be a policy: NAME without a kind is a route, or a policy if there is no such route. --only-affected-by draws only the
targets where a policy is in force or overridden, their parents and backends, and the policies that
override it or are overridden by it.

--request highlights the path of a request, with the points behind the Gateway at which policies may deny it, or with '[METHOD] HOST/PATH' the paths of all requests of a class, in the form of
prove: 'shop.example.com/admin/**' is every request to paths below /admin there, '/admin' every one to this path of any host,
'POST *.example.com' every POST to a host below example.com. It is a class if it has no scheme, and begins with / or has a *.
The rules that take these requests are listed below the picture. If it is not known which rule takes a request, the paths of all
candidates are highlighted, and the answer is incomplete.

Large pictures merge nodes that look alike until they are readable: first the rules of a route, then routes with the same
parents and policies, then namespaces. --collapse sets the level for all formats; --collapse none draws everything.

--dataplane names dumps of proxies, in the form of 'audit'. Differences from the prediction are marked: places where a policy is
in force and the proxy does something else, and rules for which the proxy has no route.

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
		Args: command.CheckArguments(0, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args, o.outputGiven = args, cmd.Flags().Changed("output")
			o.Scope.noteGiven(cmd)
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "dot", "svg", "png", "mermaid", "json", "yaml", "table", "name")
	o.Query.AddLabelSelector(cmd)
	o.Scope.addFlags(cmd, o.Environment, &o.Query.Source)
	cmd.Flags().StringVar(&o.Request, "request", "",
		"highlight the path of a request, as '[METHOD] URL' with the flags of the request command, or those of all requests of a class, as '[METHOD] HOST/PATH' (docs/graph.md)")
	o.Viewer.AddFlag(cmd, "a picture")
	o.Style.addFlags(cmd)
	o.Dumps.AddFlag(cmd, "mark what a proxy does otherwise, by its config_dump")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, completion.ProposeTargetArguments)
	return cmd
}

// Run draws.
func Run(ctx context.Context, o *Options) error {
	if err := o.Scope.checkFlags(o.Args, o.Query.Labels); err != nil {
		return err
	}
	o.Query.Source.Points = o.Request != ""
	if err := o.Dumps.CheckInput(&o.Query.Source); err != nil {
		return err
	}
	if err := o.applyStyle(); err != nil {
		return err
	}
	return o.writeGraph(ctx, viewer.WithDrawing(ctx, o.Environment.Streams), func(to run.Streams) error {
		return o.Query.Answer(ctx, o.Environment, to, o.buildGraphView, o.Args)
	})
}

// maxTerminalEdges is how many edges are listed where nobody asked for a list.
const maxTerminalEdges = 60

// writeGraph writes the graph to standard output, or to a file that is then opened, as SVG if no
// other format was asked for. A terminal gets no DOT that nobody asked for, but the edges in words.
func (o *Options) writeGraph(ctx context.Context, s run.Streams, write func(to run.Streams) error) error {
	q := &o.Query
	if o.Viewer.Open && !o.outputGiven {
		q.Output.Format = string(render.SVG)
	}
	switch {
	case o.Viewer.Open && q.Output.Format != string(render.SVG) && q.Output.Format != string(render.PNG):
		return failure.Usage("drop -o, or use -o svg or -o png", "--open opens pictures, not %s", q.Output.Format)
	case o.Viewer.Open:
		return viewer.WriteAndOpen(ctx, s, "topology."+q.Output.Format, write)
	case s.OutIsTTY && !o.outputGiven && q.Output.Format == string(render.DOT): // DOT is for programs
		q.Output.Format, q.Output.Limit = string(render.Table), maxTerminalEdges
		if err := write(s); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, "hint: add --open to look at the picture, -o svg > policies.svg to keep it, or -o dot for DOT")
		return nil
	case q.Output.Format == string(render.PNG) && s.OutIsTTY:
		return failure.Usage("redirect it to a file, or add --open", "a PNG cannot be shown on a terminal")
	}
	return write(s)
}

// buildGraphView makes the graph that answers a query.
func (o *Options) buildGraphView(s *source.Session, query view.Query) (render.View, *view.Envelope, error) {
	q := graph.Query{Query: query}
	if err := o.Scope.narrowQuery(s, &q); err != nil {
		return nil, nil, err
	}
	if err := o.markRequests(s, &q); err != nil {
		return nil, nil, err
	}
	o.Scope.widenQuery(s, &q)
	witness, err := o.Dumps.Audit(s, q.Kinds)
	if err != nil {
		return nil, nil, err
	}
	if witness != nil {
		q.Proxies = witness.ProxyFacts()
	}
	whole := s.Topology(q)
	if witness != nil {
		whole.Finish(whole.Kind, slices.Concat(whole.Problems, witness.ProxyProblems()))
	}
	out := o.Scope.collapseTopology(whole, o.Query.Output.Format)
	return out, &out.Envelope, nil
}

// markRequests finds the paths of the requests that are asked about.
func (o *Options) markRequests(s *source.Session, q *graph.Query) error {
	if o.Request == "" {
		return nil
	}
	class, err := parseRequestClass(o.Request)
	if err != nil {
		return err
	}
	if class != nil {
		q.TakenPaths, err = class.findPaths(s)
		return err
	}
	m := requestline.NewMatcher(s)
	answer, listener, err := m.AnswerText(o.Request)
	if err == nil {
		q.Request = answer
		q.RequestNodes, q.RequestProblems, err = requests.PossibleNodes(s.Resolution, m.Requests, answer, listener)
	}
	return err
}
