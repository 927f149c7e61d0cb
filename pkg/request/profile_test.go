package request

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TestRouteByProfile: which rule takes a request at a data plane that differs from the Gateway API's
// text, and whether that is certain.
func TestRouteByProfile(t *testing.T) {
	two := func(a, b string) string {
		return routeOf("HTTPRoute", "a", "rules: ["+a+"]") + routeOf("HTTPRoute", "b", "rules: ["+b+"]")
	}
	const exactCall = `{matches: [{method: {service: shop.Cart, method: Add}}]}`
	for _, e := range []struct {
		name   string
		routes string
		change func(*routing.Profile)
		ask    ask
		want   string
	}{
		{"the prefix / is no exact path, so that expressions come first", two(
			`{matches: [{path: {value: /}}]}`, `{matches: [{path: {type: RegularExpression, value: "/.*"}}]}`),
			func(p *routing.Profile) { p.Prefix, p.Regex.Rank = routing.OwnExact, routing.RankBeforePrefix },
			ask{url: "http://x.com/"}, "b rule-1"},
		{"of two patterns the longer one", two(
			`{matches: [{path: {type: Exact, value: "/a*"}}]}`, `{matches: [{path: {type: Exact, value: "/a/?"}}]}`),
			func(p *routing.Profile) { p.Prefix = routing.PatternExact },
			ask{url: "http://x.com/a/b"}, "b rule-1"},
		{"an exact / and a prefix / are one path", two(
			`{}`, `{matches: [{path: {type: Exact, value: /}}]}`),
			func(p *routing.Profile) {
				p.Prefix, p.PrefixLength, p.Regex.Rank = routing.Typeless, routing.Trimmed, routing.RankAsRoot
				p.Order = []routing.Criterion{routing.PathLength, routing.Age, routing.Name}
			},
			ask{url: "http://x.com/"}, "a rule-1"},
		{"what is not looked at does not count", two(
			`{matches: [{headers: [{name: x, value: "1"}]}]}`, `{matches: [{method: GET, headers: [{name: x, value: "1"}]}]}`),
			func(p *routing.Profile) {
				p.Ignored = []routing.Ignored{routing.IgnoredMethod}
				p.Order = []routing.Criterion{routing.HeadersAndMethod, routing.ExactHeaders, routing.Name}
			},
			ask{url: "http://x.com/", Options: Options{Headers: []string{"x: 1"}}}, "a rule-1"},
		{"GRPCRoutes alone are ordered as the profile says",
			routeOf("GRPCRoute", "a", "rules: [{}, "+exactCall+"]"),
			func(p *routing.Profile) { p.Order = []routing.Criterion{routing.Rule} },
			ask{url: "http://x.com", Options: Options{GRPC: "shop.Cart/Add"}}, "a rule-1"},
		{"the end of a path is its whole end",
			routeOf("GRPCRoute", "a", `rules: [{matches: [{method: {method: Ad}}]}]`),
			func(p *routing.Profile) {
				p.Kinds, p.GRPCPath.CallAsHeader = routing.KindsTogether, true
				p.Regex = routing.Regex{Rank: routing.RankBeforePrefix, Tied: routing.TiedStart}
			},
			ask{url: "http://x.com", Options: Options{GRPC: "shop.Cart/Add"}}, "none"},
		{"an expression for a method is none of the path's end",
			routeOf("GRPCRoute", "a", `rules: [{matches: [{method: {type: RegularExpression, method: "A.*"}}]}]`),
			func(p *routing.Profile) {
				p.Kinds, p.GRPCPath.CallAsHeader = routing.KindsTogether, true
				p.Regex = routing.Regex{Rank: routing.RankBeforePrefix, Tied: routing.TiedBoth}
			},
			ask{url: "http://x.com/shop/a/Add"}, "none"},
		{"whether a rule that has two matches takes the request is one question",
			two(`{matches: [{headers: [{name: x, value: "1"}]}]}`,
				`{matches: [{path: {value: /a}, headers: [{name: x, value: "1"}]}, {}]}`),
			func(p *routing.Profile) { p.Headers = routing.UnknownValues },
			ask{url: "http://x.com/a", Options: Options{Headers: []string{"x: 1", "x: 2"}}},
			"perhaps b rule-1"},
		{"which of several addresses is asked is not known", two(`{}`, `{matches: [{path: {value: /b}}]}`),
			func(p *routing.Profile) { p.Hosts = routing.ByRoute },
			ask{url: "http://x.com/"}, "perhaps a rule-1"},
		{"different matches are ordered", two(
			`{matches: [{headers: [{name: x, value: "1"}]}]}`, `{matches: [{headers: [{name: y, value: "1"}]}]}`),
			func(p *routing.Profile) { p.SameMatch = routing.SameUnknown },
			ask{url: "http://x.com/", Options: Options{Headers: []string{"x: 1", "y: 1"}}}, "a rule-1"},
		{"one match of two routes is not", two(`{}`, `{}`),
			func(p *routing.Profile) { p.SameMatch = routing.SameUnknown },
			ask{url: "http://x.com/"}, "perhaps a rule-1"},
	} {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, plainGateway+e.routes, nil).routeLike(e.change)
			e.ask.method = "GET"
			w.checkRule(t, e.ask, e.want)
		})
	}
}

// checkRule checks which rule takes a request, and whether that is certain.
func (w world) checkRule(t *testing.T, asked ask, want string) {
	t.Helper()
	a := w.ask(t, asked)
	got := "none"
	if a.Rule != topology.None {
		got = w.graph.Node(a.Rule).Ref.Name + " " + w.graph.Node(a.Rule).Ref.Section
	}
	if a.RuleUncertain {
		got = "perhaps " + got
	}
	if got != want {
		t.Errorf("got %s, want %s: %q", got, want, a.Why)
	}
}

// TestUnknownServerName: where nothing is known of server names, a host may be answered for which no
// listener takes the connection, and none is where no listener is for the host.
func TestUnknownServerName(t *testing.T) {
	const gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: c
  listeners:
  - {name: a, port: 443, protocol: HTTPS, hostname: a.com}
`
	w := newWorld(t, gateway+routeOf("HTTPRoute", "a", "rules: [{}]"), nil).routeLike(func(p *routing.Profile) {
		p.SNI = routing.SNIUnknown
	})
	w.checkRule(t, ask{method: "GET", url: "https://a.com", Options: Options{SNI: "b.com"}, named: true}, "perhaps a rule-1")
	w.checkRule(t, ask{method: "GET", url: "https://b.com", Options: Options{SNI: "a.com"}, named: true}, "none")
}

// TestWeights: a number in an annotation makes the rule uncertain only where it would change it.
func TestWeights(t *testing.T) {
	weigh := func(a, b string) world {
		route := func(name, weight string) string {
			return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
				", namespace: infra, annotations: {weight: '" + weight + "'}}\nspec: {parentRefs: [{name: gw}], rules: [{}]}\n"
		}
		return newWorld(t, plainGateway+route("a", a)+route("b", b), nil).routeLike(func(p *routing.Profile) {
			p.WeightAnnotation = "weight"
		})
	}
	w := weigh("2", "1")
	w.checkRule(t, ask{method: "GET", url: "http://x.com"}, "a rule-1")
	w = weigh("1", "2")
	w.checkRule(t, ask{method: "GET", url: "http://x.com"}, "perhaps a rule-1")
}
