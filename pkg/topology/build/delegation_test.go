package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var delegation = Delegation{Controllers: []string{"example.com/controller"}, LabelGroup: "delegation.example.com",
	LabelKind: "label", LabelKey: "delegation.example.com/label",
	AllNamespaces: "all", InheritKey: "delegation.example.com/inherit", InheritValues: []string{"true"}}

const delegating = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: CONTROLLER}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: i, name: g}
spec: {gatewayClassName: c, listeners: [{name: l, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: i, name: root}
spec:
  parentRefs: [{name: g}]
  rules:
  - {name: plain, backendRefs: [{name: s, port: 80}]}
  - {name: named, matches: [{path: {value: /a/}}], backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: mid, namespace: x}]}
  - {name: labelled, matches: [{path: {value: /l}}], backendRefs: [{group: delegation.example.com, kind: label, name: yes, namespace: all}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: x, name: mid}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: root, namespace: i}]
  rules:
  - {name: other, matches: [{path: {value: /b}}], backendRefs: [{name: s, port: 80}]}
  - {name: prefix, matches: [{path: {value: /abc}}], backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: "*"}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: x, name: leaf, labels: {delegation.example.com/label: "yes"}}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: mid}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: root, namespace: i}]
  rules:
  - {name: deep, matches: [{path: {value: /abc/d}}], backendRefs: [{name: s, port: 80}]}
  - {name: labelled, matches: [{path: {type: Exact, value: /l/x}}], backendRefs: [{name: s, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: x, name: stranger}
spec:
  parentRefs: [{name: mid}]
  rules: [{matches: [{path: {value: /abc}}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: x, name: named}
spec:
  hostnames: [a.example.com]
  rules: [{matches: [{path: {value: /abc}}]}]
`

// ways writes every way from a listener to a rule that serves requests.
func ways(g testGraph) []string {
	var out []string
	var down func(id topology.NodeID, way string)
	down = func(id topology.NodeID, way string) {
		n := g.Node(id)
		if n.Role == topology.Rule {
			way += "/" + n.Ref.Section
			if !n.Delegates {
				out = append(out, strings.TrimPrefix(way, "/"))
				return
			}
		} else if n.Role == topology.Route {
			way += fmt.Sprintf(" %s(%d)", n.Ref.Name, n.Hop)
		}
		for _, c := range g.Children(topology.Traffic, id) {
			down(c, way)
		}
	}
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role == topology.Listener {
			down(id, "")
		}
	}
	slices.Sort(out)
	return out
}

func built(t *testing.T, manifests string, links ...Linker) testGraph {
	t.Helper()
	return testGraph{Graph(model.NewSnapshot(objects(t, manifests), nil), model.Settings{}, links...)}
}

func TestDelegation(t *testing.T) {
	link := func(b *Builder) { b.AddDelegation(delegation) }
	g := built(t, strings.Replace(delegating, "CONTROLLER", "example.com/controller", 1), link)
	want := []string{" root(0)/labelled leaf(1)/labelled", " root(0)/named mid(1)/prefix leaf(2)/deep",
		" root(0)/plain"}
	if got := ways(g); !slices.Equal(got, want) {
		t.Errorf("ways are %q, want %q", got, want)
	}
	for _, family := range []string{topology.Traffic, topology.All} { // parents before children
		seen := map[topology.NodeID]bool{}
		for _, id := range g.Order(family) {
			for _, p := range g.Parents(family, id) {
				if !seen[p] {
					t.Errorf("%s: %v stands before its parent %v", family, g.Node(id).Ref, g.Node(p).Ref)
				}
			}
			seen[id] = true
		}
	}
	leaf := model.Ref{Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute", Namespace: "x", Name: "leaf"}
	if n := len(g.Lookup(leaf)); n != 3 {
		t.Errorf("%v has %d nodes, want itself and two instances", leaf, n)
	}
	for _, v := range g.ParentVerdicts(g.Lookup(leaf)[0]) {
		if v.State != topology.Accepted {
			t.Errorf("%v: %s, want Accepted", v.Parent, v.State)
		}
	}
	if why := g.ExplainUnattached(g.Lookup(leaf)[0]); why != "" {
		t.Errorf("leaf gets requests, but: %s", why)
	}
}

// TestDelegationElsewhere keeps routes apart from an implementation that does not serve them.
func TestDelegationElsewhere(t *testing.T) {
	link := func(b *Builder) { b.AddDelegation(delegation) }
	g := built(t, strings.Replace(delegating, "CONTROLLER", "example.com/other", 1), link)
	for _, way := range ways(g) {
		if strings.Contains(way, "(1)") {
			t.Errorf("%q: nothing says that this Gateway delegates", way)
		}
	}
	if !slices.ContainsFunc(g.Problems(), func(p model.Problem) bool { return p.Code == model.NotEvaluated }) {
		t.Errorf("no problem says that delegation is not evaluated: %v", g.Problems())
	}
}

func TestDelegationCircle(t *testing.T) {
	link := func(b *Builder) { b.AddDelegation(delegation) }
	g := built(t, strings.Replace(delegating, "CONTROLLER", "example.com/controller", 1)+`
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: i, name: turning}
spec:
  parentRefs: [{name: g}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: turned}]
  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: turned}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: i, name: turned}
spec:
  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: turning}]}]
`, link)
	turned := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute", Namespace: "i", Name: "turned"})
	if u := g.Unresolved(turned[0]); u.Reason != "RefNotPermitted" {
		t.Errorf("unresolved for %q (%s), want RefNotPermitted", u.Reason, u.Message)
	}
	if slices.ContainsFunc(ways(g), func(w string) bool { return strings.Contains(w, "turn") }) {
		t.Errorf("a circle serves requests: %q", ways(g))
	}
}

func TestJoinedMatches(t *testing.T) {
	header := []matchCondition{{"a", "Exact", "1"}}
	tests := []struct{ parent, child, want routeMatch }{
		{routeMatch{kind: pathPrefix, path: "/a/"}, routeMatch{kind: pathExact, path: "/b"},
			routeMatch{kind: pathExact, path: "/a/b"}},
		{routeMatch{kind: pathPrefix, path: "/a", method: "GET", headers: header}, routeMatch{kind: pathPrefix,
			path: "/", method: "PUT", headers: []matchCondition{{"a", "Exact", "2"}}},
			routeMatch{kind: pathPrefix, path: "/a", method: "GET", headers: header}},
		{routeMatch{kind: pathRegexp, path: "/a/.*$"}, routeMatch{kind: pathPrefix, path: "/b.c"},
			routeMatch{kind: pathRegexp, path: `/a/.*/b\.c(?:/.*)?$`}},
	}
	for _, tt := range tests {
		if got := tt.parent.joinChild(tt.child); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%v + %v = %v, want %v", tt.parent, tt.child, got, tt.want)
		}
	}
}
