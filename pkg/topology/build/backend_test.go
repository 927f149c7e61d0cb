package build

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// grantWith is a ReferenceGrant in namespace far.
func grantWith(from, to string) string {
	return `
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: g, namespace: far}
spec: {from: [` + from + `], to: [` + to + `]}
---
`
}

func TestGrants(t *testing.T) { // G32
	const from, to = `{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}`,
		`{group: "", kind: Service}`
	tests := []struct {
		name, in string
		want     bool
	}{
		{"none", "", false},
		{"all of a kind", grantWith(from, to), true},
		{"one object", grantWith(from, `{group: "", kind: Service, name: b}`), true},
		{"another object", grantWith(from, `{group: "", kind: Service, name: c}`), false},
		{"no name is not all", grantWith(from, `{group: "", kind: Service, name: ""}`), false},
		{"another kind", grantWith(from, `{group: "", kind: Secret}`), false},
		{"another group", grantWith(from, `{group: x, kind: Service}`), false},
		{"from another group", grantWith(`{group: x, kind: HTTPRoute, namespace: demo}`, to), false},
		{"from another kind", grantWith(`{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo}`, to),
			false},
		{"from another namespace", grantWith(`{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: far}`,
			to), false},
		{"entries are alternatives", grantWith(`{group: x, kind: X, namespace: x}, `+from, `{group: x, kind: X}, `+to),
			true},
		{"in the namespace of the route", strings.Replace(grantWith(from, to), "namespace: far}\nspec",
			"namespace: demo}\nspec", 1), false},
		{"an entry of the wrong type grants nothing", grantWith(from, `{group: "", kind: Service, name: 5}`), false},
		{"the rest of the grant stands", grantWith(`5, `+from, `x, `+to), true},
		{"older version", strings.Replace(grantWith(from, to), "v1beta1", "v1alpha2", 1), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(t,
				tt.in+gateway+
					routeWith(
						`{parentRefs: [{name: gw}], rules: [{name: x, backendRefs: [{name: b, namespace: far, port: 80}]}]}`)+
					strings.Replace(service, "namespace: demo", "namespace: far", 1))
			backend := model.Ref{Kind: "Service", Namespace: "far", Name: "b"}
			if got := g.IsGranted(gatewayapi.HTTPRouteKind, "demo", backend); got != tt.want {
				t.Errorf("Granted = %v", got)
			}
			if !g.IsGranted(gatewayapi.HTTPRouteKind, "far", backend) {
				t.Error("the same namespace needs no grant")
			}
			reached := len(g.Parents(topology.Traffic, g.Lookup(backend)[0])) > 0
			if reached != tt.want {
				t.Errorf("edge: %v", reached)
			}
			if s := strings.Join(g.codes(), "\n"); strings.Contains(s,
				"RefNotPermitted httproute/demo/r: rule x sends to service/far/b") == tt.want {
				t.Error(s)
			}
		})
	}
}

func TestBackends(t *testing.T) { // G33-G36
	foreign := "apiVersion: x.example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: demo}\n---\n"
	tests := []struct {
		name, in, refs string
		ends           string // what the rule's edges lead to
		problem        string // "" for none
	}{
		{"a port by number", service, `{name: b, port: 80}`, "b http", ""},
		{"an unnamed port", service, `{name: b, port: 8080}`, "b 8080", ""},
		{"once only", service, `{name: b, port: 80}, {name: b, port: 80, weight: 3}`, "b http", ""},
		{"weight 0", service, `{name: b, port: 80, weight: 0}`, "b http", ""},
		{"defaults written out", service, `{group: "", kind: Service, namespace: demo, name: b, port: 80}`,
			"b http", ""},
		{"no port", service, `{name: b}`, "b",
			"warning InvalidObject httproute/demo/r: spec.rules[0].backendRefs[0] has no port, which a reference to a Service must have"},
		{"no such port", service, `{name: b, port: 81}`, "b",
			"warning BackendNotFound httproute/demo/r: rule rule-1 sends to port 81 of service/demo/b, which has no such port"},
		{"TCP before UDP",
			"apiVersion: v1\nkind: Service\nmetadata: {name: b, namespace: demo}\nspec: {ports: [{name: u, port: 53, protocol: UDP}, {name: t, port: 53}]}\n---\n",
			`{name: b, port: 53}`, "b t", ""},
		{"absent and nothing known of its namespace", "", `{name: b, port: 80}`, "b",
			"info NotEvaluated: 1 rule names 1 backend that is not in the input: not judged, assumed to exist: service/demo/b"},
		{"absent although its Namespace is there", demo, `{name: b, port: 80}`, "",
			"warning BackendNotFound httproute/demo/r: rule rule-1 sends to service/demo/b, which does not exist"},
		{"absent although another Service is there", service, `{name: c, port: 80}`, "",
			"warning BackendNotFound httproute/demo/r: rule rule-1 sends to service/demo/c, which does not exist"},
		{"a core kind that is no backend", "", `{kind: Pod, name: p}`, "",
			"warning BackendNotFound httproute/demo/r: rule rule-1 sends to pod/demo/p, which cannot be a backend"},
		{"a Service of the wrong group", "", `{group: gateway.networking.k8s.io, name: b, port: 80}`, "",
			"warning BackendNotFound httproute/demo/r: rule rule-1 sends to service/demo/b, which cannot be a backend"},
		{"a route", "", `{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}`, "",
			"warning NotEvaluated httproute/demo/r: delegation to kind HTTPRoute.gateway.networking.k8s.io is not evaluated; 1 route sends to one: httproute/demo/r"},
		{"a kind of an implementation", foreign, `{group: x.example.com, kind: Thing, name: t}`, "t",
			"info NotEvaluated: kind Thing.x.example.com is a backend of an implementation, taken as it is: thing/demo/t"},
		{"a ServiceImport",
			"apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: i, namespace: demo}\n---\n",
			`{group: multicluster.x-k8s.io, kind: ServiceImport, name: i, port: 80}`, "i", ""},
		{"an entry that is no object", service, `7, {name: b, port: 80}`, "b http",
			"warning WrongType httproute/demo/r: spec.rules[0].backendRefs[0] is the number 7, not an object"},
		{"a port of the wrong type", service, `{name: b, port: http}`, "",
			"warning WrongType httproute/demo/r: spec.rules[0].backendRefs[0].port is a text, not a port number"},
		{"no name", service, `{port: 80}`, "",
			"warning InvalidObject httproute/demo/r: spec.rules[0].backendRefs[0] has no name and is ignored"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(t, tt.in+gateway+routeWith(`{parentRefs: [{name: gw}], rules: [{backendRefs: [`+tt.refs+`]}]}`))
			rule := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute", Namespace: "demo", Name: "r",
				Section: "rule-1"})
			var ends []string
			for _, id := range g.Children(topology.Traffic, rule[0]) {
				ends = append(ends, g.name(id))
			}
			if got := strings.Join(ends, " "); got != tt.ends {
				t.Errorf("leads to %q, want %q", got, tt.ends)
			}
			if got := strings.Join(g.codes(), "\n"); got != tt.problem {
				t.Errorf("problems:\n%s\nwant\n%s", got, tt.problem)
			}
		})
	}
}

func TestMeshBackendsNeedNoGrant(t *testing.T) { // G33
	const rules = `rules: [{backendRefs: [{name: b, namespace: far, port: 80}]}]}`
	far := strings.Replace(service, "namespace: demo", "namespace: far", 1)
	backend := model.Ref{Kind: "Service", Namespace: "far", Name: "b"}
	g := build(t, far+routeWith(`{parentRefs: [{group: "", kind: Service, name: s}], `+rules))
	if len(g.Parents(topology.Traffic, g.Lookup(backend)[0])) == 0 {
		t.Error("a mesh route's backend is refused")
	}
	g = build(t, far+gateway+routeWith(`{parentRefs: [{group: "", kind: Service, name: s}, {name: gw}], `+rules))
	if len(g.Parents(topology.Traffic, g.Lookup(backend)[0])) != 0 {
		t.Error("a route that is bound to a Gateway too needs a grant")
	}
}

func TestServicesThatMayNotBeListed(t *testing.T) { // G36
	all := objects(t,
		demo+gateway+routeWith(`{parentRefs: [{name: gw}], rules: [{backendRefs: [{name: x, port: 80}]}]}`))
	backend := model.Ref{Kind: "Service", Namespace: "demo", Name: "x"}
	found := func(gaps ...model.UnreadObjects) bool {
		in := model.NewSnapshot(all, nil)
		in.Cluster = &model.Cluster{Unread: gaps}
		return len(testGraph{Graph(in, model.Settings{})}.Lookup(backend)) > 0
	}
	if found() {
		t.Error("a namespace that was read from a cluster is complete")
	}
	if found(model.UnreadObjects{Kind: gatewayapi.GrantKind}, model.UnreadObjects{Kind: gatewayapi.ServiceKind,
		Namespace: "other"}, model.UnreadObjects{Kind: gatewayapi.ServiceKind, Except: []string{"demo"}}) {
		t.Error("what else may not be listed does not matter")
	}
	for _, gap := range []model.UnreadObjects{{Kind: gatewayapi.ServiceKind}, {Kind: gatewayapi.ServiceKind,
		Namespace: "demo"}, {Kind: gatewayapi.ServiceKind, Except: []string{"other"}}} {
		if !found(gap) {
			t.Errorf("a Service is said to be missing although Services could not be listed (%v)", gap)
		}
	}
}

func TestGrantsThatMayNotBeListed(t *testing.T) {
	all := objects(t, demo+gateway+strings.Replace(service, "namespace: demo", "namespace: far", 1)+
		routeWith(`{parentRefs: [{name: gw}], rules: [{backendRefs: [{name: b, namespace: far, port: 80}]}]}`))
	in := model.NewSnapshot(all, nil)
	in.Cluster = &model.Cluster{Unread: []model.UnreadObjects{{Kind: gatewayapi.GrantKind, Namespace: "far"}}}
	g := testGraph{Graph(in, model.Settings{})}
	if len(g.Parents(topology.Traffic, g.Lookup(model.Ref{Kind: "Service", Namespace: "far", Name: "b"})[0])) == 0 {
		t.Error("a reference is refused although its grant may exist")
	}
}
