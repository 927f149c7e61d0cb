package build

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

func TestSections(t *testing.T) {
	g := build(t,
		class+service+
			gatewayWith(
				`[{name: b, port: 80, protocol: HTTP}, {name: a, port: 81, protocol: HTTP}, {name: a, port: 82, protocol: HTTP}]`)+
			routeWith(`{rules: [{name: x}, {}, {name: x}, {name: rule-2}, {name: rule-5}, {name: rule-x}, 7, {name: 5}, {}]}`)+`
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: {name: t, namespace: demo}
spec: {rules: [{}, {name: n}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: l, namespace: demo}
spec: {listeners: [{name: n}, {port: 1}]}
`)
	ref := func(gk model.GroupKind, name string) model.Ref {
		return model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: "demo", Name: name}
	}
	tests := []struct {
		of   model.Ref
		want string
		find string // section:indexes of the nodes found; - for none
	}{
		{ref(gatewayapi.GatewayKind, "gw"), "b a a", "b:0 a:1,2 c:-"},
		// A name wins over a place, means the first rule, and a rule whose name means another has
		// its place (G3).
		{ref(gatewayapi.HTTPRouteKind, "r"), "x rule-2 rule-3 rule-2 rule-5 rule-x rule-8 rule-9",
			"x:0 rule-1:- rule-2:3 rule-3:2 rule-4:- rule-5:4 rule-x:5 rule-7:- rule-8:7 rule-9:8 rule-10:-"},
		{ref(gatewayapi.ServiceKind, "b"), "http 8080", "http:0 80:0 8080:1 81:- x:-"},
		{ref(gatewayapi.GatewayClassKind, "class"), "", "x:-"},
		{ref(gatewayapi.TLSRouteKind, "t"), "rule-1 n", "rule-1:0 n:1 x:-"},
		{ref(gatewayapi.ListenerSetKind, "l"), "n", "n:0 x:-"},
		{ref(gatewayapi.GatewayKind, "other"), "", "x:-"},
	}
	for _, tt := range tests {
		t.Run(tt.of.String(), func(t *testing.T) {
			if got := strings.Join(g.Sections(tt.of), " "); got != tt.want {
				t.Errorf("sections %q, want %q", got, tt.want)
			}
			for _, pair := range strings.Fields(tt.find) {
				section, want, _ := strings.Cut(pair, ":")
				var got []string
				for _, id := range g.Lookup(tt.of.WithSection(section)) {
					got = append(got, manifest.FormatInt(g.Node(id).Index))
				}
				if s := strings.Join(got, ","); s != strings.Trim(want, "-") {
					t.Errorf("section %s is %q, want %q", section, s, want)
				}
			}
		})
	}
}

func TestLookupOfWholeObjects(t *testing.T) {
	g := build(t, class+demo+gateway+service+routeWith(`{}`))
	for role, ref := range map[topology.Role]model.Ref{
		topology.GatewayClass: {Group: gatewayapi.GatewayGroup, Kind: "GatewayClass", Namespace: "ignored",
			Name: "class"},
		topology.Gateway:   {Group: gatewayapi.GatewayGroup, Kind: "Gateway", Namespace: "demo", Name: "gw"},
		topology.Route:     {Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute", Namespace: "demo", Name: "r"},
		topology.Backend:   {Kind: "Service", Namespace: "demo", Name: "b"},
		topology.Namespace: {Kind: "Namespace", Name: "demo"},
	} {
		ids := g.Lookup(ref)
		if len(ids) != 1 || g.Node(ids[0]).Role != role || g.Node(ids[0]).Object == nil {
			t.Errorf("%s: %v", ref, ids)
		}
	}
	if ids := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "Gateway", Namespace: "other",
		Name: "gw"}); ids != nil {
		t.Errorf("a Gateway of another namespace is found: %v", ids)
	}
	if as := g.Attachments(g.Lookup(model.Ref{Kind: "Namespace", Name: "demo"})[0]); as != nil {
		t.Errorf("a namespace has attachments: %v", as)
	}
}

func TestKnownKind(t *testing.T) { // gep713 P14
	g := build(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.example.com}
spec: {group: x.example.com, names: {kind: Thing}}
---
apiVersion: y.example.com/v1
kind: Other
metadata: {name: o}
`)
	for kind, want := range map[string]bool{
		"Thing.x.example.com": true, "Other.y.example.com": true, "Thing.y.example.com": false, "Service": true,
		"Namespace": true, "Service.x": false,
		"Gateway.gateway.networking.k8s.io": true, "UDPRoute.gateway.networking.k8s.io": true,
		"XMesh.gateway.networking.x-k8s.io": true, "Gateway": false,
	} {
		if got := g.IsKnownKind(model.ParseGroupKind(kind)); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}
