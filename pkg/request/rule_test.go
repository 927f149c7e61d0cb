package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TestRedirect: where a RequestRedirect leads: scheme, port, hostname and path each as it is set,
// else the request's.
func TestRedirect(t *testing.T) {
	for _, c := range []struct{ filter, prefix, url, want string }{
		{"{}", "/", "http://h/a?x=1&y=2", "302 http://h/a?x=1&y=2"},
		{"{statusCode: 308}", "/", "http://h/a", "308 http://h/a"},
		{"{hostname: other.org}", "/", "http://h/a", "302 http://other.org/a"},
		{"{scheme: https}", "/", "http://h/a", "302 https://h/a"},
		{"{scheme: https}", "/", "http://h:80/a", "302 https://h/a"},
		{"{scheme: http}", "/", "https://h/a", "302 http://h/a"},
		{"{scheme: https, port: 443}", "/", "http://h/a", "302 https://h/a"},
		{"{scheme: https, port: 8443}", "/", "http://h/a", "302 https://h:8443/a"},
		{"{port: 8080}", "/", "http://h/a", "302 http://h:8080/a"},
		{"{port: 80}", "/", "http://h/a", "302 http://h/a"},
		{"{port: 80}", "/", "https://h/a", "302 https://h:80/a"},
		{"{port: 443}", "/", "https://h/a", "302 https://h/a"},
		{"{path: {type: ReplaceFullPath, replaceFullPath: /new}}", "/a", "http://h/a/b?x=1", "302 http://h/new?x=1"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}", "/a", "http://h/a/b", "302 http://h/new/b"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}", "/a", "http://h/a", "302 http://h/new"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new/}}", "/a", "http://h/a/b", "302 http://h/new/b"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}", "/a/", "http://h/a/b", "302 http://h/new/b"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}", "/a", "http://h/a/", "302 http://h/new/"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}", "/a", "http://h/a/b", "302 http://h/b"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}", "/a", "http://h/a", "302 http://h/"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: ''}}", "/a", "http://h/a/b", "302 http://h/b"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: ''}}", "/a", "http://h/a", "302 http://h/"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}", "/", "http://h/b", "302 http://h/new/b"},
		{"{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}", "/", "http://h/", "302 http://h/new/"},
		{"{}", "/", "http://[::1]/a%20b", "302 http://[::1]/a%20b"},
	} {
		t.Run(c.filter+" "+c.prefix+" "+c.url, func(t *testing.T) {
			w := newWorld(t, plainGateway+routeOf("HTTPRoute", "r", "rules: [{matches: [{path: {value: "+c.prefix+
				"}}], filters: [{type: RequestRedirect, requestRedirect: "+c.filter+"}]}]"), nil)
			a := w.get(t, c.url)
			if a.Outcome != Redirect || a.Location == nil {
				t.Fatalf("%s %q", w.brief(a), a.Why)
			}
			if got := fmt.Sprintf("%d %s", a.Location.Status, a.Location.URL); got != c.want ||
				a.Status != a.Location.Status {
				t.Errorf("got %s, want %s (status %d)", got, c.want, a.Status)
			}
		})
	}
}

// TestBackends: which backends are usable, and what becomes of a request without any (gatewayapi
// G34, G35, G36).
func TestBackends(t *testing.T) {
	const services = `
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: infra}
spec: {ports: [{name: http, port: 80}, {port: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: far, namespace: other}
spec: {ports: [{port: 80}]}
`
	const grant = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: g, namespace: other}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: infra}]
  to: [{group: "", kind: Service}]
`
	for _, c := range []struct{ refs, more, want, why string }{
		{"[{name: s, port: 80}]", "", "Matched at http r rule-1 s:http*1", ""},
		{"[{name: s, port: 8080, weight: 3}, {name: s, port: 80}]", "", "Matched at http r rule-1 s:8080*3 s:http*1",
			""},
		{"[{name: s, port: 80, weight: 0}, {name: s, port: 8080}]", "", "Matched at http r rule-1 s:8080*1", ""},
		{"[{name: s, port: 80, weight: 0}]", "", "BackendError 500 at http r rule-1", "all backends have weight 0"},
		{"[]", "", "BackendError 500 at http r rule-1", "the rule has no backend"},
		{"[{name: gone, port: 80}]", "", "BackendError 500 at http r rule-1", "does not exist"},
		{"[{name: gone, port: 80}, {name: s, port: 80, weight: 3}]", "", "Matched at http r rule-1 s:http*3",
			"1 of 4 requests fail"},
		{"[{name: gone, port: 80, weight: 0}, {name: s, port: 80}]", "", "Matched at http r rule-1 s:http*1", ""},
		{"[{name: s, port: 81}]", "", "BackendError 500 at http r rule-1", "no port 81"},
		{"[{name: far, namespace: other, port: 80}]", "", "BackendError 500 at http r rule-1", "no ReferenceGrant"},
		{"[{name: far, namespace: other, port: 80}]", grant, "Matched at http r rule-1 far:80*1", ""},
		{"[{name: s, kind: Deployment, port: 80}]", "", "BackendError 500 at http r rule-1", "cannot be a backend"},
		{"[{name: elsewhere, namespace: unknown, port: 80}]", strings.ReplaceAll(grant, "namespace: other",
			"namespace: unknown"), "Matched at http r rule-1 elsewhere:80*1", ""},
		{"[{name: b, group: x.io, kind: Bucket}]",
			"\n---\napiVersion: x.io/v1\nkind: Bucket\nmetadata: {name: other, namespace: infra}\n",
			"Matched at http r rule-1 b:*1", ""},
		{"[{name: b, group: x.io, kind: Bucket}]", "", "Conditional/BackendError at http r rule-1",
			"an implementation may support bucket/infra/b"},
		{"[{name: b, group: x.io, kind: Bucket}, {name: s, port: 80}]", "",
			"Conditional/Matched at http r rule-1 s:http*1", "an implementation may support bucket/infra/b"},
		{"[{name: b, group: x.io, kind: Bucket, weight: 0}, {name: s, port: 80}]", "",
			"Matched at http r rule-1 s:http*1", ""},
	} {
		t.Run(c.refs, func(t *testing.T) {
			w := newWorld(t, plainGateway+services+c.more+routeOf("HTTPRoute", "r", "rules: [{backendRefs: "+
				c.refs+"}]"), nil)
			a := w.get(t, "http://h/")
			w.check(t, a, c.want, c.why)
		})
	}
	// A redirect needs no backend.
	w := newWorld(t, plainGateway+routeOf("HTTPRoute", "r",
		"rules: [{filters: [{type: RequestRedirect, requestRedirect: {}}]}]"), nil)
	w.check(t, w.get(t, "http://h/"), "Redirect 302 at http r rule-1")
	// Filters do not influence the choice, and are listed.
	w = newWorld(t, plainGateway+services+routeOf("HTTPRoute", "r",
		"rules: [{filters: [{type: RequestHeaderModifier}, {type: URLRewrite}, {type: RequestMirror}, {type: CORS}], backendRefs: [{name: s, port: 80}]}]"), nil)
	a := w.get(t, "http://h/")
	w.check(t, a, "Matched at http r rule-1 s:http*1")
	if len(a.Filters) != 4 {
		t.Errorf("the filters are %v", a.Filters)
	}
}

const meshInput = `
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7, 'fd00::7'], ports: [{name: http, port: 80}, {name: admin, port: 8080}, {port: 9090}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: producer, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: cart, port: 80}]
  hostnames: [nobody.looks.at.it]
  rules: [{matches: [{path: {value: /v1}}], backendRefs: [{name: cart, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: consumer, namespace: web}
spec:
  parentRefs: [{group: "", kind: Service, name: cart, namespace: shop}]
  rules: [{matches: [{path: {value: /v2}}], backendRefs: [{name: cart, namespace: shop, port: 9090}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: admin, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: cart, sectionName: admin}]
  rules: [{matches: [{path: {value: /admin}}]}]
`

// TestMesh: producer and consumer routes, ports, addresses (gatewayapi G49, G50).
func TestMesh(t *testing.T) {
	w := newWorld(t, meshInput, nil)
	for _, c := range []struct{ name, from, url, want, why string }{
		{"a producer route holds for anybody", "elsewhere", "http://cart.shop/v1/x",
			"Matched producer rule-1 cart:http*1", "producer routes"},
		{"also at home, by the short name", "shop", "http://cart/v1", "Matched producer rule-1 cart:http*1", ""},
		{"by longer names", "x", "http://cart.shop.svc.cluster.local/v1", "Matched producer rule-1 cart:http*1", ""},
		{"in any case", "x", "http://CART.Shop/v1", "Matched producer rule-1 cart:http*1", ""},
		{"no rule of it", "elsewhere", "http://cart.shop/other", "NoMatch 404", "no rule of HTTPRoutes"},
		{"a consumer route of the client's namespace", "web", "http://cart.shop/v2",
			"Matched consumer rule-1 cart:9090*1", "consumer routes of namespace web"},
		{"the sets never mix", "web", "http://cart.shop/v1", "NoMatch 404", "consumer routes of namespace web"},
		{"a consumer route is for all ports", "web", "http://cart.shop:9090/v2", "Matched consumer rule-1 cart:9090*1",
			""},
		{"a port of its own", "elsewhere", "http://cart.shop:8080/admin", "BackendError 500 admin rule-1",
			"the rule has no backend"},
		{"a route for another port", "elsewhere", "http://cart.shop:8080/v1", "NoMatch 404", ""},
		{"a port without routes", "elsewhere", "http://cart.shop:9090/v1", "Passthrough cart:9090*1",
			"no route governs port 9090"},
		{"a port that the Service does not have", "elsewhere", "http://cart.shop:9999/v1", "NoMatch",
			"has no port 9999"},
		{"a cluster IP is the Service", "elsewhere", "http://10.96.0.7/v1", "Matched producer rule-1 cart:http*1", ""},
		{"another of them", "elsewhere", "http://[fd00::7]/v1", "Matched producer rule-1 cart:http*1", ""},
		{"the address of a pod", "elsewhere", "http://10.1.2.3/v1", "Passthrough", "bypass routes"},
		{"a Host header decides nothing", "elsewhere", "http://cart.shop/v1", "Matched producer rule-1 cart:http*1",
			""},
		{"a Service that does not exist", "elsewhere", "http://gone.shop/", "NoMatch", "does not exist"},
		{"a Service that may exist", "elsewhere", "http://gone.nowhere/", "Conditional/NoMatch",
			"it may exist all the same"},
		{"of the client's namespace", "nowhere", "http://cart/", "Conditional/NoMatch", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{From: c.from}
			if strings.Contains(c.name, "Host header") {
				o.Headers = []string{"Host: other.example.org"}
			}
			a := w.ask(t, ask{method: "GET", url: c.url, Options: o})
			w.check(t, a, c.want, c.why)
			if a.Gateway != topology.None {
				t.Errorf("a request in the mesh is at Gateway %d", a.Gateway)
			}
		})
	}
}

// TestMeshKinds: of several kinds on one port one decides (gatewayapi G51).
func TestMeshKinds(t *testing.T) {
	more := `
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: cart, port: 9090}]
  rules: [{matches: [{method: {service: shop.Cart}}], backendRefs: [{name: cart, port: 9090}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: loser, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: cart, port: 9090}]
  rules: [{backendRefs: [{name: cart, port: 9090}]}]
`
	w := newWorld(t, meshInput+more, nil)
	a := w.ask(t, ask{url: "http://cart.shop:9090", Options: Options{From: "x", GRPC: "shop.Cart/Add"}})
	w.check(t, a, "Matched calls rule-1 cart:9090*1")
	a = w.ask(t, ask{url: "http://cart.shop:9090", Options: Options{From: "x", GRPC: "shop.List/Add"}})
	w.check(t, a, "NoMatch", "no rule of GRPCRoutes")
}

// TestForeignProtocol: a listener whose protocol belongs to an implementation may take what comes
// to its port, and nothing else.
func TestForeignProtocol(t *testing.T) {
	w := newWorld(t,
		"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: odd, namespace: infra}\n"+
			"spec: {gatewayClassName: c, listeners: [{name: q, port: 8443, protocol: acme.io/H3, hostname: h.x.io}, {name: web, port: 80, protocol: HTTP}]}\n", nil)
	for url, want := range map[string]string{
		"https://h.x.io:8443/": "Conditional/NoMatch",
		"http://h.x.io:8443/":  "Conditional/NoMatch",
		"http://i.x.io:8443/":  "NoMatch",
		"http://h.x.io:8444/":  "NoMatch",
		"http://h.x.io/":       "NoMatch 404 at web",
	} {
		w.check(t, w.get(t, url), want, "")
	}
}

// TestWithout: an input without Gateways, where the one that a route names may exist, and one with
// a broken match.
func TestWithout(t *testing.T) {
	w := newWorld(t, routeOf("HTTPRoute", "r", "rules: [{}]"), nil)
	w.check(t, w.get(t, "http://h/"), "Conditional/NoMatch", "no Gateway has a listener for it: HTTP on port 80")
	w = newWorld(t, routeOf("HTTPRoute", "r", "hostnames: [a.io]\nrules: [{}]"), nil)
	w.check(t, w.get(t, "http://b.io/"), "NoMatch", "no Gateway has a listener for it: HTTP on port 80")

	w = newWorld(t, plainGateway+routeOf("HTTPRoute", "r", `
rules:
- matches: [{path: {type: Glob, value: /a*}}, {path: {value: /b}}, {headers: [{value: x}]}, {path: {value: 7}}, {method: [GET]}, {queryParams: [{name: q, value: x, type: Wild}]}]
`), nil)
	a := w.get(t, "http://h/a1")
	w.check(t, a, "NoMatch 404 at http")
	if n := strings.Count(notes(a), "warning InvalidObject"); n != 5 {
		t.Errorf("%d matches are reported, want 5: %v", n, a.Problems)
	}
	for _, p := range a.Problems {
		if p.Code == model.InvalidObject && p.Origin == nil {
			t.Errorf("%s has no place", p.Message)
		}
	}
	w.check(t, w.get(t, "http://h/b"), "BackendError 500 at http r rule-1")
}

// TestMeshKindsUnderstood: of several kinds of routes on one port the first one has it, and takes
// nothing but what it understands (gatewayapi G51); where calls are, every HTTP request is taken
// for one.
func TestMeshKindsUnderstood(t *testing.T) {
	w := newWorld(t, `
apiVersion: v1
kind: Service
metadata: {name: s, namespace: shop}
spec: {ports: [{name: grpc, port: 7070}, {name: http, port: 80}, {name: split, port: 7171}, {name: udp, port: 53, protocol: UDP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls, namespace: shop}
spec: {parentRefs: [{group: "", kind: Service, name: s, port: 7070}], rules: [{backendRefs: [{name: s, port: 7070}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: split, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: s, port: 7171}]
  rules: [{matches: [{method: {service: shop.Cart, method: Add}}], backendRefs: [{name: s, port: 7171, weight: 90}, {name: s, port: 80, weight: 10}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: pages, namespace: shop}
spec: {parentRefs: [{group: "", kind: Service, name: s}], rules: [{backendRefs: [{name: s, port: 80}]}]}
`, nil)
	for _, c := range []struct {
		what string
		ask  ask
		want string
	}{
		{"a call", ask{url: "http://s.shop:7070", Options: Options{GRPC: "a.B/C", From: "x"}},
			"Matched calls rule-1 s:grpc*1"},
		{"what is not said to be a call, where calls are", ask{url: "http://s.shop:7070", Options: Options{From: "x"}},
			"Matched calls rule-1 s:grpc*1"},
		{"the path of a call, by the split of its method", ask{url: "http://s.shop:7171/shop.Cart/Add",
			Options: Options{From: "x"}}, "Matched split rule-1 s:split*90 s:http*10"},
		{"a call of another method there", ask{url: "http://s.shop:7171/shop.Cart/Drop", Options: Options{From: "x"}},
			"NoMatch 404"},
		{"no call at all there", ask{url: "http://s.shop:7171/shop.Cart/Add/1", Options: Options{From: "x"}},
			"NoMatch 404"},
		{"bytes where calls are", ask{url: "s.shop:7070", Options: Options{Protocol: "TCP", From: "x"}}, "NoMatch"},
		{"a page", ask{url: "http://s.shop", Options: Options{From: "x"}}, "Matched pages rule-1 s:http*1"},
		{"a call where pages are", ask{url: "http://s.shop", Options: Options{GRPC: "a.B/C", From: "x"}},
			"Matched pages rule-1 s:http*1"},
		{"bytes where pages are", ask{url: "s.shop:80", Options: Options{Protocol: "TCP", From: "x"}}, "NoMatch"},
		{"datagrams", ask{url: "s.shop:53", Options: Options{Protocol: "UDP", From: "x"}}, "Passthrough s:udp*1"},
	} {
		c.ask.method = "GET"
		a := w.ask(t, c.ask)
		if got := w.brief(a); got != c.want {
			t.Errorf("%s: %s, want %s; why %q", c.what, got, c.want, a.Why)
		}
	}
}
