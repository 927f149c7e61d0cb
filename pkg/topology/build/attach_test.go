package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

func TestAttachments(t *testing.T) {
	const two = `[{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP, hostname: "*.x"}]`
	tests := []struct {
		name, listeners, route string
		want                   []string
	}{
		{"all listeners are candidates (G8)", two, `{parentRefs: [{name: gw}]}`,
			[]string{"a Accepted <", "b Accepted *.x<"}},
		{"sectionName (G9)", two, `{parentRefs: [{name: gw, sectionName: b}]}`, []string{"b Accepted *.x<"}},
		{"port (G9)", two, `{parentRefs: [{name: gw, port: 80}]}`, []string{"a Accepted <"}},
		{"both must hold (G9)", two, `{parentRefs: [{name: gw, port: 80, sectionName: b}]}`,
			[]string{"- NoMatchingParent"}},
		{"no such section (G9)", two, `{parentRefs: [{name: gw, sectionName: c}]}`, []string{"- NoMatchingParent"}},
		{"no listeners (G9)", `[]`, `{parentRefs: [{name: gw}]}`, []string{"- NoMatchingParent"}},
		{"defaults may be written out (G5)", two,
			`{parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo, name: gw, port: 80}]}`,
			[]string{"a Accepted <"}},
		{"parentRefs in order, listeners within (G12)", two, `{parentRefs: [{name: gw, sectionName: b}, {name: gw}]}`,
			[]string{"b Accepted *.x<", "a Accepted <", "b Accepted *.x<"}},
		{"one name twice counts once", two,
			`{parentRefs: [{name: gw, port: 80}, {name: gw, port: 80, kind: Gateway}]}`, []string{"a Accepted <"}},
		{"hostnames are dropped pair by pair (G16)", two, `{parentRefs: [{name: gw}], hostnames: [c.x, c.y]}`,
			[]string{"a Accepted c.x<c.x c.y<c.y", "b Accepted c.x<c.x"}},
		{"no hostname is left (G16)", two, `{parentRefs: [{name: gw, sectionName: b}], hostnames: [x]}`,
			[]string{"b NoMatchingListenerHostname"}},
		{"a Service without group (G6)", two, `{parentRefs: [{kind: Service, name: gw}]}`,
			[]string{"- NoMatchingParent"}},
		{"a Service outside the input (G10, G49)", two, `{parentRefs: [{group: "", kind: Service, name: gw}]}`,
			[]string{"- NoMatchingParent"}},
		{"a ListenerSet outside the input (G10)", two, `{parentRefs: [{kind: ListenerSet, name: gw}]}`,
			[]string{"- NoMatchingParent"}},
		{"a kind of an implementation is not evaluated", two,
			`{parentRefs: [{group: x.example.com, kind: Edge, name: gw}]}`, []string{"- Unknown"}},
		{"a mesh is never a parent", two,
			`{parentRefs: [{group: gateway.networking.x-k8s.io, kind: XMesh, name: gw}]}`, []string{
				"- NoMatchingParent"}},
		{"a Gateway outside the input (G10)", two, `{parentRefs: [{name: other}]}`, []string{"- NoMatchingParent"}},
		{"no parentRefs", two, `{rules: []}`, nil},

		{"HTTPS takes HTTPRoutes (G13)", `[{name: a, protocol: HTTPS}]`, `{parentRefs: [{name: gw}]}`,
			[]string{"a Accepted <"}},
		{"TLS does not (G13)", `[{name: a, protocol: TLS}]`, `{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners"}},
		{"TCP does not (G13)", `[{name: a, protocol: TCP}]`, `{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners"}},
		{"protocols have upper case", `[{name: a, protocol: http}]`, `{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners"}},
		{"no protocol", `[{name: a}]`, `{parentRefs: [{name: gw}]}`, []string{"a NotAllowedByListeners"}},
		{"kinds narrow (G13)", `[{name: a, protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}]`,
			`{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners"}},
		{"kinds of another group (G13)",
			`[{name: a, protocol: HTTP, allowedRoutes: {kinds: [{group: x, kind: HTTPRoute}]}}]`,
			`{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners"}},
		{"kinds do not widen (G13)", `[{name: a, protocol: TCP, allowedRoutes: {kinds: [{kind: HTTPRoute}]}}]`,
			`{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners"}},
		{"the valid rest counts (G13)",
			`[{name: a, protocol: HTTP, allowedRoutes: {kinds: [{kind: TCPRoute}, {kind: HTTPRoute}]}}]`,
			`{parentRefs: [{name: gw}]}`,
			[]string{"a Accepted <"}},
		{"no kinds are all of the protocol", `[{name: a, protocol: HTTP, allowedRoutes: {kinds: []}}]`,
			`{parentRefs: [{name: gw}]}`, []string{"a Accepted <"}},
		{"a protocol of an implementation takes what is named (G13)", `[{name: a, protocol: x.example.com/p, allowedRoutes: {kinds: [{kind: HTTPRoute}]}},
			{name: b, protocol: x.example.com/p}]`, `{parentRefs: [{name: gw}]}`, []string{"a Accepted <", "b NotAllowedByListeners"}},

		{"what cannot be read takes nothing",
			`[{name: a, protocol: HTTP, hostname: 5}, {name: b, protocol: HTTP, allowedRoutes: x}]`,
			`{parentRefs: [{name: gw}]}`,
			[]string{"a NotAllowedByListeners", "b NotAllowedByListeners"}},
		{"unreadable hostnames are not no hostnames", two, `{parentRefs: [{name: gw}], hostnames: 5}`,
			[]string{"a Unknown", "b Unknown"}},
		{"nor are unreadable entries", two, `{parentRefs: [{name: gw}], hostnames: [5, ""]}`,
			[]string{"a Unknown", "b Unknown"}},
		{"one that can be read is enough", two, `{parentRefs: [{name: gw}], hostnames: [5, c.x]}`,
			[]string{"a Accepted c.x<c.x", "b Accepted c.x<c.x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			equal(t, "attachments", build(t, gatewayWith(tt.listeners)+routeWith(tt.route)).table(t, "HTTPRoute", "r"),
				tt.want)
		})
	}
}

func TestNamespaces(t *testing.T) { // G14
	const loaded = `
apiVersion: v1
kind: Namespace
metadata: {name: demo, labels: {team: blue, kubernetes.io/metadata.name: lie}}
---
`
	tests := []struct {
		name, in, namespaces string
		want                 topology.AttachmentState
	}{
		{"absent means Same", "", ``, topology.NotAllowedByListeners},
		{"Same", "", `from: Same`, topology.NotAllowedByListeners},
		{"All", "", `from: All`, topology.Accepted},
		{"None is not for routes", "", `from: None`, topology.NotAllowedByListeners},
		{"an absent selector selects nothing", "", `from: Selector`, topology.NotAllowedByListeners},
		{"an empty selector selects all", "", `from: Selector, selector: {}`, topology.Accepted},
		{"the name label needs no Namespace", "",
			`from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: demo}}`, topology.Accepted},
		{"nor does another name", "", `from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: x}}`,
			topology.NotAllowedByListeners},
		{"the name label is the name", loaded,
			`from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: demo}}`, topology.Accepted},
		{"other labels do", "", `from: Selector, selector: {matchLabels: {team: blue}}`, topology.Unknown},
		{"a name that does not fit settles it", "",
			`from: Selector, selector: {matchLabels: {team: blue, kubernetes.io/metadata.name: x}}`,
			topology.NotAllowedByListeners},
		{"a name that fits does not", "",
			`from: Selector, selector: {matchLabels: {team: blue, kubernetes.io/metadata.name: demo}}`,
			topology.Unknown},
		{"labels fit", loaded, `from: Selector, selector: {matchLabels: {team: blue}}`, topology.Accepted},
		{"labels differ", loaded, `from: Selector, selector: {matchLabels: {team: red}}`,
			topology.NotAllowedByListeners},
		{"In", loaded,
			`from: Selector, selector: {matchExpressions: [{key: team, operator: In, values: [red, blue]}]}`,
			topology.Accepted},
		{"In, absent label", loaded,
			`from: Selector, selector: {matchExpressions: [{key: x, operator: In, values: [""]}]}`,
			topology.NotAllowedByListeners},
		{"NotIn", loaded,
			`from: Selector, selector: {matchExpressions: [{key: team, operator: NotIn, values: [blue]}]}`,
			topology.NotAllowedByListeners},
		{"NotIn, absent label", loaded,
			`from: Selector, selector: {matchExpressions: [{key: x, operator: NotIn, values: [blue]}]}`,
			topology.Accepted},
		{"Exists", loaded, `from: Selector, selector: {matchExpressions: [{key: team, operator: Exists}]}`,
			topology.Accepted},
		{"DoesNotExist", loaded, `from: Selector, selector: {matchExpressions: [{key: team, operator: DoesNotExist}]}`,
			topology.NotAllowedByListeners},
		{"all must hold", loaded,
			`from: Selector, selector: {matchLabels: {team: blue}, matchExpressions: [{key: x, operator: Exists}]}`,
			topology.NotAllowedByListeners},
		{"an unknown operator selects nothing", loaded,
			`from: Selector, selector: {matchExpressions: [{key: team, operator: Is, values: [blue]}]}`,
			topology.NotAllowedByListeners},
		{"an expression without Namespace", "",
			`from: Selector, selector: {matchExpressions: [{key: team, operator: DoesNotExist}]}`, topology.Unknown},
		{"an unreadable selector", loaded, `from: Selector, selector: {matchLabels: {team: 5}}`,
			topology.NotAllowedByListeners},
		{"unreadable values", loaded,
			`from: Selector, selector: {matchExpressions: [{key: team, operator: NotIn, values: [5]}]}`,
			topology.NotAllowedByListeners},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			gw := strings.Replace(gatewayWith(`[{name: a, protocol: HTTP, allowedRoutes: {namespaces: {`+tt.namespaces+
				`}}}]`), "namespace: demo", "namespace: infra", 1)
			g := build(t, tt.in+gw+routeWith(`{parentRefs: [{name: gw, namespace: infra}]}`))
			want := "a " + string(tt.want)
			if tt.want == topology.Accepted {
				want += " <"
			}
			equal(t, "attachments", g.table(t, "HTTPRoute", "r"), []string{want})
			incomplete := false
			for _, p := range g.Problems() {
				if p.IsIncomplete() {
					incomplete = true
					if !strings.Contains(p.Message, "namespace/demo") ||
						!strings.Contains(p.Message, "httproute/demo/r") {
						t.Errorf("problem %q names not both", p.Message)
					}
				}
			}
			if incomplete != (tt.want == topology.Unknown) {
				t.Errorf("incomplete: %v", incomplete)
			}
		})
	}
}

func TestVerdictsTakeTheFurthest(t *testing.T) { // G11, G17
	const listeners = `[
		{name: kind, port: 1, protocol: TCP}, {name: host, port: 2, protocol: HTTP, hostname: a.x},
		{name: maybe, port: 3, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: blue}}}}},
		{name: good, port: 4, protocol: HTTP, hostname: b.x}, {name: kind2, port: 1, protocol: TCP}, {name: host2, port: 1, protocol: HTTP, hostname: a.x}]`
	g := build(t, gatewayWith(listeners)+routeWith(`{hostnames: [b.x], parentRefs: [{name: gw}, {name: gw, port: 3}, {name: gw, port: 1}, {name: gw, port: 9},
		{name: gw, sectionName: kind}, {name: missing}]}`))
	var got []string
	for _, a := range g.ParentVerdicts(g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute",
		Namespace: "demo", Name: "r"})[0]) {
		s := a.Parent.Name + " " + a.Parent.Section + " " + manifest.FormatInt(int(a.Port)) + " " + string(a.State)
		if a.Missing {
			s += " missing"
		}
		got = append(got, s)
	}
	equal(t, "verdicts", got, []string{"gw  0 Accepted", "gw  3 Unknown", "gw  1 NoMatchingListenerHostname",
		"gw  9 NoMatchingParent",
		"gw kind 0 NotAllowedByListeners", "missing  0 NoMatchingParent missing"})
}

func TestGRPCRouteAttachesLikeHTTPRoute(t *testing.T) {
	in := gatewayWith(
		`[{name: a, protocol: HTTP}, {name: b, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}]}}]`) +
		strings.Replace(routeWith(`{parentRefs: [{name: gw}]}`), "HTTPRoute", "GRPCRoute", 1)
	equal(t, "attachments", build(t, in).table(t, "GRPCRoute", "r"),
		[]string{"a Accepted <", "b NotAllowedByListeners"})
}

func TestMissingGatewayInACluster(t *testing.T) { // G10
	all := objects(t, routeWith(`{parentRefs: [{name: lost}, {name: lost, namespace: far}]}`))
	table := func(c *model.Cluster) []string {
		in := model.NewSnapshot(all, nil)
		in.Cluster = c
		g := testGraph{Graph(in, model.Settings{})}
		var out []string
		for _, a := range g.Attachments(g.Lookup(all[0].Ref)[0]) {
			out = append(out, fmt.Sprintf("%s %s %t", a.Parent.Namespace, a.State, a.Missing))
		}
		for _, id := range g.Parents(topology.Traffic, g.Lookup(all[0].Ref)[0]) {
			out = append(out, "below "+g.Node(id).Ref.String())
		}
		return out
	}
	equal(t, "manifests", table(nil), []string{"demo NoMatchingParent true", "far NoMatchingParent true"})
	equal(t, "a whole cluster", table(&model.Cluster{}), []string{"demo NoMatchingParent false",
		"far NoMatchingParent false"})
	gap := model.UnreadObjects{Kind: gatewayapi.GatewayKind, Except: []string{"demo"}}
	equal(t, "one namespace", table(&model.Cluster{Unread: []model.UnreadObjects{gap}}),
		[]string{"demo NoMatchingParent false", "far Unknown true", "below gateway/far/lost"})
}
