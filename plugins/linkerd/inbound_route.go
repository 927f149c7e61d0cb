package linkerd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// sentRequest is a request as the proxy of a workload gets it.
type sentRequest struct {
	method, host, path string
	headers, query     []request.Field
	// why the path, or the headers, are not known; "": they are
	pathDoubt, headerDoubt string
}

// String writes a request for people.
func (r *sentRequest) String() string { return r.method + " " + r.path }

// readSent is a request as the filters of its rule make it; nil: it is none of HTTP, or none is known.
func readSent(a *request.Answer) *sentRequest {
	if a == nil || a.Request.Protocol != request.HTTP && a.Request.Protocol != request.GRPC {
		return nil
	}
	r := &a.Request
	out := &sentRequest{method: r.Method, host: r.Host, path: r.Path, headers: r.Headers, query: r.Query}
	if r.Protocol == request.GRPC {
		out.method, out.path = "POST", "/"+r.Service+"/"+r.Call
	}
	switch {
	case a.Sends != nil:
		out.host = a.Sends.Host
		if a.Sends.Path != "" {
			out.path = a.Sends.Path
		}
	case a.Gateway != topology.None:
		out.pathDoubt = "what the Gateway sends is not known"
	}
	if out.pathDoubt == "" && mayBeNormalized(out.path) {
		out.pathDoubt = "how the path is normalized before is not known"
	}
	if slices.Contains(a.Filters, "RequestHeaderModifier") {
		out.headerDoubt = "a filter of the route changes headers"
	}
	return out
}

// mayBeNormalized reports whether proxies may write a path otherwise than it is given.
func mayBeNormalized(path string) bool {
	lower := strings.ToLower(path)
	return strings.Contains(path, "//") || strings.Contains(path, "/.") || strings.Contains(path, `\`) ||
		slices.ContainsFunc([]string{"%2e", "%2f", "%5c"}, func(code string) bool { return strings.Contains(lower, code) })
}

// routeRank is how closely a route fits a request: the hostname first, then of HTTP the length of the
// path, the method, the headers and the query, of gRPC the lengths of service and method, then the
// headers (linkerd2-proxy, linkerd/http/route/src/http/match.rs and grpc/match.rs).
type routeRank []int

// findTakers finds the route on a Server that takes a request: the one that fits most closely, of equal
// ones the first. nil stands for none. There are several where doubt says what is not known.
func (w *meshIndex) findTakers(v *server, r *sentRequest) (takers []*model.Object, doubt string) {
	routes := v.activeRoutes()
	sure, perhaps, why := make([]routeRank, len(routes)), make([]routeRank, len(routes)), make([]string, len(routes))
	best := -1
	for i, route := range routes {
		m := routeMatcher{meshIndex: w, sent: r}
		sure[i], perhaps[i] = m.rankRoute(route)
		why[i] = m.doubt
		if sure[i] != nil && (best < 0 || slices.Compare(sure[i], sure[best]) > 0) {
			best = i
		}
	}
	if best < 0 {
		takers = append(takers, nil)
	} else {
		takers = append(takers, routes[best])
	}
	doubt = "the routes are equally close, and their ages are not known"
	for i := range routes {
		if i == best {
			continue
		}
		mayWin := func(rank routeRank) bool {
			if rank == nil || best < 0 {
				return rank != nil
			}
			c := slices.Compare(rank, sure[best])
			return c > 0 || c == 0 && (i < best || routes[i].Created.IsZero() || routes[best].Created.IsZero())
		}
		switch {
		case mayWin(perhaps[i]):
			doubt = why[i]
			fallthrough
		case mayWin(sure[i]):
			takers = append(takers, routes[i])
		}
	}
	return takers, doubt
}

// routeMatcher compares routes with one request.
type routeMatcher struct {
	*meshIndex
	sent  *sentRequest
	doubt string // the last reason why it is not known whether a match holds
}

// rankRoute ranks a route by the closest of its matches that hold, and by the closest of those of which
// that is not known; nil: there is none.
func (m *routeMatcher) rankRoute(route *model.Object) (sure, perhaps routeRank) {
	host := m.rankHost(route)
	if host == nil {
		return nil, nil
	}
	add := func(rank routeRank, holds selector.Truth) {
		rank = slices.Concat(host, rank)
		switch {
		case holds == selector.Yes && slices.Compare(rank, sure) > 0:
			sure = rank
		case holds == selector.Maybe && slices.Compare(rank, perhaps) > 0:
			perhaps = rank
		}
	}
	grpc := route.Ref.GroupKind() == grpcRouteKind
	whole := routeRank{1, 0, 0, 0}
	if grpc {
		whole = routeRank{0, 0, 0}
	}
	rules := route.Body.At("spec", "rules")
	if rules.IsNull() && route.Ref.Group == gatewayGroup { // as the API fills it in
		add(whole, selector.Yes)
	}
	for _, rule := range rules.Items {
		if rule.Field("matches").Len() == 0 {
			add(whole, selector.Yes)
		}
		for _, match := range rule.Field("matches").Items {
			if grpc {
				add(m.matchCall(match))
			} else {
				add(m.matchRequest(match))
			}
		}
	}
	return sure, perhaps
}

// rankHost ranks the closest hostname of a route that is the request's; nil: none is.
func (m *routeMatcher) rankHost(route *model.Object) routeRank {
	names := route.Body.At("spec", "hostnames")
	if names.Len() == 0 {
		return routeRank{0, 0}
	}
	host := strings.ToLower(strings.TrimSuffix(m.sent.host, "."))
	var out routeRank
	for _, name := range names.Items {
		text := strings.ToLower(name.Text())
		suffix, wild := strings.CutPrefix(text, "*")
		rank := routeRank{2, len(text)}
		if wild {
			rank = routeRank{1, len(suffix)}
		}
		if (text == host || wild && strings.HasSuffix(host, suffix) && len(host) > len(suffix)) &&
			slices.Compare(rank, out) > 0 {
			out = rank
		}
	}
	return out
}

// matchRequest compares an entry of the matches of an HTTPRoute.
func (m *routeMatcher) matchRequest(match model.Body) (routeRank, selector.Truth) {
	length, holds := m.matchPath(match.Field("path"))
	rank := routeRank{length, 0, match.Field("headers").Len(), match.Field("queryParams").Len()}
	if method := match.Text("method"); method != "" {
		rank[1] = 1
		if method != m.sent.method {
			return rank, selector.No
		}
	}
	holds = min(holds, m.matchHeaders(match))
	for _, q := range match.Field("queryParams").Items {
		holds = min(holds, m.matchValues(q, m.sent.query, func(a, b string) bool { return a == b }))
	}
	return rank, holds
}

// matchPath compares the path of a match, and returns how much of it that is.
func (m *routeMatcher) matchPath(path model.Body) (length int, holds selector.Truth) {
	value, have := path.Text("value"), m.sent.path
	known := func(fits bool) selector.Truth {
		if m.sent.pathDoubt != "" {
			return m.noteDoubt(m.sent.pathDoubt)
		}
		return truthOf(fits)
	}
	switch path.Text("type") {
	case "Exact":
		return len(value), known(have == value)
	case "RegularExpression":
		if fits := m.matchExpression(value, have); fits != selector.Maybe {
			return len(have), known(fits == selector.Yes)
		}
		return len(have), selector.Maybe
	}
	stem := strings.TrimRight(value, "/")
	if stem == "" {
		return 1, selector.Yes
	}
	rest, fits := strings.CutPrefix(strings.TrimRight(have, "/"), stem)
	return len(stem), known(fits && (rest == "" || rest[0] == '/'))
}

// matchCall compares an entry of the matches of a GRPCRoute: gRPC is POST /service/method.
func (m *routeMatcher) matchCall(match model.Body) (routeRank, selector.Truth) {
	method := match.Field("method")
	rank := routeRank{len(method.Text("service")), len(method.Text("method")), match.Field("headers").Len()}
	parts := strings.Split(m.sent.path, "/")
	if m.sent.method != "POST" || len(parts) < 3 || parts[0] != "" {
		return rank, selector.No
	}
	holds := m.matchHeaders(match)
	for i, want := range []string{method.Text("service"), method.Text("method")} {
		switch {
		case want == "":
		case method.Text("type") == "RegularExpression":
			holds = min(holds, m.noteDoubt("proxies have no expressions for calls of gRPC"))
		default:
			holds = min(holds, truthOf(want == parts[i+1]))
		}
	}
	return rank, holds
}

// matchHeaders compares the headers of a match: any value of a name suffices.
func (m *routeMatcher) matchHeaders(match model.Body) selector.Truth {
	holds := selector.Truth(selector.Yes)
	for _, h := range match.Field("headers").Items {
		if m.sent.headerDoubt != "" {
			holds = min(holds, m.noteDoubt(m.sent.headerDoubt))
			continue
		}
		holds = min(holds, m.matchValues(h, m.sent.headers, strings.EqualFold))
	}
	return holds
}

// matchValues compares what a match asks of the fields of a name.
func (m *routeMatcher) matchValues(want model.Body, have []request.Field, same func(a, b string) bool) selector.Truth {
	value, holds := want.Text("value"), selector.No
	for _, f := range have {
		switch {
		case !same(f.Name, want.Text("name")):
		case model.IsRedacted(value):
			holds = max(holds, m.noteDoubt("a value that a match asks for is left out (redacted)"))
		case want.Text("type") == "RegularExpression":
			holds = max(holds, m.matchExpression(value, f.Value))
		default:
			holds = max(holds, truthOf(value == f.Value))
		}
	}
	return holds
}

// largestPattern is how large an expression of a route may be that is evaluated.
const largestPattern = 100_000

// matchExpression reports whether an expression matches a text as a whole, at the first place where it
// matches at all.
func (m *routeMatcher) matchExpression(pattern, text string) selector.Truth {
	re, known := m.patterns[pattern]
	if !known {
		if model.PatternSize(pattern) <= largestPattern {
			re, _ = regexp.Compile(pattern)
		}
		if m.patterns == nil {
			m.patterns = map[string]*regexp.Regexp{}
		}
		m.patterns[pattern] = re
	}
	if re == nil {
		return m.noteDoubt("a regular expression cannot be evaluated")
	}
	at := re.FindStringIndex(text)
	return truthOf(at != nil && at[0] == 0 && at[1] == len(text))
}

func (m *routeMatcher) noteDoubt(why string) selector.Truth {
	m.doubt = why
	return selector.Maybe
}

func truthOf(b bool) selector.Truth {
	if b {
		return selector.Yes
	}
	return selector.No
}
