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

const cart = `
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: demo}
spec: {ports: [{name: http, port: 80}, {port: 7070}, {name: dns, port: 53, protocol: UDP}]}
---
`

// boundTo is a route of a kind to the Service cart with further fields of the parentRef.
func boundTo(kind, namespace, name, more string) string {
	return fmt.Sprintf("apiVersion: gateway.networking.k8s.io/v1\nkind: %s\nmetadata: {name: %s, namespace: %s}\n"+
		"spec: {hostnames: [cart], parentRefs: [{group: \"\", kind: Service, name: cart, namespace: demo%s}], rules: [{backendRefs: [{name: cart, namespace: demo, port: 80}]}]}\n---\n",
		kind, name, namespace, more)
}

func TestServiceParents(t *testing.T) { // G19, G50, G51
	tests := []struct {
		name, routes string
		want         []string // name, state and the ports of the Service that lead to it
	}{
		{"every port", boundTo("HTTPRoute", "demo", "a", ""), []string{"a Accepted cart"}},
		{"a port", boundTo("HTTPRoute", "demo", "a", ", port: 80"), []string{"a Accepted cart/http"}},
		{"a port's name", boundTo("HTTPRoute", "demo", "a", ", sectionName: http"), []string{"a Accepted cart/http"}},
		{"a port without a name", boundTo("HTTPRoute", "demo", "a", ", port: 7070"), []string{"a Accepted cart/7070"}},
		{"both must hold", boundTo("HTTPRoute", "demo", "a", ", port: 7070, sectionName: http"),
			[]string{"a NoMatchingParent"}},
		{"another namespace", boundTo("HTTPRoute", "far", "a", ""), []string{"a Accepted cart"}},
		{"GRPC before HTTP", boundTo("HTTPRoute", "demo", "a", "") + boundTo("GRPCRoute", "demo", "b", ""),
			[]string{"a Conflicted", "b Accepted cart"}},
		{"HTTP before TLS before TCP", boundTo("HTTPRoute", "demo", "a", ", port: 80") + boundTo("TLSRoute", "demo",
			"b", "") + boundTo("TCPRoute", "demo", "c", ""),
			[]string{"a Accepted cart/http", "b Accepted cart", "c Conflicted"}},
		{"the only port is lost", boundTo("HTTPRoute", "demo", "a", ", port: 80") + boundTo("TLSRoute", "demo", "b",
			", sectionName: http"),
			[]string{"a Accepted cart/http", "b Conflicted"}},
		{"every port is lost one by one", boundTo("HTTPRoute", "demo", "a", ", port: 80") + boundTo("GRPCRoute",
			"demo", "b", ", port: 7070") + boundTo("TCPRoute", "demo", "c", ""),
			[]string{"a Accepted cart/http", "b Accepted cart/7070", "c Conflicted"}},
		{"one kind never conflicts", boundTo("HTTPRoute", "demo", "a", "") + boundTo("HTTPRoute", "demo", "b", ""),
			[]string{"a Accepted cart", "b Accepted cart"}},
		{"UDP has its own ports", boundTo("HTTPRoute", "demo", "a", "") + boundTo("UDPRoute", "demo", "b", ""),
			[]string{"a Accepted cart", "b Accepted cart"}},
		{"other clients (G49)", boundTo("GRPCRoute", "demo", "a", "") + boundTo("HTTPRoute", "far", "b", ""),
			[]string{"a Accepted cart", "b Accepted cart"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(t, cart+tt.routes)
			var got []string
			for id := range topology.NodeID(g.Len()) {
				if g.Node(id).Role != topology.Route {
					continue
				}
				line := g.Node(id).Ref.Name
				for _, a := range g.Attachments(id) {
					line += " " + string(a.State)
					if a.State == topology.Accepted && (a.Listener != topology.None ||
						!slices.Equal(a.Hostnames, gatewayapi.AnyHost)) {
						t.Errorf("%s has listener %d and hostnames %v", line, a.Listener, a.Hostnames)
					}
				}
				for _, p := range g.Parents(topology.Mesh, id) {
					line += " " + strings.TrimSuffix(g.Node(p).Ref.Name+"/"+g.Node(p).Ref.Section, "/")
				}
				got = append(got, line)
				if len(g.Parents(topology.Traffic, id)) > 0 {
					t.Error("Traffic leads to", line)
				}
			}
			slices.Sort(got)
			equal(t, "routes", got, tt.want)
		})
	}
}

func TestFamilies(t *testing.T) {
	g := build(t, class+gateway+cart+boundTo("HTTPRoute", "demo", "m", ", port: 80")+boundTo("HTTPRoute",
		"demo", "n", "")+
		routeWith(`{parentRefs: [{name: gw}], rules: [{backendRefs: [{name: cart, port: 80}]}]}`))
	for _, family := range []string{topology.Traffic, topology.Mesh, topology.All} {
		at := map[topology.NodeID]int{}
		for i, id := range g.Order(family) {
			at[id] = i + 1
		}
		for id := range topology.NodeID(g.Len()) {
			for _, c := range g.Children(family, id) {
				if at[id] == 0 || at[id] >= at[c] {
					t.Errorf("%s: %s does not come before its child %s", family, g.name(id), g.name(c))
				}
			}
			both := slices.Concat(g.Parents(topology.Traffic, id), g.Parents(topology.Mesh, id))
			slices.Sort(both)
			if all := g.Parents(topology.All, id); !slices.Equal(all, slices.Compact(both)) {
				t.Errorf("parents of %s: %v in both families, %v in one or the other", g.name(id), all, both)
			}
		}
	}
	service := g.Lookup(model.Ref{Kind: "Service", Namespace: "demo", Name: "cart"})
	port := g.Lookup(model.Ref{Kind: "Service", Namespace: "demo", Name: "cart", Section: "80"})
	roles := func(ids []topology.NodeID) (out []topology.Role) {
		for _, id := range ids {
			out = append(out, g.Node(id).Role)
		}
		return out
	}
	if got := roles(service); !slices.Equal(got, []topology.Role{topology.Backend, topology.Frontend}) {
		t.Errorf("the Service is %v", got)
	}
	if got := roles(port); !slices.Equal(got, []topology.Role{topology.Port, topology.Frontend}) {
		t.Errorf("its port is %v", got)
	}
	plain := build(t, class+gateway+cart)
	if len(plain.Order(topology.Mesh)) != 4 || !slices.Equal(plain.Order(topology.All), plain.Order(topology.Traffic)) {
		t.Error("without routes of Services Mesh has more than backends, or All more than Traffic")
	}
}

func TestBackendRefs(t *testing.T) { // G5, G33, G34, G36
	const backends = `[{name: cart, port: 80, weight: 3}, {name: cart, port: 53}, {name: cart, port: 7}, {name: gone, port: 80, weight: 0},
		{kind: Secret, name: x}, {name: x, namespace: far, port: 1}, 5, {group: x.example.com, kind: Edge, name: e}, {group: y.example.com, kind: Odd, name: o}, {kind: HTTPRoute, group: gateway.networking.k8s.io, name: r}]`
	tests := []struct {
		kind, parents string
		want          []string
	}{
		{"HTTPRoute", `[{name: gw}]`, []string{
			"service/demo/cart/http 3", "service/demo/cart/dns 1", "service/demo/cart/7 1 BackendNotFound",
			"service/demo/gone/80 0 BackendNotFound",
			"secret/demo/x 1 InvalidKind", "service/far/x/1 1 RefNotPermitted", "edge/demo/e 1 assumed",
			"odd/demo/o 1 InvalidKind", "httproute/demo/r 1 unknown"}},
		{"HTTPRoute", `[{group: "", kind: Service, name: cart}]`, []string{
			"service/demo/cart/http 3", "service/demo/cart/dns 1", "service/demo/cart/7 1 BackendNotFound",
			"service/demo/gone/80 0 BackendNotFound",
			"secret/demo/x 1 InvalidKind", "service/far/x/1 1 assumed", "edge/demo/e 1 assumed",
			"odd/demo/o 1 InvalidKind", "httproute/demo/r 1 unknown"}},
		// A route with both sorts of parents is one of Gateways.
		{"UDPRoute", `[{name: gw}, {group: "", kind: Service, name: cart}]`, []string{
			"service/demo/cart/http 3", "service/demo/cart/dns 1", "service/demo/cart/7 1 BackendNotFound",
			"service/demo/gone/80 0 BackendNotFound",
			"secret/demo/x 1 InvalidKind", "service/far/x/1 1 RefNotPermitted", "edge/demo/e 1 assumed",
			"odd/demo/o 1 InvalidKind", "httproute/demo/r 1 unknown"}},
	}
	for _, tt := range tests {
		t.Run(tt.kind+tt.parents, func(t *testing.T) {
			g := build(t, class+gateway+cart+definition("x.example.com", "Edge")+
				fmt.Sprintf(
					"apiVersion: gateway.networking.k8s.io/v1\nkind: %s\nmetadata: {name: t, namespace: demo}\nspec: {parentRefs: %s, rules: [{}, {backendRefs: %s}]}\n", tt.kind, tt.parents, backends))
			var got []string
			for _, id := range g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: tt.kind, Namespace: "demo",
				Name: "t", Section: "rule-2"}) {
				for _, b := range g.BackendRefs(id) {
					line := fmt.Sprint(b.Ref, " ", b.Weight)
					if b.Reason != "" {
						line += " " + b.Reason
					}
					if (b.Message == "") != (b.Reason == "" && !b.Unknown) {
						t.Errorf("%s says %q", line, b.Message)
					}
					if b.Assumed {
						line += " assumed"
					}
					if b.Unknown {
						line += " unknown"
					}
					got = append(got, line)
				}
			}
			equal(t, "backends", got, tt.want)
		})
	}
	g := build(t, class+gateway+routeWith(`{parentRefs: [{name: gw}]}`))
	for id := range topology.NodeID(g.Len()) {
		if len(g.BackendRefs(id)) > 0 {
			t.Error(g.name(id), "has backends")
		}
	}
}
