package render

import (
	"bytes"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// shopGraph has what pictures have: two Gateways, routes in two namespaces, policies of three kinds
// in every state, a missing target, a collapsed node, a mesh, the way of a request.
func shopGraph() *graph.Topology {
	t := &graph.Topology{}
	node := func(kind string, ref model.Ref, labels map[string]string, members ...model.Ref) string {
		id := ref.GroupKind().String() + "/" + ref.FullName()
		if ref.Section != "" {
			id += "#" + ref.Section
		}
		t.Nodes = append(t.Nodes, graph.GraphNode{ID: id, Ref: ref, Kind: kind, Labels: labels, Members: members})
		return id
	}
	policy := func(kind, name string) string {
		namespace, name, _ := strings.Cut(name, "/")
		return node("policy", model.Ref{Group: "example.com", Kind: kind, Namespace: namespace, Name: name},
			map[string]string{"policyKind": kind + ".example.com"})
	}
	edge := func(from, kind, to, state string) {
		t.Edges = append(t.Edges, graph.GraphEdge{From: from, To: to, Kind: kind, State: state})
	}
	class := node("gatewayClass", model.Ref{Group: "gateway.networking.k8s.io", Kind: "GatewayClass", Name: "prod"},
		nil)
	gateway := node("gateway", external, nil)
	edge(class, "parent", gateway, "")
	cart := target("HTTPRoute", "shop/cart")
	routes := []string{node("route", baker, map[string]string{"hostnames": "bakery.example.com"}),
		node("route", cart, nil)}
	for _, name := range []string{"http", "https"} {
		listener := node("listener", external.WithSection(name), map[string]string{"port": "443", "protocol": "HTTPS",
			"hostname": "*.example.com"})
		edge(gateway, "parent", listener, "")
		for _, r := range routes {
			edge(listener, "parent", r, "")
		}
	}
	var rules []string
	for i, ref := range []model.Ref{rule1, rule2, cart.WithSection("checkout")} {
		rules = append(rules, node("rule", ref, map[string]string{"matches": "GET /orders/*"}))
		edge(routes[i/2], "parent", rules[i], "")
	}
	service := node("backend", model.Ref{Kind: "Service", Namespace: "bakery", Name: "baker"}, nil)
	edge(rules[0], "parent", service, "")
	edge(rules[1], "parent", service, "")
	many := node("route", model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "many"},
		map[string]string{"count": "4", "sample": "a, b, c"}, target("HTTPRoute", "many/a"), target("HTTPRoute",
			"many/b"), target("HTTPRoute", "many/c"), target("HTTPRoute", "many/d"))
	t.Edges = append(t.Edges, graph.GraphEdge{From: external.GroupKind().String() + "/infra/external#http", To: many,
		Kind: "parent", Count: 4})
	auth, bakerAuth, limits, lost, typo := policy("AuthPolicy", "infra/gw-auth"), policy("AuthPolicy",
		"bakery/baker"), policy("LimitPolicy", "infra/cap"), policy("LimitPolicy", "bakery/lost"),
		policy("CachePolicy", "infra/typo")
	gone := node("gateway", target("Gateway", "infra/gone"), map[string]string{"state": "not in the input"})
	edge(auth, "targets", gateway, "partial")
	edge(bakerAuth, "targets", routes[0], "effective")
	edge(limits, "targets", gateway, "effective")
	edge(lost, "targets", rules[1], "overridden")
	edge(typo, "targets", gone, "dangling")
	edge(auth, "effective", rules[2], "")
	edge(auth, "effective", rules[0], "partial")
	edge(auth, "overridden", rules[1], "")
	edge(bakerAuth, "effective", rules[1], "")
	edge(limits, "effective", many, "")
	t.Edges[len(t.Edges)-1].Count = 4
	edge(lost, "overridden", rules[1], "")
	t.Edges[len(t.Edges)-1].By = []string{limits}
	t.Finish("Topology", nil)
	return t
}

// every is each way to write DOT.
func every(t *graph.Topology) map[string][]byte {
	out := map[string][]byte{}
	for _, layout := range []picture.Layout{picture.LayoutClusters, picture.LayoutFlat} {
		for _, theme := range []picture.Theme{picture.ThemeLight, picture.ThemeDark} {
			out[string(layout)+" "+string(theme)] = picture.FormatDOT(t, picture.DOTOptions{Layout: layout,
				Theme: theme})
		}
		out[string(layout)+" links"] = picture.FormatDOT(t, picture.DOTOptions{Layout: layout,
			Links: func(id string) string { return "#/node/" + id }})
	}
	return out
}

// graphs are topologies that are drawn in tests.
func graphs() map[string]*graph.Topology {
	focused := shopGraph()
	focused.Focus = []string{"LimitPolicy.example.com/bakery/lost", "Gateway.gateway.networking.k8s.io/infra/external"}
	long := hostileGraph()
	for i := range long.Nodes {
		long.Nodes[i].Ref.Name = strings.Repeat(evil, 10)
	}
	return map[string]*graph.Topology{"graph": graphFixture(), "shop": shopGraph(), "focused": focused,
		"hostile": hostileGraph(), "long": long, "empty": {}}
}

func TestEveryDOTIsWellFormed(t *testing.T) {
	for name, g := range graphs() {
		for how, text := range every(g) {
			if err := checkDOT(string(text)); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

func TestDOTLayouts(t *testing.T) {
	for how, text := range every(shopGraph()) {
		golden(t, strings.ReplaceAll("shop "+how, " ", "-")+".dot", text)
	}
}

// graphviz has Graphviz read DOT, and returns what it wrote. It must not complain about anything.
func graphviz(t *testing.T, text []byte, format string) string {
	t.Helper()
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	var out, complaints bytes.Buffer
	cmd := exec.Command(dot, "-T"+format)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &complaints
	if err := cmd.Run(); err != nil || complaints.Len() > 0 {
		t.Fatalf("%v: %s in\n%s", err, complaints.String(), text)
	}
	return out.String()
}

func TestGraphvizReadsEveryDOT(t *testing.T) {
	for name, g := range graphs() {
		for how, text := range every(g) {
			t.Run(name+" "+how, func(t *testing.T) {
				if _, err := picture.CleanSVG([]byte(graphviz(t, text, "svg")), picture.SVGOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// spot is where Graphviz puts a node.
type spot struct{ x, y, w, h float64 }

func spots(t *testing.T, text []byte) map[string]spot {
	t.Helper()
	out := map[string]spot{}
	for line := range strings.Lines(graphviz(t, text, "plain")) {
		rest, found := strings.CutPrefix(line, "node ")
		if !found {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `" `)
		fields := strings.Fields(rest)
		var v [4]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(fields[i], 64)
		}
		out[name] = spot{v[0], v[1], v[2], v[3]}
	}
	return out
}

// The way of traffic goes from left to right, what is of one level is in one column, policies are
// left of their targets, and nothing overlaps.
func TestLevelsStandFromLeftToRight(t *testing.T) {
	g := shopGraph()
	at := spots(t, picture.FormatDOT(g, picture.DOTOptions{}))
	columns := [][]string{
		{"AuthPolicy.example.com/infra/gw-auth", "LimitPolicy.example.com/infra/cap",
			"CachePolicy.example.com/infra/typo"},
		{"Gateway.gateway.networking.k8s.io/infra/external", "Gateway.gateway.networking.k8s.io/infra/gone"},
		{"AuthPolicy.example.com/bakery/baker", "LimitPolicy.example.com/bakery/lost"},
		{"HTTPRoute.gateway.networking.k8s.io/bakery/baker", "HTTPRoute.gateway.networking.k8s.io/shop/cart",
			"HTTPRoute.gateway.networking.k8s.io/many/"},
		{"Service/bakery/baker"},
	}
	edge := -1.0
	for i, column := range columns {
		right := 0.0
		for _, id := range column {
			s, drawn := at[id]
			switch {
			case !drawn:
				t.Fatalf("%s is not drawn: %v", id, at)
			case s.x != at[column[0]].x:
				t.Errorf("%s is at %f, %s at %f: not one column", id, s.x, column[0], at[column[0]].x)
			case s.x-s.w/2 <= edge:
				t.Errorf("column %d: %s begins at %f, left of the end of the column before it, %f", i, id,
					s.x-s.w/2, edge)
			}
			right = max(right, s.x+s.w/2)
		}
		edge = right
	}
	for a, p := range at {
		for b, q := range at {
			if a < b && max(p.x-q.x, q.x-p.x) < (p.w+q.w)/2 && max(p.y-q.y, q.y-p.y) < (p.h+q.h)/2 {
				t.Errorf("%s and %s overlap", a, b)
			}
		}
	}
}

// What is drawn where does not depend on Graphviz.
func TestLayout(t *testing.T) {
	p := picture.NewPicture(shopGraph())
	var got []string
	for _, b := range p.Boxes {
		row := strconv.Itoa(b.Column) + " " + picture.FrameOf(b.Node) + " " + picture.TooltipOf(b.Node) + ":"
		for _, r := range b.Rows {
			row += " " + r.Node.Ref.Section
			for _, kind := range p.Kinds {
				for _, c := range r.Chips[kind] {
					mark, _ := picture.StateSign(c.State)
					row += mark + c.FormatLabel(b.Node) + " "
				}
			}
		}
		got = append(got, strings.TrimRight(row, " "))
	}
	want := []string{
		"3 bakery httproute/bakery/baker:  rule-1◐infra/gw-auth  rule-2●baker ○infra/gw-auth ○lost",
		"4 bakery service/bakery/baker:",
		"1 infra gateway/infra/external:  http https",
		"1 infra gateway/infra/gone:",
		"3 many 4 HTTPRoutes in many (a, b, c, …): ●infra/cap ×4",
		"3 shop httproute/shop/cart:  checkout●infra/gw-auth",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A policy's single edges are drawn only if the drawing is about it.
func TestFocus(t *testing.T) {
	single := func(g *graph.Topology) (out []string) {
		for _, l := range picture.NewPicture(g).Edges {
			if l.Kind == graph.EdgeEffective || l.Kind == graph.EdgeOverridden {
				out = append(out, picture.TooltipOf(l.From.Note.Node)+" "+l.State+" "+l.Label)
			}
		}
		return out
	}
	if got := single(shopGraph()); got != nil {
		t.Errorf("without a focus: %q", got)
	}
	if got, want := single(graphs()["focused"]), []string{"limitpolicy/bakery/lost overridden by cap"}; !slices.Equal(
		got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The drawing of a picture does not depend on the order of the graph.
func TestLayoutsDoNotDependOnOrder(t *testing.T) {
	turned := shopGraph()
	slices.Reverse(turned.Nodes)
	slices.Reverse(turned.Edges)
	other := every(turned)
	for how, text := range every(shopGraph()) {
		if !bytes.Equal(text, other[how]) {
			t.Errorf("%s: the order of nodes and edges shows", how)
		}
	}
}

// Programs that read flat graphs split labels at \n and find every node declared.
func TestFlatLayout(t *testing.T) {
	text := string(picture.FormatDOT(shopGraph(), picture.DOTOptions{Layout: picture.LayoutFlat}))
	for _, want := range []string{`label="HTTPRoute\nbakery/baker#rule-1"`, `label="Gateway\ninfra/external#http"`,
		`label="AuthPolicy\ninfra/gw-auth"`, `label="GatewayClass\nprod"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "subgraph") || strings.Contains(text, "overridden by") ||
		strings.Count(text, "[label=") != len(shopGraph().Nodes) {
		t.Error(text)
	}
}

// Graphviz looks for escapes in labels, and finds none in names.
func TestBackslashesAreText(t *testing.T) {
	g := &graph.Topology{Nodes: []graph.GraphNode{{ID: "a", Ref: model.Ref{Kind: "Gateway", Namespace: `s\N`,
		Name: `\N\G\\l`}, Kind: "gateway"}}}
	got := graphviz(t, picture.FormatDOT(g, picture.DOTOptions{Links: func(string) string { return "#x" }}), "svg")
	for _, want := range []string{`>\N\G\\l<`, `>s\N<`, `gateway/s\N/\N\G\\l`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// Sections whose object is not drawn, as at the rim of a focus, say whose they are.
func TestSectionsWithoutTheirObject(t *testing.T) {
	g := &graph.Topology{Nodes: []graph.GraphNode{{ID: "a", Ref: rule1, Kind: "rule"},
		{ID: "b", Ref: rule2, Kind: "rule"}}}
	p := picture.NewPicture(g)
	if len(p.Boxes) != 1 || len(p.Boxes[0].Rows) != 3 ||
		picture.TooltipOf(p.Boxes[0].Node) != "httproute/bakery/baker" ||
		p.Boxes[0].Rows[2].Node.Ref.Section != "rule-2" {
		t.Errorf("%+v", p.Boxes)
	}
	text := string(picture.FormatDOT(g, picture.DOTOptions{Links: func(id string) string { return "#" + id }}))
	if strings.Count(text, "HREF=") != 2 {
		t.Errorf("what is no node leads somewhere, or a node nowhere:\n%s", text)
	}
}
