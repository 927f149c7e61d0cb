package build

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// objects reads YAML documents; an object's origin is the number of its document.
func objects(t *testing.T, manifests string) []*model.Object {
	t.Helper()
	var out []*model.Object
	dec := yaml.NewDecoder(strings.NewReader(manifests))
	for i := 1; ; i++ {
		var doc map[string]any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, object(jsonValue(doc).(map[string]any), model.Origin{File: "in.yaml", Line: i}))
	}
}

func object(body map[string]any, at model.Origin) *model.Object {
	group, version, ok := strings.Cut(model.Text(body, "apiVersion"), "/")
	if !ok {
		group, version = "", group
	}
	o := &model.Object{Version: version, Body: model.Pack(body, nil), Origin: at, Ref: model.Ref{
		Group: group, Kind: model.Text(body, "kind"),
		Namespace: model.Text(body, "metadata", "namespace"), Name: model.Text(body, "metadata", "name"),
	}}
	labels, _ := model.Get(body, "metadata", "labels").(map[string]any)
	for key := range labels {
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[key] = model.Text(labels, key)
	}
	return o
}

// jsonValue turns what the YAML decoder makes of numbers into what objects hold.
func jsonValue(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = jsonValue(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = jsonValue(v[key])
		}
	}
	return v
}

// testGraph is a graph that tests describe.
type testGraph struct{ *topology.Graph }

func build(t *testing.T, manifests string) testGraph {
	t.Helper()
	return testGraph{Graph(model.NewSnapshot(objects(t, manifests), nil), model.Settings{})}
}

// name is a short name of a node: its section if it has one, else its name.
func (g testGraph) name(id topology.NodeID) string {
	ref := g.Node(id).Ref
	if ref.Section != "" {
		return ref.Section
	}
	return ref.Name
}

// paths lists every path from a class, or from a gateway without one, down to where the edges end.
func (g testGraph) paths() []string {
	var out []string
	var walk func(id topology.NodeID, way string)
	walk = func(id topology.NodeID, way string) {
		way += g.name(id)
		below := g.Children(topology.Traffic, id)
		if len(below) == 0 {
			out = append(out, way)
		}
		for _, c := range below {
			walk(c, way+" > ")
		}
	}
	for _, id := range g.Order(topology.Traffic) {
		switch role := g.Node(id).Role; {
		case role == topology.GatewayClass, role == topology.Gateway && len(g.Parents(topology.Traffic, id)) == 0:
			walk(id, "")
		}
	}
	return out
}

// table writes the attachments of a route of namespace demo, one a line.
func (g testGraph) table(t *testing.T, kind, name string) []string {
	t.Helper()
	ids := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: kind, Namespace: "demo", Name: name})
	if len(ids) != 1 {
		t.Fatalf("route %s: nodes %v", name, ids)
	}
	var out []string
	for _, a := range g.Attachments(ids[0]) {
		listener := "-"
		if a.Listener != topology.None {
			listener = g.name(a.Listener)
		}
		line := listener + " " + string(a.State)
		for _, h := range a.Hostnames {
			line += " " + h.Effective + "<" + h.Configured
		}
		if a.Reason == "" {
			t.Errorf("%s: no reason", line)
		}
		out = append(out, line)
	}
	return out
}

// codes writes the problems as "severity code ref: message".
func (g testGraph) codes() []string {
	var out []string
	for _, p := range g.Problems() {
		s := string(p.Severity) + " " + string(p.Code)
		if p.Ref != nil {
			s += " " + p.Ref.String()
		}
		out = append(out, s+": "+p.Message)
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  got  %s\n  want %s", what, strings.Join(got, "\n       "), strings.Join(want, "\n       "))
	}
}

// The parts that most tests need: a class, a namespace, a gateway with one open listener, a
// Service.
const (
	class = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
---
`
	demo = `
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
`
	gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: demo}
spec:
  gatewayClassName: class
  listeners:
  - {name: web, port: 80, protocol: HTTP}
---
`
	service = `
apiVersion: v1
kind: Service
metadata: {name: b, namespace: demo}
spec:
  ports:
  - {name: http, port: 80}
  - {port: 8080}
---
`
)

// gatewayWith is a Gateway with the given listeners, a flow list of YAML.
func gatewayWith(listeners string) string {
	return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: demo}
spec: {gatewayClassName: class, listeners: ` + listeners + `}
---
`
}

// routeWith is an HTTPRoute called r in namespace demo with the given spec, a flow map of YAML.
func routeWith(spec string) string {
	return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: demo}
spec: ` + spec + `
---
`
}

func TestPaths(t *testing.T) {
	route := routeWith(
		`{parentRefs: [{name: gw}], rules: [{backendRefs: [{name: b, port: 80}]}, {name: alt, backendRefs: [{name: b, port: 8080}]}]}`)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"all levels; the Service and its port are two ends", class + demo + gateway + route + service, []string{
			"class > gw > web > r > rule-1 > b", "class > gw > web > r > rule-1 > http",
			"class > gw > web > r > alt > b", "class > gw > web > r > alt > 8080",
		}},
		{"a class that is only named", gateway + route + service, []string{
			"class > gw > web > r > rule-1 > b", "class > gw > web > r > rule-1 > http",
			"class > gw > web > r > alt > b", "class > gw > web > r > alt > 8080",
		}},
		{"no route", class + gateway, []string{"class > gw > web"}},
		{"an HTTPRoute without rules has one", gateway + routeWith(`{parentRefs: [{name: gw}]}`),
			[]string{"class > gw > web > r > rule-1"}},
		{"a GRPCRoute without rules has none", gateway + strings.Replace(routeWith(`{parentRefs: [{name: gw}]}`),
			"HTTPRoute", "GRPCRoute", 1),
			[]string{"class > gw > web > r"}},
		{"any version is the kind", strings.ReplaceAll(gateway+route+service, "k8s.io/v1", "k8s.io/v1beta1"), []string{
			"class > gw > web > r > rule-1 > b", "class > gw > web > r > rule-1 > http",
			"class > gw > web > r > alt > b", "class > gw > web > r > alt > 8080",
		}},
		{"two listeners are two paths",
			gatewayWith(`[{name: a, port: 80, protocol: HTTP}, {name: b, port: 443, protocol: HTTPS}]`) +
				routeWith(`{parentRefs: [{name: gw}]}`), []string{"class > gw > a > r > rule-1",
				"class > gw > b > r > rule-1"}},
		{"two parentRefs to one listener are one edge",
			gateway + routeWith(`{parentRefs: [{name: gw}, {name: gw, sectionName: web}]}`),
			[]string{"class > gw > web > r > rule-1"}},
		{"a mirror is no edge", gateway + service + routeWith(`{parentRefs: [{name: gw}],
			rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: b, port: 80}}}]}]}`), []string{"class > gw > web > r > rule-1"}},
		{"a refused route is on no path", gateway + routeWith(`{parentRefs: [{name: gw, sectionName: x}]}`),
			[]string{"class > gw > web"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { equal(t, "paths", build(t, tt.in).paths(), tt.want) })
	}
}

// definition is the CRD of a kind.
func definition(group, kind string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {group: " +
		group + ", names: {kind: " + kind + "}}\n---\n"
}

func TestOrderHasParentsFirst(t *testing.T) {
	g := build(t, class+gateway+service+definition("x.example.com", "Thing")+routeWith(`{parentRefs: [{name: gw}],
		rules: [{backendRefs: [{name: late, port: 1}, {name: b, port: 80}, {group: x.example.com, kind: Thing, name: t}]}]}`))
	at := map[topology.NodeID]int{}
	for i, id := range g.Order(topology.Traffic) {
		at[id] = i
	}
	edges := 0
	for id := range topology.NodeID(g.Len()) {
		for _, c := range g.Children(topology.Traffic, id) {
			edges++
			if at[id] >= at[c] {
				t.Errorf("%s comes after its child %s", g.name(id), g.name(c))
			}
			if !slices.Contains(g.Parents(topology.Traffic, c), id) {
				t.Errorf("%s is not a parent of its child %s", g.name(id), g.name(c))
			}
		}
	}
	if edges != 7 { // class-gw, gw-web, web-r, r-rule, rule to late is BackendNotFound; b, http, Thing
		t.Errorf("%d edges", edges)
	}
	if g.Children("other", 0) != nil || g.Order("other") != nil {
		t.Error("an unknown family is not empty")
	}
}

func TestAbove(t *testing.T) {
	g := build(t, demo+class+gateway+service+routeWith(`{parentRefs: [{name: gw}], rules: [{backendRefs: [{name: x, namespace: far, port: 1}]}]}`)+`
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: g, namespace: far}
spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}], to: [{group: "", kind: Service}]}
`)
	want := map[topology.Role]string{topology.Gateway: "demo", topology.Route: "demo", topology.Port: "demo b"}
	for id := range topology.NodeID(g.Len()) {
		var got []string
		for _, a := range g.Above(id) {
			got = append(got, g.name(a))
		}
		w := want[g.Node(id).Role]
		if n := g.Node(id); n.Role == topology.Backend {
			w = n.Ref.Namespace
		}
		if s := strings.Join(got, " "); s != w {
			t.Errorf("above %s %s: %q, want %q", g.Node(id).Role, g.name(id), s, w)
		}
	}
	ns := g.Lookup(model.Ref{Kind: "Namespace", Namespace: "demo", Name: "demo"})
	if len(ns) != 1 || g.Node(ns[0]).Object == nil {
		t.Error("the loaded Namespace is not found")
	}
	far := g.Lookup(model.Ref{Kind: "Namespace", Name: "far"})
	if len(far) != 1 || g.Node(far[0]).Object != nil {
		t.Error("a namespace in use has no node")
	}
}

// dump writes a whole graph, ids included.
func (g testGraph) dump() string {
	var s strings.Builder
	for id := range topology.NodeID(g.Len()) {
		n := g.Node(id)
		fmt.Fprintln(&s, id, n.Role, n.Ref, n.Ref.Group, n.Index, n.Object != nil, g.Children(topology.Traffic, id),
			g.Parents(topology.Traffic, id), g.Children(topology.All, id), g.Parents(topology.Mesh, id), g.Above(id))
		if n.Role == topology.Route {
			fmt.Fprintln(&s, g.Attachments(id))
		}
	}
	for _, p := range g.Problems() {
		fmt.Fprintln(&s, p.Severity, p.Code, p.Ref, p.Origin, p.Message, p.Hint)
	}
	fmt.Fprintln(&s, g.Order(topology.Traffic), g.Order(topology.Mesh), g.Order(topology.All))
	return s.String()
}

func TestInputOrderDoesNotMatter(t *testing.T) {
	in := demo + class + service + gatewayWith(`[{name: a, port: 80, protocol: HTTP, hostname: "*.example.com",
		allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: blue, tier: one}}}}}, {name: b, port: 81, protocol: x.example.com/y}]`) +
		strings.ReplaceAll(routeWith(`{hostnames: [a.example.com], parentRefs: [{name: gw, namespace: demo}, {name: lost}], rules: [
		{name: x, backendRefs: [{name: b, port: 80}, {name: gone, port: 1}]}, {name: x}, {name: rule-9}]}`), "namespace: demo}\nspec", "namespace: other}\nspec")
	for i := range 8 {
		in += strings.Replace(routeWith(fmt.Sprintf(`{parentRefs: [{name: gw}, {group: "", kind: Service, name: b}],
			rules: [{backendRefs: [{name: s%d, namespace: n%d, port: 1}]}]}`, i, i%3)), "name: r", fmt.Sprintf("name: r%d", i), 1)
		in += fmt.Sprintf(
			"apiVersion: gateway.networking.k8s.io/v1\nkind: TLSRoute\nmetadata: {name: t%d, namespace: demo}\n---\n",
			i)
	}
	all := objects(t, in)
	want := testGraph{Graph(model.NewSnapshot(all, nil), model.Settings{})}.dump()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := (testGraph{Graph(model.NewSnapshot(all, nil), model.Settings{})}).dump(); got != want {
			t.Fatalf("another order gives another graph:\n%s\nbefore:\n%s", got, want)
		}
	}
}
