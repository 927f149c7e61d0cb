package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// world is an input with the settings under which it is asked.
type world struct {
	graph   *topology.Graph
	matcher *Matcher
}

func newWorld(t testing.TB, text string, settings map[string]any) world {
	t.Helper()
	s := model.NewSettings(settings)
	g := build.Graph(snapshot(manifests(t, text)), s)
	return world{g, NewMatcher(g, s)}
}

func (w world) ask(t testing.TB, a ask) *Answer {
	t.Helper()
	return answerOf(t, w.matcher, w.graph, a)
}

// get asks with GET.
func (w world) get(t testing.TB, url string, headers ...string) *Answer {
	t.Helper()
	return w.ask(t, ask{method: "GET", url: url, Options: Options{Headers: headers}})
}

// brief is an answer in one line: outcome, status, listener, rule and backends.
func (w world) brief(a *Answer) string {
	s := string(a.Outcome)
	if a.Assumed != "" {
		s += "/" + string(a.Assumed)
	}
	if a.Status != 0 {
		s += fmt.Sprintf(" %d", a.Status)
	}
	if a.Service.Name == "" && a.Listener != topology.None {
		s += " at " + w.graph.Node(a.Listener).Ref.Section
	}
	if a.Rule != topology.None {
		ref := w.graph.Node(a.Rule).Ref
		s += " " + ref.Name + " " + ref.Section
	}
	for _, b := range a.Backends {
		s += fmt.Sprintf(" %s:%s*%d", b.Ref.Name, b.Ref.Section, b.Weight)
	}
	return s
}

func (w world) check(t *testing.T, a *Answer, want string, because ...string) {
	t.Helper()
	if got := w.brief(a); got != want {
		t.Errorf("\n got %s\nwant %s\n why %q", got, want, a.Why)
	}
	for _, why := range because {
		if !strings.Contains(strings.Join(a.Why, "\n"), why) {
			t.Errorf("%q is not in the reasons %q", why, a.Why)
		}
	}
}

// notes are the codes of the problems, with their severity.
func notes(a *Answer) string {
	var out []string
	for _, p := range a.Problems {
		out = append(out, fmt.Sprintf("%s %s", p.Severity, p.Code))
	}
	return strings.Join(out, ", ")
}

func (w world) noted(t *testing.T, a *Answer, code model.Code, word string) {
	t.Helper()
	if !slices.ContainsFunc(a.Problems, func(p model.Problem) bool {
		return p.Code == code &&
			strings.Contains(p.Message+" "+p.Hint, word)
	}) {
		t.Errorf("no %s about %q in %v", code, word, a.Problems)
	}
}

const plainGateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: c
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: https, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}}
`

// routeOf is a route of the Gateway with that spec, beside parentRefs.
func routeOf(kind, name, spec string) string {
	return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name +
		", namespace: infra}\nspec:\n  parentRefs: [{name: gw}]\n  " +
		strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  ") + "\n"
}

// TestPredicates: gatewayapi G44 and G5, one match at a time.
func TestPredicates(t *testing.T) {
	for _, c := range []struct {
		match    string
		yes, no  []string // paths, or METHOD URL
		headers  []string
		settings map[string]any
	}{
		{match: `{path: {type: PathPrefix, value: /abc}}`, yes: []string{"/abc", "/abc/", "/abc/d", "/abc//"},
			no: []string{"/abcd", "/Abc", "/", "/ab", "/x/abc"}},
		{match: `{path: {type: PathPrefix, value: /abc/}}`, yes: []string{"/abc", "/abc/", "/abc/d"},
			no: []string{"/abcd", "/ab"}},
		{match: `{path: {type: PathPrefix, value: /abc/def}}`, yes: []string{"/abc/def", "/abc/def/g"},
			no: []string{"/abc", "/abc/defg", "/abc//def"}},
		{match: `{path: {type: PathPrefix, value: /}}`, yes: []string{"/", "/a", "//"}},
		{match: `{path: {value: /a}}`, yes: []string{"/a", "/a/b"}, no: []string{"/ab"}},
		{match: `{path: {type: Exact}}`, yes: []string{"/"}, no: []string{"/a"}},
		{match: `{}`, yes: []string{"/", "/a"}},
		{match: `{path: {type: Exact, value: /a}}`, yes: []string{"/a", "/a?x=1"}, no: []string{"/a/", "/A",
			"/a/b", "/%61"}},
		{match: `{path: {type: Exact, value: /a/}}`, yes: []string{"/a/"}, no: []string{"/a"}},
		{match: `{path: {type: Exact, value: /%61}}`, yes: []string{"/%61"}, no: []string{"/a"}},
		{match: `{path: {type: PathPrefix, value: /a%2Fb}}`, yes: []string{"/a%2Fb", "/a%2Fb/c"},
			no: []string{"/a/b", "/a%2fb"}},
		{match: `{path: {type: RegularExpression, value: /a|/b}}`, yes: []string{"/a", "/b"},
			no: []string{"/ab", "/x/b"}},
		{match: `{path: {type: RegularExpression, value: /a|/b}}`,
			settings: map[string]any{gatewayapi.RegexAnchored: false}, yes: []string{"/a", "/x/b",
				"/ab"}, no: []string{"/c"}},
		{match: `{path: {type: RegularExpression, value: '/v\d'}}`, yes: []string{"/v1"}, no: []string{"/v12", "/vx"}},
		{match: `{method: POST}`, yes: []string{"POST /"}, no: []string{"GET /", "post /"}},
		{match: `{queryParams: [{name: a, value: "1"}]}`, yes: []string{"/?a=1", "/?a=1&a=2", "/?b=2&a=1"},
			no: []string{"/", "/?a=2", "/?A=1", "/?a=2&a=1", "/?a=11"}},
		{match: `{queryParams: [{name: a, value: "1"}, {name: a, value: "2"}]}`, yes: []string{"/?a=1"},
			no: []string{"/?a=2"}},
		{match: `{queryParams: [{name: a, value: "1"}, {name: A, value: "2"}]}`, yes: []string{"/?a=1&A=2"},
			no: []string{"/?a=1"}},
		{match: `{queryParams: [{name: a, value: "x y"}]}`, yes: []string{"/?a=x%20y", "/?a=x+y"},
			no: []string{"/?a=x"}},
		{match: `{queryParams: [{name: a, value: '1.*', type: RegularExpression}]}`, yes: []string{"/?a=1", "/?a=12"},
			no: []string{"/?a=21", "/"}},
		{match: `{headers: [{name: Team, value: Blue}]}`, headers: []string{"TEAM: Blue"}, yes: []string{"/"}},
		{match: `{headers: [{name: Team, value: Blue}]}`, headers: []string{"team: blue"}, no: []string{"/"}},
		{match: `{headers: [{name: Team, value: Blue}]}`, no: []string{"/"}},
		{match: `{headers: [{name: team, value: a}, {name: TEAM, value: b}]}`, headers: []string{"Team: a"},
			yes: []string{"/"}},
		{match: `{headers: [{name: team, value: a}, {name: TEAM, value: b}]}`, headers: []string{"Team: b"},
			no: []string{"/"}},
		{match: `{headers: [{name: team, value: 'a+', type: RegularExpression}]}`, headers: []string{"Team: aaa"},
			yes: []string{"/"}},
		{match: `{headers: [{name: team, value: ''}]}`, headers: []string{"Team:"}, yes: []string{"/"}},
		{match: `{path: {value: /a}, method: GET, headers: [{name: x, value: "1"}], queryParams: [{name: q, value: "1"}]}`, headers: []string{"x: 1"},
			yes: []string{"/a?q=1"}, no: []string{"/a", "/b?q=1", "POST /a?q=1"}},
	} {
		t.Run(c.match, func(t *testing.T) {
			w := newWorld(t, plainGateway+routeOf("HTTPRoute", "r", "rules: [{matches: ["+c.match+"]}]"), c.settings)
			for expected, all := range map[bool][]string{true: c.yes, false: c.no} {
				for _, target := range all {
					method, path, found := strings.Cut(target, " ")
					if !found {
						method, path = "GET", target
					}
					a := w.ask(t, ask{method: method, url: "http://h" + path, Options: Options{Headers: c.headers}})
					if got := a.Rule != topology.None; got != expected {
						t.Errorf("%s: matches is %v, want %v; %q", target, got, expected, a.Why)
					}
				}
			}
		})
	}
}

// TestCalls: gRPC services and methods (gatewayapi G42, G44), and the two kinds of routes that may
// decide (G57).
func TestCalls(t *testing.T) {
	w := newWorld(t, plainGateway+routeOf("GRPCRoute", "calls", `
hostnames: [grpc.example.com]
rules:
- {name: all-of-service, matches: [{method: {service: shop.Cart}}]}
- {name: any-add, matches: [{method: {method: Add}}]}
- {name: one, matches: [{method: {service: shop.Cart, method: Remove, type: Exact}}]}
- {name: expression, matches: [{method: {service: 'shop\.W.*', type: RegularExpression}}]}
- {name: blue, matches: [{headers: [{name: team, value: blue}]}]}
`)+routeOf("HTTPRoute", "web", `
hostnames: [web.example.com, both.example.com]
rules:
- {name: cart, matches: [{path: {value: /shop.Cart}, method: POST}]}
`)+routeOf("GRPCRoute", "every", "hostnames: [both.example.com]\nrules: [{}]"), nil)
	for _, c := range []struct{ url, call, header, want string }{
		{"http://grpc.example.com", "shop.Cart/Add", "", "BackendError at http calls all-of-service"},
		{"http://grpc.example.com", "shop.List/Add", "", "BackendError at http calls any-add"},
		{"http://grpc.example.com", "shop.List/add", "", "NoMatch at http"},
		{"http://grpc.example.com", "shop.Cart/Remove", "", "BackendError at http calls one"},
		{"http://grpc.example.com", "shop.Wish/Get", "", "Conditional/BackendError at http calls expression"},
		{"http://grpc.example.com", "other/Get", "TEAM: blue", "BackendError at http calls blue"},
		{"http://grpc.example.com", "other/Get", "", "NoMatch at http"},
		{"https://grpc.example.com", "shop.Cart/Add", "", "BackendError at https calls all-of-service"},
		{"http://both.example.com", "any/Thing", "", "BackendError at http every rule-1"},
		{"http://web.example.com", "shop.Cart/Add", "", "BackendError at http web cart"},
		{"http://web.example.com", "shop.List/Add", "", "NoMatch at http"},
	} {
		o := Options{GRPC: c.call}
		if c.header != "" {
			o.Headers = []string{c.header}
		}
		a := w.ask(t, ask{url: c.url, Options: o})
		if got := w.brief(a); got != c.want {
			t.Errorf("%s %s: got %s, want %s; %q", c.url, c.call, got, c.want, a.Why)
		}
	}
	a := w.ask(t, ask{url: "http://both.example.com", Options: Options{GRPC: "any/Thing"}})
	w.noted(t, a, model.NotEvaluated, "HTTPRoutes and GRPCRoutes are for host both.example.com")
	// A request that is no gRPC call is not for GRPCRoutes.
	w.check(t, w.get(t, "http://grpc.example.com/shop.Cart/Add"), "NoMatch 404 at http")
}

// TestHostnames: gatewayapi G16, and which of the listeners' and routes' hostnames lead where (G37,
// G40, G41).
func TestHostnames(t *testing.T) {
	w := newWorld(t, `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: c
  listeners:
  - {name: exact, port: 80, protocol: HTTP, hostname: a.example.com}
  - {name: deep, port: 80, protocol: HTTP, hostname: '*.b.example.com'}
  - {name: wild, port: 80, protocol: HTTP, hostname: '*.example.com'}
  - {name: any, port: 8080, protocol: HTTP}
`+routeOf("HTTPRoute", "wide", "hostnames: ['*.com', '*.example.com']")+
		routeOf("HTTPRoute", "narrow",
			"hostnames: [x.b.example.com, c.example.com]\nrules: [{matches: [{path: {value: /only}}]}]")+
		routeOf("HTTPRoute", "every", "rules: [{matches: [{path: {value: /a/very/long/path}}]}]"), nil)
	for _, c := range []struct{ url, want string }{
		{"http://a.example.com/", "BackendError 500 at exact wide rule-1"},
		{"http://A.Example.COM/", "BackendError 500 at exact wide rule-1"},
		{"http://example.com/", "NoMatch 404"},
		{"http://x.b.example.com/", "BackendError 500 at deep wide rule-1"},
		{"http://x.b.example.com/only", "BackendError 500 at deep narrow rule-1"},
		{"http://b.example.com/", "BackendError 500 at wild wide rule-1"},
		// the hostname comes before the path
		{"http://b.example.com/a/very/long/path", "BackendError 500 at wild wide rule-1"},
		{"http://c.example.com/only/x", "BackendError 500 at wild narrow rule-1"},
		// an exact host without a matching rule does not block
		{"http://c.example.com/", "BackendError 500 at wild wide rule-1"},
		{"http://y.x.b.example.com/", "BackendError 500 at deep wide rule-1"},
		{"http://z.org:8080/a/very/long/path/1", "BackendError 500 at any every rule-1"},
		{"http://z.org:8080/", "NoMatch 404 at any"},
		{"http://10.1.1.1:8080/a/very/long/path", "BackendError 500 at any every rule-1"},
		{"http://10.1.1.1/", "NoMatch 404"},
		{"http://[::1]:8080/a/very/long/path", "BackendError 500 at any every rule-1"},
		{"http://z.org:81/", "NoMatch"}, // nothing listens
		{"https://a.example.com:80/", "NoMatch"},
	} {
		t.Run(c.url, func(t *testing.T) {
			w.check(t, w.ask(t, ask{method: "GET", url: c.url, named: true}), c.want)
		})
	}
}

// TestMisdirected: the table of gatewayapi G39.
func TestMisdirected(t *testing.T) {
	const listeners = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: c
  listeners:
  - {name: exact, port: 443, protocol: HTTPS, hostname: second-example.org}
  - {name: wild, port: 443, protocol: HTTPS, hostname: '*.wildcard.org'}
  - {name: deep, port: 443, protocol: HTTPS, hostname: very.specific.wildcard.org}
  - {name: pass, port: 443, protocol: TLS, hostname: pass.org, tls: {mode: Passthrough}}
`
	const everything = "  - {name: every, port: 443, protocol: HTTPS}\n"
	routes := routeOf("HTTPRoute", "r", "rules: [{}]") + routeOf("TLSRoute", "t", "hostnames: [pass.org]\nrules: [{}]")
	for _, c := range []struct {
		name      string
		every     bool
		sni, host string
		want      string
	}{
		{"same", false, "second-example.org", "second-example.org", "BackendError 500 at exact r rule-1"},
		{"both in one wildcard", false, "a.wildcard.org", "b.wildcard.org", "BackendError 500 at wild r rule-1"},
		{"host belongs to another", false, "second-example.org", "a.wildcard.org", "Misdirected 421 at exact"},
		{"host belongs to none", false, "second-example.org", "unknown.org", "NoMatch 404 at exact"},
		{"host belongs to the listener for the rest", true, "second-example.org", "unknown.org",
			"Misdirected 421 at exact"},
		{"host has a more specific listener", false, "a.wildcard.org", "very.specific.wildcard.org",
			"Misdirected 421 at wild"},
		{"host has a less specific listener", false, "very.specific.wildcard.org", "a.wildcard.org",
			"Misdirected 421 at deep"},
		{"server name is for the rest, host has its own", true, "unknown.org", "second-example.org",
			"Misdirected 421 at every"},
		{"both are for the rest", true, "unknown.org", "other.org", "BackendError 500 at every r rule-1"},
		{"host is an address, server name is not", false, "second-example.org", "10.0.0.1", "NoMatch 404 at exact"},
		{"no listener for the server name", false, "unknown.org", "second-example.org", "NoMatch"},
		{"passed through, nobody looks", false, "pass.org", "second-example.org", "BackendError at pass t rule-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := listeners
			if c.every {
				text += everything
			}
			w := newWorld(t, text+routes, nil)
			a := w.ask(t, ask{method: "GET", url: "https://" + c.host + "/", Options: Options{SNI: c.sni}, named: true})
			w.check(t, a, c.want)
			plain := w.ask(t, ask{method: "GET", url: "https://" + c.sni + "/", named: true})
			if plain.Outcome == Misdirected {
				t.Errorf("without another host it is misdirected: %q", plain.Why)
			}
		})
	}
}

// TestConnections: TLSRoutes by the server name, of TCPRoutes and UDPRoutes the oldest (gatewayapi
// G43).
func TestConnections(t *testing.T) {
	const gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: c
  listeners:
  - {name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough}}
  - {name: https, port: 443, protocol: HTTPS, hostname: web.example.com}
  - {name: tcp, port: 5432, protocol: TCP, hostname: nobody.asks.for.it}
  - {name: udp, port: 53, protocol: UDP}
`
	w := newWorld(t, gateway+routeOf("TLSRoute", "wild", "hostnames: ['*.example.com']\nrules: [{}]")+
		routeOf("TLSRoute", "exact", "hostnames: [db.example.com]\nrules: [{}]")+
		routeOf("TCPRoute", "a", "rules: [{}]")+strings.Replace(routeOf("TCPRoute", "b", "rules: [{}]"), "{name: b",
		"{creationTimestamp: '2024-01-01T00:00:00Z', name: b", 1)+
		routeOf("UDPRoute", "u", "rules: [{}]"), nil)
	for _, c := range []struct{ url, protocol, want string }{
		{"db.example.com", "TLS", "BackendError at tls exact rule-1"},
		{"x.example.com", "TLS", "BackendError at tls wild rule-1"},
		{"other.org", "TLS", "NoMatch at tls"},
		{"web.example.com", "TLS", "NoMatch at https"}, // which speaks HTTP
		{"db.example.com:5432", "TCP", "BackendError at tcp a rule-1"},
		{"10.0.0.1:5432", "TCP", "BackendError at tcp a rule-1"},
		{"db.example.com:53", "UDP", "BackendError at udp u rule-1"},
		{"db.example.com:53", "TCP", "NoMatch"},
		// the TLSRoute decides, whatever is inside
		{"https://x.example.com/cart", "", "BackendError at tls wild rule-1"},
		{"https://other.org/cart", "", "NoMatch at tls"}, // closed, not answered with 404
	} {
		a := w.ask(t, ask{method: "GET", url: c.url, Options: Options{Protocol: c.protocol}})
		if got := w.brief(a); got != c.want {
			t.Errorf("%s %s: got %s, want %s; %q", c.protocol, c.url, got, c.want, a.Why)
		}
	}
	a := w.ask(t, ask{url: "db:5432", Options: Options{Protocol: "TCP"}})
	if len(a.Shadowed) != 1 || a.Shadowed[0].Name != "b" {
		t.Errorf("shadowed are %v, want b", a.Shadowed)
	}
	w.noted(t, a, model.OrderUncertain, "tcproute/infra/b")
}

// TestListeners: a name narrows them, refused ones take no part, several Gateways are the user's to
// choose from.
func TestListeners(t *testing.T) {
	w := newWorld(t, plainGateway+routeOf("HTTPRoute", "r", "rules: [{}]"), nil)
	r, _ := New("GET", "http://h/", Options{})
	a, err := w.matcher.Find(r, Destination{Gateway: topology.None, Listener: "https"})
	if err != nil || a.Outcome != NoMatch || a.Gateway != topology.None {
		t.Errorf("at a listener of another port: %v, %v", a, err)
	}
	if a, err = w.matcher.Find(r, Destination{Gateway: topology.None, Listener: "http"}); err != nil ||
		a.Rule == topology.None {
		t.Errorf("at the listener: %v, %v", a, err)
	}

	w = newWorld(t,
		plainGateway+"  - {name: twin, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n"+
			routeOf("HTTPRoute", "r", "rules: [{}]"), nil)
	w.check(t, w.ask(t, ask{method: "GET", url: "http://h/", named: true}), "NoMatch", "are refused", "twin")

	w = newWorld(t, plainGateway+"---"+strings.Replace(plainGateway, "{name: gw", "{name: another", 1), nil)
	_, err = w.matcher.Find(r, Destination{Gateway: topology.None})
	var several *AmbiguousError
	if !errors.As(err, &several) || len(several.Gateways) != 2 || several.Gateways[0].Name != "another" {
		t.Errorf("two Gateways: %v", err)
	}
}

// TestIsolation: a listener without a matching rule answers, unless the switch says otherwise
// (gatewayapi G38).
func TestIsolation(t *testing.T) {
	const input = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: c
  listeners:
  - {name: exact, port: 80, protocol: HTTP, hostname: a.example.com}
  - {name: any, port: 80, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: infra}
spec:
  parentRefs: [{name: gw, sectionName: any}]
`
	w := newWorld(t, input, nil)
	a := w.get(t, "http://a.example.com/")
	w.check(t, a, "NoMatch 404 at exact", "listener any is not used")
	w.noted(t, a, model.SettingMatters, gatewayapi.ListenerIsolation+"=false httproute/infra/r")

	w = newWorld(t, input, map[string]any{gatewayapi.ListenerIsolation: false})
	a = w.get(t, "http://a.example.com/")
	w.check(t, a, "BackendError 500 at any r rule-1", "listener any is used because")
	w.noted(t, a, model.SettingMatters, gatewayapi.ListenerIsolation+"=true no rule matches")
}

// TestSettingMatters: every switch that would lead elsewhere is named.
func TestSettingMatters(t *testing.T) {
	dated := func(route, day string) string {
		return strings.Replace(route, "metadata: {", "metadata: {creationTimestamp: '2024-01-"+day+"T00:00:00Z', ", 1)
	}
	for _, c := range []struct{ name, gateway, routes, url, want, note string }{
		{"hostnames", strings.Replace(plainGateway, "{name: http,", "{name: http, hostname: a.example.com,", 1),
			routeOf("HTTPRoute", "a", "hostnames: ['*.example.com']") + routeOf("HTTPRoute", "b",
				"hostnames: [a.example.com]"), "http://a.example.com/",
			"b rule-1", gatewayapi.HostnamePrecedence + "=intersection httproute/infra/a"},
		{"prefixes", plainGateway, dated(routeOf("HTTPRoute", "a", "rules: [{matches: [{path: {value: /x}}]}]"), "01") +
			dated(routeOf("HTTPRoute", "b", "rules: [{matches: [{path: {value: /x/}}]}]"),
				"02"), "http://h/x", "b rule-1", gatewayapi.PrefixLength + "=stripped httproute/infra/a"},
		{"methods", plainGateway, routeOf("HTTPRoute", "a", "rules: [{matches: [{method: GET}]}]") +
			routeOf("HTTPRoute", "b",
				"rules: [{matches: [{headers: [{name: x, value: '1'}, {name: y, value: '1'}]}]}]"), "http://h/",
			"a rule-1", gatewayapi.MethodRank + "=header httproute/infra/b"},
		{"age", plainGateway, dated(routeOf("HTTPRoute", "a", "rules: [{}]"), "02") +
			dated(routeOf("HTTPRoute", "b", "rules: [{}]"), "01"), "http://h/",
			"b rule-1", gatewayapi.RouteAgeSource + "=none httproute/infra/a"},
		{"anchors", plainGateway, routeOf("HTTPRoute", "a",
			"rules: [{matches: [{path: {type: RegularExpression, value: /x}}]}]"), "http://h/xy", "",
			gatewayapi.RegexAnchored + "=false httproute/infra/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.gateway+c.routes, nil)
			a := w.get(t, c.url, "x: 1", "y: 1")
			if got := w.brief(a); !strings.HasSuffix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			w.noted(t, a, model.SettingMatters, c.note)
			quiet := w.get(t, "http://elsewhere.org/nothing-here")
			if strings.Contains(notes(quiet), "SettingMatters") && quiet.Rule == topology.None {
				t.Errorf("a request that nothing is about has notes: %v", quiet.Problems)
			}
		})
	}
}

// TestOrderUncertain: said if and only if names decided because a creation time is missing
// (gatewayapi G47).
func TestOrderUncertain(t *testing.T) {
	route := func(name, created string) string {
		text := routeOf("HTTPRoute", name, "rules: [{}]")
		if created != "" {
			text = strings.Replace(text, "metadata: {", "metadata: {creationTimestamp: '"+created+"', ", 1)
		}
		return text
	}
	const early, late = "2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"
	for _, c := range []struct {
		name, routes, want string
		settings           map[string]any
		uncertain          bool
		why                string
	}{
		{"no times", route("a", "") + route("b", ""), "a", nil, true, "by name: no creation time"},
		{"one without", route("a", late) + route("b", early) + route("c", ""), "a", nil, true, "by name"},
		{"all with", route("a", late) + route("b", early), "b", nil, false,
			"the route is older (2024-01-01T00:00:00Z, 2024-02-01T00:00:00Z)"},
		{"equally old", route("a", early) + route("b", early), "a", nil, false, "by name: equally old"},
		{"age does not count", route("a", "") + route("b", ""), "a", map[string]any{gatewayapi.RouteAgeSource: "none"},
			false, "by name: age does not count"},
		{"one without has lost before", route("a", late) + route("b", early) + routeOf("HTTPRoute", "c",
			"rules: [{matches: [{headers: [{name: x, value: '1'}]}]}]"), "c", nil, false, "it has 1 header match, the other none"},
		{"alone", route("a", ""), "a", nil, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, plainGateway+c.routes, c.settings)
			a := w.get(t, "http://h/", "x: 1")
			w.check(t, a, "BackendError 500 at http "+c.want+" rule-1", c.why)
			if got := strings.Contains(notes(a), "warning OrderUncertain"); got != c.uncertain {
				t.Errorf("uncertain is %v, want %v: %v", got, c.uncertain, a.Problems)
			}
		})
	}
}

// TestConditional: what no manifest tells makes the outcome Conditional, with the plain result as
// assumption.
func TestConditional(t *testing.T) {
	const regex,
		pre = `rules: [{name: regex, matches: [{path: {type: RegularExpression, value: '/a.*'}}], backendRefs: [{name: s, port: 80}]}]`,
		`rules: [{name: prefix, matches: [{path: {value: /a}}], backendRefs: [{name: s, port: 80}]}]`
	selecting := strings.Replace(plainGateway, "namespaces: {from: All}",
		"namespaces: {from: Selector, selector: {matchLabels: {team: x}}}", 1)
	const home = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: infra, labels: {team: x}}\n" +
		"---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: infra}\nspec: {ports: [{port: 80}]}\n"
	foreign := strings.Replace(strings.Replace(routeOf("HTTPRoute", "foreign", strings.Replace(pre, "/a", "/a/b", 1)),
		"namespace: infra", "namespace: other", 1), "{name: gw}", "{name: gw, namespace: infra}", 1)
	for _, c := range []struct {
		name, input, url, want string
		settings               map[string]any
		why, note              string
	}{
		{"a regular expression wins", plainGateway + routeOf("HTTPRoute", "r", regex), "http://h/ab",
			"Conditional/Matched at http r regex s:80*1", nil, "RE2 is assumed", "evaluated as RE2"},
		{"with its place described it is no question", plainGateway + routeOf("HTTPRoute", "r", regex), "http://h/ab",
			"Matched at http r regex s:80*1",
			map[string]any{gatewayapi.RegexRank: "afterExact"}, "", ""},
		{"prefix against expression", plainGateway + routeOf("HTTPRoute", "r", regex) + routeOf("HTTPRoute", "p", pre),
			"http://h/a", "Conditional/Matched at http r regex s:80*1", nil,
			"which comes first depends on the implementation", gatewayapi.RegexRank},
		{"prefix against expression, by a setting", plainGateway + routeOf("HTTPRoute", "r", regex) +
			routeOf("HTTPRoute", "p", pre), "http://h/a", "Matched at http p prefix s:80*1",
			map[string]any{gatewayapi.RegexRank: "afterPrefix"}, "", ""},
		{"exact against expression", plainGateway + routeOf("HTTPRoute", "r", regex) + routeOf("HTTPRoute", "p",
			strings.Replace(pre, "value: /a", "type: Exact, value: /a", 1)), "http://h/a",
			"Matched at http p prefix s:80*1", nil, "exact path /a comes before path expression /a.*", ""},
		{"a better hostname before the expression", plainGateway + routeOf("HTTPRoute", "r", regex) +
			routeOf("HTTPRoute", "p", "hostnames: [h]\n"+pre), "http://h/a",
			"Matched at http p prefix s:80*1", nil, "hostname h", ""},
		{"an expression that RE2 does not know", plainGateway + routeOf("HTTPRoute", "r",
			strings.Replace(regex, "/a.*", "/a(?!b)", 1)) + routeOf("HTTPRoute", "p", pre), "http://h/a",
			"Conditional/Matched at http p prefix s:80*1", nil, "its regular expression cannot be evaluated",
			"httproute/infra/r/regex"},
		{"nothing else", plainGateway + routeOf("HTTPRoute", "r", strings.Replace(regex, "/a.*", "/a(?!b)", 1)),
			"http://h/a", "Conditional/NoMatch 404 at http", nil, "cannot be evaluated", ""},
		{"it would come later", plainGateway + routeOf("HTTPRoute", "r", strings.Replace(regex, "/a.*", "/a(?!b)", 1)) +
			routeOf("HTTPRoute", "p", strings.Replace(pre, "value: /a", "type: Exact, value: /a", 1)), "http://h/a",
			"Matched at http p prefix s:80*1", nil, "", ""},
		{"a filter of an implementation", plainGateway + routeOf("HTTPRoute", "r", strings.Replace(pre, "backendRefs",
			"filters: [{type: ExtensionRef, extensionRef: {group: x.io, kind: Waf, name: w}}], backendRefs", 1)),
			"http://h/a", "Conditional/Matched at http r prefix s:80*1", nil, "filter Waf w", "filter Waf w"},
		{"filters of the listener", strings.Replace(plainGateway, "{name: http,",
			"{name: http, filters: {requests: [{type: URLRewrite}]},", 1) +
			routeOf("HTTPRoute", "r", pre), "http://h/a",
			"Conditional/Matched at http r prefix s:80*1", nil, "filters of", "request filters"},
		{"namespace labels are not known", selecting + foreign, "http://h/a/b", "Conditional/NoMatch 404 at http", nil,
			"may come first", ""},
		{"whose route would come first", selecting + foreign + home + routeOf("HTTPRoute", "p", pre), "http://h/a/b",
			"Conditional/Matched at http p prefix s:80*1", nil, "httproute/other/foreign/prefix may come first", ""},
		{"whose route is about another path", selecting + foreign + home + routeOf("HTTPRoute", "p", pre), "http://h/a",
			"Matched at http p prefix s:80*1", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.input, c.settings)
			a := w.get(t, c.url)
			w.check(t, a, c.want, c.why)
			if c.note != "" {
				w.noted(t, a, model.NotEvaluated, c.note)
			}
		})
	}
}

// TestUnusual: what the Gateway API leaves open about paths and repeated keys is compared as
// written, and said (gatewayapi G46).
func TestUnusual(t *testing.T) {
	w := newWorld(t, plainGateway+routeOf("HTTPRoute", "r", "rules: [{}]"), nil)
	for url, word := range map[string]string{"http://h/a%20b": "/a%20b", "http://h/a//b": "/a//b",
		"http://h/a/./b": "/a/./b", "http://h/..": "/..", "http://h/?a=1&a=2": "parameter a"} {
		w.noted(t, w.get(t, url), model.NotEvaluated, word)
	}
	w.noted(t, w.get(t, "http://h/", "X: 1", "x: 2"), model.NotEvaluated, "header x")
	for _, url := range []string{"http://h/", "http://h/a.b/..c", "http://h/?a=1&A=2"} {
		if a := w.get(t, url); strings.Contains(notes(a), "NotEvaluated") {
			t.Errorf("%s: %v", url, a.Problems)
		}
	}
}
