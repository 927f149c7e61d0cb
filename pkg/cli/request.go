package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// requestFlags describe one request besides its method and URL.
type requestFlags struct {
	options    request.Options
	gateway    string
	listener   string
	methodFlag string   // the method, as a flag
	expect     []string // what is expected of the answer
}

// addRequestFlags adds the flags; a line of a file of requests has them too.
func (f *requestFlags) addRequestFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&f.methodFlag, "method", "X", "", "request method, in the place of the argument METHOD")
	fs.StringArrayVarP(&f.options.Headers, "header", "H", nil, "request header, as 'name: value' (repeatable)")
	fs.StringVar(&f.gateway, "gateway", "", "Gateway the request is sent to, as [NAMESPACE/]NAME (default: every one with a matching listener)")
	fs.StringVar(&f.listener, "listener", "", "only listeners with this name")
	fs.StringVar(&f.options.SNI, "sni", "", "TLS server name (default: the URL's host)")
	fs.StringVar(&f.options.GRPC, "grpc", "", "gRPC request, as package.Service/Method")
	fs.StringVar(&f.options.Protocol, "protocol", "", "a connection instead of an HTTP request: TLS|TCP|UDP; with --from and --to: TCP|UDP|SCTP")
	fs.StringVar(&f.options.From, "from-namespace", "", "request in the mesh, from a client in this namespace")
	fs.StringArrayVar(&f.expect, "expect", nil, "exit with 1 unless this is the answer: 200, 404, another status of the Gateway's own, allowed, denied, no-match, or policy=KIND/[NAMESPACE/]NAME (repeatable)")
}

// typedRequest is a request as it was typed.
type typedRequest struct {
	flags       requestFlags
	method, url string
	origin      string // file:line, where it comes from a file
}

// readArguments reads [METHOD] URL.
func (q *typedRequest) readArguments(args []string) error {
	switch len(args) {
	case 1:
		if slices.Contains(commonMethods, args[0]) {
			return newUsageError("write: kubectl dopolicy request "+args[0]+" https://shop.example.com/cart", "a request needs a URL")
		}
		q.method, q.url = strings.ToUpper(cmp.Or(q.flags.methodFlag, "GET")), args[0]
	case 2:
		if q.flags.methodFlag != "" && !strings.EqualFold(q.flags.methodFlag, args[0]) {
			return newUsageError("drop one of the two", "-X %s and the method %s cannot be given together", q.flags.methodFlag, args[0])
		}
		q.method, q.url = strings.ToUpper(args[0]), args[1]
	default:
		return newUsageError("write: kubectl dopolicy request [METHOD] URL, for example: request GET https://shop.example.com/cart", "a request needs a URL")
	}
	return nil
}

// commonMethods are words that are no host.
var commonMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

const requestLong = `Show which listener, route, rule and backends serve a request, why this rule beats every other matching rule, and the
policies in force on that path. Nothing is sent.

The URL gives the host and port to connect to; the host is also used as Host header and TLS server name unless
-H 'Host: …' or --sni say otherwise. An outcome that the manifests do not determine is reported as Conditional.

If several Gateways have a listener for the request, each has an answer. If nothing takes it, near misses are named: the
rule or listener that only the method, a header, a query parameter, the path, the host or the port kept from it.

--expect states what the answer has to be; the exit code is 1 unless everything that is expected is so, at every Gateway.
  200, allowed      a rule takes it, all its backends are usable, and no policy is known to deny it. Whether credentials
                    suffice, and what the backend answers, is not judged.
  404, no-match     nothing takes it; 404 only where a Gateway answers with that status
  301, 421, 500 …   a status that the Gateway itself answers with
  denied            a policy denies it for certain
  policy=KIND/[NAMESPACE/]NAME
                    the policy is in force on the way
What the input does not determine is not met, and the answer says why.

With --requests-file, every line of the file is one request, written like the arguments and flags of this command or as a
curl command, with --expect where something is expected; lines that start with # are comments.

With --from and --to, show whether policies allow a connection between two pods, and which rule decides at each
end. A Deployment, StatefulSet or similar workload stands in for pods that are not in the input.`

const requestExample = `  # where does this request go, and which policies apply?
  kubectl dopolicy request GET https://shop.example.com/cart -H 'x-team: blue' -f manifests/

  # in CI: is it served, protected by this policy, and nothing else exposed?
  kubectl dopolicy request https://shop.example.com/cart --expect 200 --expect policy=authpolicy/gw-auth -f manifests/
  kubectl dopolicy request -X DELETE https://shop.example.com/admin --expect 404 -f manifests/

  # a gRPC call, and a pasted curl command
  kubectl dopolicy request http://api.example.com --grpc shop.Cart/Add -f manifests/
  kubectl dopolicy request --curl "curl -X POST https://shop.example.com/cart" -f manifests/

  # a mesh request, from a client in namespace web
  kubectl dopolicy request http://cart.shop:8080/ --from-namespace web

  # may this pod connect to that one?
  kubectl dopolicy request --from shop/web-0 --to pay/db-0 --protocol TCP --port 5432 -f manifests/`

// requestOptions are what the flags and arguments of the command say: one of a request, a
// connection and a file of requests.
type requestOptions struct {
	Environment  environment
	Args         []string
	Query        queryFlags
	Request      typedRequest
	Connection   connectionEnds
	Curl         string // a curl command
	RequestsFile string // one request a line
}

// newRequestCommand makes the command.
func newRequestCommand(env environment) *cobra.Command {
	o := &requestOptions{Environment: env}
	cmd := &cobra.Command{
		Use:     "request [METHOD] URL",
		Short:   "Show which listener, route and rule serve a request, why, and which policies apply",
		Long:    requestLong,
		Example: requestExample,
		Args:    checkArgumentCount(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return runRequest(cmd.Context(), o)
		},
	}
	o.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.addTable(cmd)
	o.Request.flags.addRequestFlags(cmd.Flags())
	o.Connection.addConnectionFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.Curl, "curl", "", "take the request from a curl command, instead of METHOD and URL")
	cmd.Flags().StringVar(&o.RequestsFile, "requests-file", "", "file with one request per line, or - for standard input")
	completeFlagFrom(cmd, "protocol", []string{"TLS", "TCP", "UDP", "SCTP"})
	addCompletion(cmd, o.Environment, &o.Query.Source, nil)
	completeFlag(cmd, "gateway", proposeFromInput(o.Environment, &o.Query.Source, (*sourceFlags).openInput, proposeForFlag(proposeGateways)))
	completeFlag(cmd, "from-namespace", proposeFromInput(o.Environment, &o.Query.Source, (*sourceFlags).openInput, listNamespaces))
	return cmd
}

// runRequest answers.
func runRequest(ctx context.Context, o *requestOptions) error {
	if err := o.Request.flags.checkExpectations(); err != nil {
		return err
	}
	if o.Connection.isGiven() {
		if err := o.Connection.checkConnection(&o.Request, o.Args, o.Curl != "" || o.RequestsFile != ""); err != nil {
			return err
		}
		return o.answerConnection(ctx)
	}
	if o.RequestsFile != "" {
		return o.answerRequests(ctx)
	}
	if err := o.Request.readTyped(o.Args, o.Curl); err != nil {
		return err
	}
	return o.answerRequest(ctx)
}

// readTyped reads the request from the arguments or a curl command.
func (q *typedRequest) readTyped(args []string, curl string) error {
	if curl == "" {
		return q.readArguments(args)
	}
	if len(args) > 0 || q.flags.methodFlag != "" {
		return newUsageError("drop one of the two", "a URL or -X and --curl cannot be given together")
	}
	words, err := splitShellWords(curl)
	if err != nil {
		return err
	}
	return q.readCurl(words)
}

// openWithKinds reads the input, and finds the policy kinds that the flags name.
func (o *requestOptions) openWithKinds(ctx context.Context) (*session, []model.GroupKind, error) {
	session, err := o.Query.Source.openInput(ctx, o.Environment)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := session.selectedKinds()
	return session, kinds, err
}

// answerRequest answers one request.
func (o *requestOptions) answerRequest(ctx context.Context) error {
	q, s, one := &o.Query, o.Environment.Streams, &o.Request
	session, kinds, err := o.openWithKinds(ctx)
	if err != nil {
		return err
	}
	matcher := newMatcher(session)
	answers, err := matcher.answerWithExpectations(one)
	if err != nil {
		return err
	}
	if err := matcher.addSpellingProblems(one, answers); err != nil {
		return err
	}
	if len(answers) > 1 {
		out := session.RequestAtEach(answers, kinds)
		if err := q.Output.writeWithProblems(s, session, "", out, &out.Envelope); err != nil {
			return err
		}
		return q.Output.reportUnmet(s, out.Unmet())
	}
	out := session.Request(answers[0], kinds)
	if rule := answers[0].Answer.Rule; rule != topology.None {
		q.Output.scope = overriddenArgs(session.Node(rule).Ref)
	}
	if err := q.Output.writeWithProblems(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	return q.Output.reportUnmet(s, out.Unmet())
}

// overriddenArgs returns the arguments that name a rule to `overridden`.
func overriddenArgs(rule model.Ref) []string {
	return []string{"--target", formatTypedRef(rule), "-n", rule.Namespace}
}

// answerRequests answers the requests of a file. What is expected by flags is expected of all of
// them, besides what their lines say.
func (o *requestOptions) answerRequests(ctx context.Context) error {
	q, s := &o.Query, o.Environment.Streams
	if len(o.Args) > 0 || o.Curl != "" {
		return newUsageError("drop one of the two", "--requests-file and a request cannot be given together")
	}
	all, err := readRequests(o.RequestsFile, s.In)
	if err != nil {
		return err
	}
	session, kinds, err := o.openWithKinds(ctx)
	if err != nil {
		return err
	}
	matcher := newMatcher(session)
	answers := make([]view.ExpectedAnswer, 0, len(all))
	for i := range all {
		all[i].flags.expect = append(slices.Clone(o.Request.flags.expect), all[i].flags.expect...)
		found, err := matcher.answerWithExpectations(&all[i])
		if err != nil {
			return locateError(all[i].origin, err)
		}
		if err := matcher.addSpellingProblems(&all[i], found); err != nil {
			return err
		}
		answers = append(answers, found...)
	}
	out := session.Requests(answers, kinds)
	if err := q.Output.writeWithProblems(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	return q.Output.reportUnmet(s, out.Unmet())
}

// locateError says in which line of a file a request is wrong.
func locateError(place string, err error) error {
	var use *usageError
	if place != "" && errors.As(err, &use) {
		return newUsageError(use.hint, "%s: %s", place, use.what)
	}
	return err
}

// readRequests reads one request a line.
func readRequests(file string, in io.Reader) ([]typedRequest, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, newNoAnswerError(fmt.Sprintf("reading requests: %s", err), "give a file with one request per line")
		}
		defer f.Close()
		in = f
	}
	var out []typedRequest
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
			return nil, locateError(place, err)
		}
		one.origin = place
		out = append(out, one)
	}
	if err := lines.Err(); err != nil {
		return nil, newNoAnswerError(fmt.Sprintf("reading requests from %s: %s", file, err), "write one request per line")
	}
	if len(out) == 0 {
		return nil, newUsageError("write one request per line, for example: GET https://shop.example.com/cart", "%s contains no requests", file)
	}
	return out, nil
}

// parseRequest reads a request in one text: [METHOD] URL with flags, or a curl command.
func parseRequest(text string) (typedRequest, error) {
	words, err := splitShellWords(text)
	if err != nil {
		return typedRequest{}, err
	}
	var q typedRequest
	if len(words) > 0 && words[0] == "curl" {
		if err := q.readCurl(words); err != nil {
			return q, err
		}
		return q, q.flags.checkExpectations()
	}
	fs := pflag.NewFlagSet("request", pflag.ContinueOnError)
	q.flags.addRequestFlags(fs)
	if err := fs.Parse(words); err != nil {
		return q, newUsageError("a request takes -X, -H, --gateway, --listener, --sni, --grpc, --protocol, --from-namespace and --expect", "%s", err)
	}
	if err := q.flags.checkExpectations(); err != nil {
		return q, err
	}
	return q, q.readArguments(fs.Args())
}
