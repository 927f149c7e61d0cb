package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// requestFlags describe one request besides its method and URL.
type requestFlags struct {
	request.Options
	gateway  string
	listener string
}

func (f *requestFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.Headers, "header", "H", nil, "request header, as 'name: value' (repeatable)")
	fs.StringVar(&f.gateway, "gateway", "", "Gateway the request is sent to, as [NAMESPACE/]NAME (default: the one with a matching listener)")
	fs.StringVar(&f.listener, "listener", "", "only listeners with this name")
	fs.StringVar(&f.SNI, "sni", "", "TLS server name (default: the URL's host)")
	fs.StringVar(&f.GRPC, "grpc", "", "gRPC request, as package.Service/Method")
	fs.StringVar(&f.Protocol, "protocol", "", "a connection instead of an HTTP request: TLS|TCP|UDP; with --from and --to: TCP|UDP|SCTP")
	fs.StringVar(&f.From, "from-namespace", "", "request in the mesh, from a client in this namespace")
}

// asked is a request as it was typed.
type asked struct {
	requestFlags
	method, url string
	place       string // file:line, where it comes from a file
}

// arguments reads [METHOD] URL.
func (q *asked) arguments(args []string) error {
	switch len(args) {
	case 1:
		if slices.Contains(methods, args[0]) {
			return usage("write: kubectl dopolicy request "+args[0]+" https://shop.example.com/cart", "a request needs a URL")
		}
		q.method, q.url = "GET", args[0]
	case 2:
		q.method, q.url = strings.ToUpper(args[0]), args[1]
	default:
		return usage("write: kubectl dopolicy request [METHOD] URL, for example: request GET https://shop.example.com/cart", "a request needs a URL")
	}
	return nil
}

// methods are words that are no host.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

func (a App) requestCmd(s Streams) *cobra.Command {
	q, one, ends, curl, file := &question{}, &asked{}, &connectionQuery{}, "", ""
	cmd := &cobra.Command{
		Use:   "request [METHOD] URL",
		Short: "Show which listener, route and rule serve a request, why, and which policies apply",
		Long: `Show which listener, route, rule and backends serve a request, why this rule beats every other matching rule, and the
policies in force on that path. Nothing is sent.

The URL gives the host and port to connect to; the host is also used as Host header and TLS server name unless
-H 'Host: …' or --sni say otherwise. An outcome that the manifests do not determine is reported as Conditional.

With --requests-file, every line of the file is one request, written like the arguments and flags of this command or as a
curl command; lines that start with # are comments.

With --from and --to, show whether policies allow a connection between two pods, and which rule decides at each
end. A Deployment, StatefulSet or similar workload stands in for pods that are not in the input.`,
		Example: `  # where does this request go, and which policies apply?
  kubectl dopolicy request GET https://shop.example.com/cart -H 'x-team: blue' -f manifests/

  # a gRPC call, and a pasted curl command
  kubectl dopolicy request http://api.example.com --grpc shop.Cart/Add -f manifests/
  kubectl dopolicy request --curl "curl -X POST https://shop.example.com/cart" -f manifests/

  # a mesh request, from a client in namespace web
  kubectl dopolicy request http://cart.shop:8080/ --from-namespace web

  # may this pod connect to that one?
  kubectl dopolicy request --from shop/web-0 --to pay/db-0 --protocol TCP --port 5432 -f manifests/`,
		Args: takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ends.given() {
				if err := ends.check(one, args, curl != "" || file != ""); err != nil {
					return err
				}
				return a.connection(cmd.Context(), q, s, ends, one.Protocol)
			}
			if file != "" {
				return a.requests(cmd.Context(), q, s, file, args, curl != "")
			}
			if err := one.typed(args, curl); err != nil {
				return err
			}
			return a.request(cmd.Context(), q, s, one)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	one.add(cmd.Flags())
	ends.add(cmd.Flags())
	cmd.Flags().StringVar(&curl, "curl", "", "take the request from a curl command, instead of METHOD and URL")
	cmd.Flags().StringVar(&file, "requests-file", "", "file with one request per line, or - for standard input")
	complete(cmd, "protocol", []string{"TLS", "TCP", "UDP", "SCTP"})
	a.completion(cmd, &q.sourceFlags, s, nil)
	_ = cmd.RegisterFlagCompletionFunc("gateway", a.propose(&q.sourceFlags, s, (*sourceFlags).open, inFlag((*session).gatewayWords)))
	_ = cmd.RegisterFlagCompletionFunc("from-namespace", a.propose(&q.sourceFlags, s, (*sourceFlags).open, namespaceWords))
	return cmd
}

// typed reads the request from the arguments or a curl command.
func (q *asked) typed(args []string, curl string) error {
	if curl == "" {
		return q.arguments(args)
	}
	if len(args) > 0 {
		return usage("drop one of the two", "a URL and --curl cannot be given together")
	}
	words, err := shellWords(curl)
	if err != nil {
		return err
	}
	return q.curl(words)
}

// open reads the input, and finds the policy kinds that are asked about.
func (a App) open(ctx context.Context, q *question, s Streams) (*session, []model.GroupKind, error) {
	session, err := q.open(ctx, a.Plugins, s)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := session.kinds()
	return session, kinds, err
}

// request answers one request.
func (a App) request(ctx context.Context, q *question, s Streams, one *asked) error {
	session, kinds, err := a.open(ctx, q, s)
	if err != nil {
		return err
	}
	answer, err := session.find(session.matcher(), one)
	if err != nil {
		return err
	}
	out := view.Request(session.Resolution, answer, kinds, plugin.Evaluators(a.Plugins))
	if answer.Rule != topology.None {
		q.scope = requestScope(session.Node(answer.Rule).Ref)
	}
	return q.write(s, session, "", out, &out.Envelope)
}

// requestScope are the arguments that name a rule to `overridden`.
func requestScope(rule model.Ref) []string {
	return []string{"--target", typedRef(rule), "-n", rule.Namespace}
}

// requests answers those of a file.
func (a App) requests(ctx context.Context, q *question, s Streams, file string, args []string, curl bool) error {
	if len(args) > 0 || curl {
		return usage("drop one of the two", "--requests-file and a request cannot be given together")
	}
	all, err := readRequests(file, s.In)
	if err != nil {
		return err
	}
	session, kinds, err := a.open(ctx, q, s)
	if err != nil {
		return err
	}
	matcher := session.matcher()
	answers := make([]*request.Answer, 0, len(all))
	for i := range all {
		answer, err := session.find(matcher, &all[i])
		if err != nil {
			return at(all[i].place, err)
		}
		answers = append(answers, answer)
	}
	out := view.Requests(session.Resolution, answers, kinds, plugin.Evaluators(a.Plugins))
	return q.write(s, session, "", out, &out.Envelope)
}

// at says in which line of a file a request is wrong.
func at(place string, err error) error {
	var use *usageError
	if place != "" && errors.As(err, &use) {
		return usage(use.hint, "%s: %s", place, use.what)
	}
	return err
}

// readRequests reads one request a line.
func readRequests(file string, in io.Reader) ([]asked, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, &noAnswer{fmt.Sprintf("reading requests: %s", err), "give a file with one request per line"}
		}
		defer f.Close()
		in = f
	}
	var out []asked
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		place := fmt.Sprintf("%s:%d", file, n)
		one, err := parseRequest(line)
		if err != nil {
			return nil, at(place, err)
		}
		one.place = place
		out = append(out, one)
	}
	if err := lines.Err(); err != nil {
		return nil, &noAnswer{fmt.Sprintf("reading requests from %s: %s", file, err), "write one request per line"}
	}
	if len(out) == 0 {
		return nil, usage("write one request per line, for example: GET https://shop.example.com/cart", "%s contains no requests", file)
	}
	return out, nil
}

// parseRequest reads a request in one text: [METHOD] URL with flags, or a curl command.
func parseRequest(text string) (asked, error) {
	words, err := shellWords(text)
	if err != nil {
		return asked{}, err
	}
	var q asked
	if len(words) > 0 && words[0] == "curl" {
		return q, q.curl(words)
	}
	fs := pflag.NewFlagSet("request", pflag.ContinueOnError)
	q.add(fs)
	if err := fs.Parse(words); err != nil {
		return q, usage("a request takes -H, --gateway, --listener, --sni, --grpc, --protocol and --from-namespace", "%s", err)
	}
	return q, q.arguments(fs.Args())
}

func (s *session) matcher() *request.Matcher {
	m := request.NewMatcher(s.Graph, s.catalog.Settings()).TidyBy(s.Resolution, s.tidiers)
	m.Beside(s.BlindSpots())
	return m
}

// find answers a request.
func (s *session) find(m *request.Matcher, q *asked) (*request.Answer, error) {
	r, err := request.New(q.method, q.url, q.Options)
	var wrong *request.UsageError
	if errors.As(err, &wrong) {
		return nil, usage(wrong.Hint, "%s", wrong.What)
	}
	where := request.Where{Gateway: topology.None, Listener: q.listener}
	if q.gateway != "" && q.From != "" {
		return nil, usage("drop one of the two", "--gateway and --from-namespace cannot be given together: a mesh request does not go through a Gateway")
	}
	if q.gateway != "" {
		if where.Gateway, err = s.gateway(q.gateway); err != nil {
			return nil, err
		}
	}
	answer, err := m.Find(r, where)
	var several *request.AmbiguousError
	if errors.As(err, &several) {
		var names []string
		for _, ref := range several.Gateways {
			names = append(names, ref.FullName())
		}
		return nil, usage("name one with --gateway: "+strings.Join(firstFew(names), ", "), "%s", several)
	}
	return answer, err
}

// gateway finds the Gateway that [NAMESPACE/]NAME means.
func (s *session) gateway(name string) (topology.NodeID, error) {
	var found, all, bare []string
	id := topology.None
	for _, o := range s.Snapshot.Of(model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}) {
		all, bare = append(all, o.Ref.FullName()), append(bare, o.Ref.Name)
		if o.Ref.FullName() == name || o.Ref.Name == name && s.inNamespace(o.Ref) {
			found = append(found, o.Ref.FullName())
			id = s.Graph.Lookup(o.Ref)[0]
		}
	}
	switch {
	case len(found) == 1:
		return id, nil
	case len(found) > 1:
		return id, usage("name one of: "+strings.Join(found, ", "), "%q is ambiguous: %d Gateways have this name", name, len(found))
	}
	hint := ""
	if near := form.Nearest(name, append(bare, all...)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	} else if len(all) > 0 {
		hint = "there are: " + strings.Join(firstFew(all), ", ")
	}
	return id, s.missed(hint, "no gateway %q %s", name, s.where())
}

// answerTo answers a request that is written in one text.
func (s *session) answerTo(text string) (*request.Answer, error) {
	q, err := parseRequest(text)
	if err != nil {
		return nil, err
	}
	return s.find(s.matcher(), &q)
}

// effectiveFor is what is in force on the way of a request.
func (s *session) effectiveFor(text string, kinds []model.GroupKind) (render.View, *view.Envelope, error) {
	answer, err := s.answerTo(text)
	if err != nil {
		return nil, nil, err
	}
	out := view.EffectiveForRequest(s.Resolution, answer, kinds)
	return out, &out.Envelope, nil
}
