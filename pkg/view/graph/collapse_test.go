package graph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// standsFor finds for every node of a topology the one that it is drawn as, from what the drawing
// itself says.
func standsFor(t *testing.T, from, drawn *Topology) map[string]string {
	t.Helper()
	byID, byMember := map[string]string{}, map[string]string{}
	for _, n := range drawn.Nodes {
		byID[n.ID] = n.ID
		for _, m := range n.Members {
			key := n.Labels["state"] + " " + refID(m)
			if n.Kind == string(topology.Namespace) {
				key = " " + refID(m)
			}
			if byMember[key] != "" {
				t.Fatalf("%s is in %s and in %s", key, byMember[key], n.ID)
			}
			byMember[key] = n.ID
		}
	}
	out := map[string]string{}
	for _, n := range from.Nodes {
		whole := n.Ref.WithoutSection()
		for _, id := range []string{byID[n.ID], byMember[n.Labels["state"]+" "+refID(n.Ref)], byID[refID(whole)],
			byMember[" "+refID(whole)]} {
			if id != "" {
				out[n.ID] = id
				break
			}
		}
		if out[n.ID] == "" && n.Labels["state"] == stateMissing { // in its namespace, which counts it
			out[n.ID] = namespaceNode(drawn, n.Ref.Namespace)
		}
		if out[n.ID] == "" {
			t.Fatalf("%s is drawn as nothing", n.ID)
		}
	}
	return out
}

// namespaceNode is the node that stands for a namespace.
func namespaceNode(t *Topology, namespace string) string {
	for _, n := range t.Nodes {
		if n.Kind == string(topology.Namespace) && n.Ref.Namespace == namespace {
			return n.ID
		}
	}
	return ""
}

// Edges of a collapsed drawing count those of the whole one, and say of them together what is true
// of them.
func TestCollapseEdges(t *testing.T) {
	for seed := range uint64(150) {
		whole := Build(viewtest.ResolutionOf(t, randomDocs(rand.New(rand.NewPCG(seed, 4)))...), Query{})
		for _, level := range []string{CollapseRules, CollapseRoute, CollapseNamespace} {
			drawn := whole.Collapse(level, nil)
			as := standsFor(t, whole, drawn)
			want := map[string][]string{}
			for _, e := range whole.Edges {
				if as[e.From] != as[e.To] {
					key := fmt.Sprint(as[e.From], " ", edgeKindOf(&e), " ", as[e.To], " ", e.State == EdgeDangling)
					want[key] = append(want[key], e.stateWord())
				}
			}
			for _, e := range drawn.Edges {
				key := fmt.Sprint(e.From, " ", edgeKindOf(&e), " ", e.To, " ", e.State == EdgeDangling)
				words := want[key]
				delete(want, key)
				if len(words) != max(1, e.Count) {
					t.Fatalf("seed %d, %s: %v stands for %v", seed, level, e, words)
				}
				if word := together(words); e.stateWord() != word {
					t.Fatalf("seed %d, %s: %v is %q, want %q of %v", seed, level, e, e.stateWord(), word, words)
				}
			}
			if len(want) > 0 {
				t.Fatalf("seed %d, %s: not drawn: %v", seed, level, want)
			}
			if drawn.Collapsed != level || whole.Collapsed != "" {
				t.Fatalf("it is collapsed to %q, %q", drawn.Collapsed, whole.Collapsed)
			}
		}
	}
}

// together is what is true of several edges.
func together(words []string) string {
	all := func(word string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return w != word })
	}
	for _, word := range []string{"", EdgeFullyEffective, EdgeFullyOverridden, EdgeDangling, EdgeTaken} {
		if all(word) {
			return word
		}
	}
	if !slices.Contains(words, EdgeFullyEffective) && !slices.Contains(words, EdgePartial) {
		return EdgeFullyOverridden
	}
	return EdgePartial
}

// shopDocs are routes of which some look alike.
func shopDocs() []string {
	docs := []string{viewtest.GatewayDoc("infra", "g"), viewtest.CacheDoc("infra", "all",
		"defaults: {strategy: merge, a: 1}", "Gateway/g")}
	for i := range 12 {
		name := fmt.Sprintf("h%02d", i)
		docs = append(docs, viewtest.RouteDoc("app", name, 2, "infra/g"), viewtest.ServiceDoc("app", name))
		switch {
		case i < 4: // with a policy that wins
			docs = append(docs, viewtest.CacheDoc("app", "p"+name, "a: 2", "HTTPRoute/"+name))
		case i < 6: // with one for a rule
			docs = append(docs, viewtest.CacheDoc("app", "p"+name, "a: 2", "HTTPRoute/"+name+"/r0"))
		case i == 6: // with one of its own sort
			docs = append(docs, viewtest.CacheDoc("app", "p"+name, "b: 2", "HTTPRoute/"+name))
		}
	}
	return append(docs, viewtest.RouteDoc("app", "other", 1, "infra/g/http"), viewtest.ServiceDoc("app", "other"))
}

// Routes with the same parents and policies are one node, and so are their policies and Services.
func TestCollapseRoutes(t *testing.T) {
	g := Build(viewtest.ResolutionOf(t, shopDocs()...), Query{}).Collapse(CollapseRoute, nil)
	var got []string
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Ref.Namespace == "app" {
			name := n.CollectiveName()
			if name == "" {
				name = n.Ref.Kind + " " + n.Ref.Name
			}
			got = append(got, name+" rules "+n.Labels[labelRules])
		}
	}
	slices.Sort(got)
	want := []string{
		"2 Caches in app (ph04, ph05) rules ", "2 HTTPRoutes in app (h04, h05) rules 4",
		"2 Services in app (h04, h05) rules ",
		"4 Caches in app (ph00, ph01, ph02, …) rules ", "4 HTTPRoutes in app (h00, h01, h02, …) rules 8",
		"4 Services in app (h00, h01, h02, …) rules ",
		"5 HTTPRoutes in app (h07, h08, h09, …) rules 10", "5 Services in app (h07, h08, h09, …) rules ",
		"Cache ph06 rules ", "HTTPRoute h06 rules 2", "HTTPRoute other rules 1", "Service h06 rules ",
		"Service other rules ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// A namespace is one node, with what is in it told.
func TestCollapseNamespace(t *testing.T) {
	docs := append(shopDocs(), viewtest.CacheDoc("app", "lost", "a: 1", "HTTPRoute/gone"))
	g := Build(viewtest.ResolutionOf(t, docs...), Query{}).Collapse(CollapseNamespace, nil)
	at := slices.IndexFunc(g.Nodes, func(n GraphNode) bool { return n.Kind == string(topology.Namespace) })
	if at < 0 {
		t.Fatal("no namespace is drawn")
	}
	n := &g.Nodes[at]
	if got, want := n.CollectiveName(), "Namespace app: 13 HTTPRoutes, 25 rules, 8 Caches, 13 Services"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := n.Labels[labelPolicies], "7 effective, 1 dangling"; got != want || n.Labels[labelMissing] != "1" ||
		len(n.Members) != 34 {
		t.Errorf("policies %s, want %s; missing %s, members %d", got, want, n.Labels[labelMissing], len(n.Members))
	}
}

// What the drawing is about, and the way of a request, stay to be seen.
func TestCollapseKeeps(t *testing.T) {
	r := viewtest.ResolutionOf(t, shopDocs()...)
	route := r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "HTTPRoute", Namespace: "app", Name: "h08"})
	rule := r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "HTTPRoute", Namespace: "app", Name: "h08",
		Section: "r1"})
	gateway := r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "Gateway", Namespace: "infra", Name: "g",
		Section: "http"})
	for _, level := range []string{CollapseRules, CollapseRoute, CollapseNamespace} {
		g := Build(r, Query{Focus: rule, Depth: 9}).Collapse(level, nil)
		if !slices.ContainsFunc(g.Nodes, func(n GraphNode) bool {
			return n.ID == g.Focus[0] &&
				n.Kind == string(topology.Rule)
		}) {
			t.Errorf("%s: the focus is gone", level)
		}
		g = Build(r, Query{RequestNodes: slices.Concat(gateway, route, rule)}).Collapse(level, nil)
		taken := map[string]int{}
		for _, e := range g.Edges {
			taken[e.State]++
		}
		marked := 0
		for _, n := range g.Nodes {
			if n.Labels["request"] == EdgeTaken {
				marked++
			}
		}
		if taken[EdgeTaken] != 1 || marked != 2 {
			t.Errorf("%s: %d edges and %d nodes are marked", level, taken[EdgeTaken], marked)
		}
	}
}

// By itself a picture leaves out only what it has to, and is small in the end, whatever there is.
func TestCollapseAuto(t *testing.T) {
	for name, tc := range map[string]struct {
		routes, namespaces, gateways, own int
		want                              string
	}{
		"little":              {10, 1, 1, 1, ""},
		"many rules":          {30, 3, 1, 0, CollapseRules},
		"many routes":         {400, 3, 1, 2, CollapseRoute},
		"many namespaces":     {400, 100, 2, 3, CollapseNamespace},
		"many Gateways":       {400, 200, 100, 1, CollapseNamespace},
		"nothing looks alike": {120, 120, 120, 2, CollapseNamespace},
	} {
		var docs []string
		for i := range tc.gateways {
			docs = append(docs, viewtest.GatewayDoc("infra", fmt.Sprint("g", i)), viewtest.CacheDoc("infra",
				fmt.Sprint("all", i), "defaults: {a: 1}", fmt.Sprint("Gateway/g", i)))
		}
		for i := range tc.routes {
			space, name := fmt.Sprint("n", i%tc.namespaces), fmt.Sprint("h", i)
			docs = append(docs, viewtest.RouteDoc(space, name, 1+9*boolRank(tc.want == CollapseRules),
				fmt.Sprint("infra/g", i%tc.gateways)))
			if tc.own > 0 && i%tc.own == 0 {
				docs = append(docs, viewtest.CacheDoc(space, "p"+name, "a: 2", "HTTPRoute/"+name))
			}
		}
		whole := Build(viewtest.ResolutionOf(t, docs...), Query{})
		g := whole.Collapse(CollapseAuto, nil)
		if g.Collapsed != tc.want || !g.isReadable() {
			t.Errorf("%s: %q with %d nodes", name, g.Collapsed, len(g.Nodes))
		}
		routes := 0
		for _, n := range g.Nodes {
			if n.Kind == string(topology.Route) {
				routes += max(1, len(n.Members))
			}
			for _, m := range n.Members {
				if n.Kind == string(topology.Namespace) && m.Kind == "HTTPRoute" {
					routes++
				}
			}
		}
		if routes != tc.routes {
			t.Errorf("%s: %d of %d routes are told", name, routes, tc.routes)
		}
	}
}

// Names that look like those of collapsed nodes are others.
func TestCollapseHostileNames(t *testing.T) {
	r := viewtest.ResolutionOf(t, viewtest.GatewayDoc("infra", "g"), viewtest.RouteDoc("app", "a", 1, "infra/g"),
		viewtest.RouteDoc("app", "b", 1, "infra/g"),
		`{apiVersion: v1, kind: Namespace, metadata: {name: app}}`,
		`{apiVersion: +x.io/v1, kind: "+HTTPRoute", metadata: {name: a, namespace: app}}`,
		`{apiVersion: x.io/v1, kind: Cache, metadata: {name: "<script>\"\\`+"\\u202e"+
			`", namespace: app}, spec: {targetRef: {group: `+viewtest.GatewayGroup+
			`, kind: HTTPRoute, name: a}, a: 1}}`)
	for _, level := range CollapseLevels() {
		ids := map[string]int{}
		for _, n := range Build(r, Query{}).Collapse(level, nil).Nodes {
			ids[n.ID]++
		}
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if ids[id] > 1 {
				t.Errorf("%s: %d nodes are called %s", level, ids[id], id)
			}
		}
	}
}
