package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// openGateway takes listener sets from its namespace.
const openGateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: demo}
spec:
  gatewayClassName: class
  allowedListeners: {namespaces: {from: Same}}
  listeners: [{name: web, port: 80, protocol: HTTP, hostname: own.x}]
---
`

// setWith is a ListenerSet of Gateway gw with a listener on port 80.
func setWith(name, hostname string) string {
	return manifestOf("ListenerSet", name,
		`{parentRef: {name: gw}, listeners: [{name: web, port: 80, protocol: HTTP, hostname: `+hostname+`}]}`)
}

func TestPathsThroughListenerSets(t *testing.T) { // gatewayapi G4, G8, G22
	route := routeWith(`{parentRefs: [{name: gw}, {kind: ListenerSet, name: s}]}`)
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"beside the Gateway's own", class + openGateway + setWith("s", "a.x") + route,
			[]string{"class > gw > s > web > r > rule-1", "class > gw > web > r > rule-1"}},
		{"of a Gateway that takes none", class + gateway + setWith("s", "a.x") + route,
			[]string{"class > gw > web > r > rule-1"}},
		{"whose listener gives way", class + openGateway + setWith("s", "own.x") + route,
			[]string{"class > gw > s > web", "class > gw > web > r > rule-1"}},
		{"that names another kind", class + openGateway + manifestOf("ListenerSet", "s",
			`{parentRef: {kind: HTTPRoute, name: gw}, listeners: [{name: web, port: 81, protocol: HTTP}]}`) + route,
			[]string{"class > gw > web > r > rule-1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := build(t, tt.in).paths()
			slices.Sort(got)
			equal(t, "paths", got, tt.want)
		})
	}
}

// a Gateway that may not be read is taken to take its sets, a set to be there
func TestListenerSetsOfWhatMayNotBeRead(t *testing.T) {
	in := model.NewSnapshot(objects(t, setWith("s", "a.x")+routeWith(`{parentRefs: [{kind: ListenerSet, name: s}]}`)+
		manifestOf("HTTPRoute", "q",
			`{parentRefs: [{kind: XListenerSet, group: gateway.networking.x-k8s.io, name: x}]}`)), nil)
	in.Cluster = &model.Cluster{Unread: []model.UnreadObjects{{Kind: gatewayapi.GatewayKind},
		{Kind: gatewayapi.XListenerSetKind}}}
	g := testGraph{Graph(in, model.Settings{})}
	equal(t, "paths", g.paths(), []string{"gw > s > web > r > rule-1"})
	x := g.Lookup(model.Ref{Group: gatewayapi.ExperimentalGroup, Kind: "XListenerSet", Namespace: "demo", Name: "x"})
	if len(x) != 1 || g.Node(x[0]).Role != topology.ListenerSet || len(g.Children(topology.Traffic, x[0])) != 1 ||
		g.ListenerSet(x[0]).State != topology.SetUnknown {
		t.Errorf("set x: %v", x)
	}
	for _, name := range []string{"r", "q"} {
		if got := g.table(t, "HTTPRoute", name); len(got) != 1 || !strings.HasSuffix(got[0], " Unknown") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPrecedenceOfListenerSets(t *testing.T) { // gatewayapi G23, G47
	for _, tt := range []struct {
		name    string
		created map[string]int // seconds; 0: not known
		winner  string
		unsure  bool
	}{
		{"by age", map[string]int{"a": 3, "b": 1, "c": 2}, "b", false},
		{"of one age by name", map[string]int{"a": 3, "b": 2, "c": 2}, "b", false},
		{"one age is missing", map[string]int{"a": 3, "b": 1, "c": 0}, "a", true},
		{"no age is known", map[string]int{"a": 0, "b": 0, "c": 0}, "a", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := objects(t, class+openGateway+setWith("a", "a.x")+setWith("b", "a.x")+setWith("c", "a.x"))
			for _, o := range all {
				if at := tt.created[o.Ref.Name]; at > 0 {
					o.Created = time.Unix(int64(at), 0)
				}
			}
			g := testGraph{Graph(model.NewSnapshot(all, nil), model.Settings{})}
			uncertain := 0
			for _, p := range g.Problems() {
				if p.Code == model.OrderUncertain {
					uncertain++
				}
			}
			for name := range tt.created {
				id := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "ListenerSet", Namespace: "demo",
					Name: name, Section: "web"})[0]
				if won := g.Listener(id).Conflict == (topology.Conflict{}); won != (name == tt.winner) {
					t.Errorf("%s: %+v", name, g.Listener(id).Conflict)
				}
			}
			if uncertain != 0 && !tt.unsure || uncertain != 2 && tt.unsure {
				t.Errorf("%d losers are told that another order could win", uncertain)
			}
		})
	}
}

func TestDefaultGateways(t *testing.T) { // gatewayapi G20
	gw := func(name, spec string) string {
		return manifestOf("Gateway", name, `{defaultScope: All, listeners: [{name: `+name+
			`, port: 80, protocol: HTTP}], `+spec+`}`)
	}
	in := gw("a", "") + gw("b", "") + manifestOf("Gateway", "c", `{listeners: [{name: c, port: 80, protocol: HTTP}]}`)
	for _, tt := range []struct {
		name, route string
		want        []string
	}{
		{"asks", `{useDefaultGateways: All}`, []string{"a Accepted <", "b Accepted <"}},
		{"does not ask", `{useDefaultGateways: None}`, nil},
		{"asks and names another one", `{useDefaultGateways: All, parentRefs: [{name: c}]}`,
			[]string{"c Accepted <", "a Accepted <", "b Accepted <"}},
		{"asks and names one of them", `{useDefaultGateways: All, parentRefs: [{name: b}]}`,
			[]string{"b Accepted <", "a Accepted <"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := build(t, in+routeWith(tt.route))
			equal(t, "attachments", g.table(t, "HTTPRoute", "r"), tt.want)
			for _, a := range g.Attachments(g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute",
				Namespace: "demo", Name: "r"})[0]) {
				if named := strings.Contains(tt.route, "{name: "+g.name(a.Listener)+"}"); a.Implicit == named {
					t.Errorf("%s: implicit %v", g.name(a.Listener), a.Implicit)
				}
			}
		})
	}
}

func TestConflictsOfManyListeners(t *testing.T) { // messages do not grow with the number of listeners in the way
	in := class
	for i := range 20 {
		in += manifestOf("Gateway", fmt.Sprintf("gw-%02d", i),
			`{gatewayClassName: class, listeners: [{name: web, port: 80, protocol: HTTP}]}`)
	}
	g := testGraph{Graph(model.NewSnapshot(objects(t, in), nil), model.Settings{})}
	for _, p := range g.Problems() {
		t.Errorf("without merging: %v", p)
	}
	g = testGraph{Graph(model.NewSnapshot(objects(t, in), nil),
		model.NewSettings(map[string]any{gatewayapi.GatewayMerging: true}))}
	if n := len(g.Problems()); n != 20 {
		t.Errorf("%d problems", n)
	}
	id := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "Gateway", Namespace: "demo", Name: "gw-07",
		Section: "web"})[0]
	want := "the same hostname on the same port as listener web of gateway/demo/gw-00, web of gateway/demo/gw-01, web of gateway/demo/gw-02, " +
		"web of gateway/demo/gw-03, web of gateway/demo/gw-04 and 14 more"
	if got := g.Listener(id).Conflict.Message; got != want {
		t.Errorf("got %s", got)
	}
}
