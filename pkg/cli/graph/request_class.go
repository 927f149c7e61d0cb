package graph

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// requestClass is a class of requests as it was typed: [METHOD] HOST/PATH, in the words of `prove`.
type requestClass struct {
	selection         space.Selection
	gateway, listener string
	text              string // HOST/PATH
}

const classHint = "write a class of requests as '[METHOD] HOST/PATH', for example 'shop.example.com/admin/**' or '/admin/**', and one request with its scheme, as 'GET https://shop.example.com/admin'"

// parseRequestClass reads a class of requests; nil if the text is about one request, or about none.
// A class is named without a scheme, by a path alone or with a *.
func parseRequestClass(text string) (*requestClass, error) {
	words, err := requestline.SplitWords(text)
	if err != nil || len(words) == 0 || words[0] == "curl" {
		return nil, nil
	}
	var q requestline.Request
	fs := pflag.NewFlagSet("request", pflag.ContinueOnError)
	q.Flags.AddFlags(fs)
	if fs.Parse(words) != nil || fs.NArg() == 0 {
		return nil, nil
	}
	named := fs.Arg(fs.NArg() - 1)
	if bare, found := cutScheme(named); found {
		at, _, _ := strings.Cut(bare, "?")
		if strings.Contains(at, "*") {
			return nil, failure.Usage("for all requests of this form, leave out the scheme: '"+at+
				"'; for the one request whose path has a *, write it as a curl command: \"curl '"+named+"'\"",
				"%q has a scheme, as one request has, and a *", named)
		}
		return nil, nil
	}
	if !strings.HasPrefix(named, "/") && !strings.Contains(named, "*") {
		if fs.NArg() == 2 && strings.ContainsAny(fs.Arg(0), "/*") {
			return nil, failure.Usage(classHint, "%q is not a method", fs.Arg(0))
		}
		return nil, nil
	}
	c := &requestClass{gateway: q.Flags.Gateway, listener: q.Flags.Listener, text: named}
	return c, c.readFlags(fs, &q)
}

// cutScheme returns a URL without its scheme, and whether it had one.
func cutScheme(url string) (string, bool) {
	scheme, rest, found := strings.Cut(url, "://")
	return rest, found && !strings.ContainsAny(scheme, "/?#*")
}

func (c *requestClass) readFlags(fs *pflag.FlagSet, q *requestline.Request) error {
	for _, name := range []string{"sni", "grpc", "protocol", "from-namespace", "expect"} {
		if fs.Changed(name) {
			return failure.Usage("a class of requests takes -X, -H, --gateway and --listener",
				"--%s is for one request", name)
		}
	}
	if fs.NArg() > 2 {
		return failure.Usage(classHint, "%q is more than a method, a host and a path", strings.Join(fs.Args(), " "))
	}
	if err := c.readMethod(fs, q.Flags.MethodFlag); err != nil {
		return err
	}
	if strings.ContainsAny(c.text, "?#") {
		return failure.Usage("drop the query, or write one request with its scheme",
			"%q has a query: a class of requests is all of a host and a path", c.text)
	}
	host, _, _ := strings.Cut(c.text, "/")
	if strings.Contains(host, ":") {
		return failure.Usage("drop the port, and name the listener with --listener NAME if it matters",
			"%q has a port: a class of requests is that of all ports", c.text)
	}
	if host != "" && host != "*" {
		c.selection.Hosts = []string{strings.ToLower(host)}
	}
	if path := strings.TrimPrefix(c.text, host); path != "" && path != "/**" {
		c.selection.Paths = []string{path}
	}
	for _, h := range q.Flags.Options.Headers {
		if at := strings.IndexAny(h, ":="); at > 0 && h[at] == ':' {
			h = strings.TrimSpace(h[:at]) + "=" + strings.TrimSpace(h[at+1:])
		}
		c.selection.Headers = append(c.selection.Headers, h)
	}
	if _, wrong := c.selection.ToScope(); wrong != nil {
		return failure.Usage(wrong.Hint, "%s", wrong.What)
	}
	return nil
}

// readMethod reads the method, if there is one: in front, or as a flag.
func (c *requestClass) readMethod(fs *pflag.FlagSet, verb string) error {
	method := verb
	if fs.NArg() == 2 {
		if method = fs.Arg(0); verb != "" && !strings.EqualFold(verb, method) {
			return failure.Usage("drop one of the two", "-X %s and the method %s cannot be given together", verb,
				method)
		}
	}
	if strings.ContainsAny(method, "./*:,") {
		return failure.Usage(classHint, "%q is not a method", method)
	}
	if method != "" {
		c.selection.Methods = []string{method}
	}
	return nil
}

// describeRequests says which requests the class has.
func (c *requestClass) describeRequests() string {
	out := "requests" + c.selection.Describe()
	if c.gateway != "" {
		out += " through Gateway " + c.gateway
	}
	if c.listener != "" {
		out += " at listener " + c.listener
	}
	if out == "requests" {
		return "all requests"
	}
	return out
}

// findPaths finds the paths of the requests in an input.
func (c *requestClass) findPaths(s *source.Session) (*graph.TakenPaths, error) {
	m := requestline.NewMatcher(s)
	scope, _ := c.selection.ToScope()
	scope.Destination.Listener = c.listener
	if c.gateway != "" {
		var err error
		if scope.Destination.Gateway, err = m.FindGateway(c.gateway); err != nil {
			return nil, err
		}
	}
	if err := c.checkHost(m); err != nil {
		return nil, err
	}
	return graph.FindTakenPaths(s.Resolution, m.Requests, scope, c.describeRequests())
}

// checkHost refuses a host that may as well be a path without its slash.
func (c *requestClass) checkHost(m requestline.Matcher) error {
	if len(c.selection.Hosts) == 0 || strings.ContainsAny(c.selection.Hosts[0], ".*") {
		return nil
	}
	all := request.Competition{Matcher: m.Requests}
	if slices.ContainsFunc(all.Entries(request.Destination{Gateway: topology.None}),
		func(e request.Entry) bool { return slices.Contains(all.Hostnames(e), c.selection.Hosts[0]) }) {
		return nil
	}
	return failure.Usage("write '/"+c.text+
		"' if it is a path; a host without a dot is one that a listener or a route names",
		"%q begins with a host that nothing in the input names: %s", c.text, c.selection.Hosts[0])
}
