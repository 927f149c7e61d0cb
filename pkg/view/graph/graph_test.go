package graph

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
)

// randomDocs are routes, and policies with one or two targets, some of which are missing.
func randomDocs(r *rand.Rand) []string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	docs := []string{viewtest.GatewayDoc("app", "g0"), viewtest.GatewayDoc("app", "g1")}
	if r.IntN(2) == 0 {
		docs = append(docs,
			fmt.Sprintf("{apiVersion: %s/v1, kind: GatewayClass, metadata: {name: c}, spec: {controllerName: x.io/c}}",
				viewtest.GatewayGroup))
	}
	targets := []string{"Gateway/g0", "Gateway/g1", "Gateway/g0/http", "Gateway/g1/https", "Gateway/gone",
		"Gateway/g0/gone", "HTTPRoute/gone", "HTTPRoute/gone/x", "Service/h0"}
	for i := range 2 + r.IntN(6) {
		name := fmt.Sprintf("h%d", i)
		parents := []string{pick("app/g0", "app/g1", "app/g0/http", "app/g1/https")}
		if r.IntN(3) == 0 {
			parents = append(parents, pick("app/gone", "app/g1/gone", "app/gone/x"))
		}
		rules := 1 + r.IntN(3)
		docs = append(docs, viewtest.RouteDoc("app", name, rules, parents...))
		targets = append(targets, "HTTPRoute/"+name, "HTTPRoute/"+name+"/gone")
		for j := range rules {
			targets = append(targets, fmt.Sprintf("HTTPRoute/%s/r%d", name, j))
		}
		if r.IntN(2) == 0 {
			docs = append(docs, viewtest.ServiceDoc("app", name))
		}
	}
	for i := range 3 + r.IntN(8) {
		own := []string{pick(targets...)}
		if other := pick(targets...); r.IntN(2) == 0 && other != own[0] {
			own = append(own, other)
		}
		field := func() string { return fmt.Sprintf("%s: %d", pick("a", "b", "c"), r.IntN(3)) }
		spec := pick(field(), "defaults: {"+field()+"}", "overrides: {"+field()+"}", "defaults: {strategy: merge, "+
			field()+"}", "overrides: {strategy: merge, "+field()+"}")
		docs = append(docs, viewtest.CacheDoc("app", fmt.Sprintf("p%d", i), spec, own...))
	}
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return docs
}

// told is what the other commands say became of a policy somewhere.
type told struct {
	won, lost bool
	by        []string
}

func (f *told) state() string { return (&enforcement{won: f.won, lost: f.lost}).edgeState() }

// What an edge says is what `effective` and `overridden` say: of the policy at the target where it
// is in force, and of the policy through the target that it is attached to.
func TestGraphStates(t *testing.T) {
	states := map[string]int{}
	for seed := range uint64(300) {
		r := viewtest.ResolutionOf(t, randomDocs(rand.New(rand.NewPCG(seed, 1)))...)
		at, through := toldBy(r)
		g := Build(r, Query{})
		for _, e := range g.Edges {
			var want *told
			switch key := [2]string{e.From, e.To}; {
			case e.Kind == EdgeParent, e.State == EdgeDangling:
				states[e.Kind+" "+e.State]++
				continue
			case e.Kind == EdgeTargets:
				want = through[key]
				delete(through, key)
			default:
				want = at[key]
				delete(at, key)
			}
			if want == nil {
				want = &told{}
			}
			if got := e.stateWord(); got != want.state() {
				t.Fatalf("seed %d: %s %s %s is %q, want %q", seed, e.From, e.Kind, e.To, got, want.state())
			}
			slices.Sort(want.by)
			by := slices.Compact(want.by)
			if e.Kind != EdgeTargets {
				by = slices.DeleteFunc(by, func(id string) bool { return id == e.From })
			}
			if !slices.Equal(e.By, by) {
				t.Fatalf("seed %d: %s %s %s by %v, want %v", seed, e.From, e.Kind, e.To, e.By, by)
			}
			states[e.Kind+" "+e.stateWord()]++
		}
		if len(at)+len(through) > 0 {
			t.Fatalf("seed %d: not drawn: %v %v", seed, at, through)
		}
	}
	for _, state := range []string{"parent ", "parent dangling", "targets ", "targets effective", "targets partial",
		"targets overridden", "targets dangling", "effective effective", "effective partial", "overridden overridden"} {
		if states[state] < 20 {
			t.Errorf("only %d times %q", states[state], state)
		}
	}
}

// toldBy gathers from the other answers what became of every policy at every effective target, and
// through every target of its own.
func toldBy(r *resolve.Resolution) (at, through map[[2]string]*told) {
	at, through = map[[2]string]*told{}, map[[2]string]*told{}
	note := func(s view.Source, target model.Ref, add func(*told)) {
		for _, entry := range []struct {
			of  map[[2]string]*told
			key [2]string
		}{{at, [2]string{refID(*s.Policy), refID(target)}}, {through, [2]string{refID(*s.Policy), refID(*s.Target)}}} {
			if entry.of[entry.key] == nil {
				entry.of[entry.key] = &told{}
			}
			add(entry.of[entry.key])
		}
	}
	for _, item := range effective.List(r, view.Query{}).Items {
		for _, rule := range item.Rules {
			for _, s := range rule.Sources {
				note(s, item.Target, func(f *told) { f.won = true })
			}
		}
	}
	for _, item := range overridden.List(r, view.Query{}, nil, "").Items {
		if item.Reason == "NoEffect" {
			continue
		}
		note(item.Source, item.Target, func(f *told) {
			f.lost = true
			for _, to := range item.LostTo {
				f.by = append(f.by, refID(*to.Policy))
			}
		})
	}
	return at, through
}

// What is named and missing is drawn, and so is the way to it.
func TestGraphDangling(t *testing.T) {
	r := viewtest.ResolutionOf(t, viewtest.GatewayDoc("app", "g"), viewtest.RouteDoc("app", "h", 1, "app/g",
		"app/gone/x", "app/g/nope"),
		viewtest.CacheDoc("app", "p", "a: 1", "HTTPRoute/h/nope", "Gateway/absent",
			"Gateway/g"), viewtest.CacheDoc("app", "q", "a: 1", "HTTPRoute/absent/x"),
		`{apiVersion: x.io/v1, kind: Cache, metadata: {name: none, namespace: app}, spec: {a: 1}}`)
	g := Build(r, Query{})
	var got []string
	for _, e := range g.Edges {
		if e.State == EdgeDangling {
			got = append(got, strings.ReplaceAll(e.From+" "+e.Kind+" "+e.To, "."+viewtest.GatewayGroup, ""))
		}
	}
	want := []string{
		"Cache.x.io/app/p targets Gateway/app/absent", "Cache.x.io/app/p targets HTTPRoute/app/h#nope",
		"Cache.x.io/app/q targets HTTPRoute/app/absent#x",
		"Gateway/app/g parent Gateway/app/g#nope", "Gateway/app/g#nope parent HTTPRoute/app/h",
		"Gateway/app/gone parent Gateway/app/gone#x",
		"Gateway/app/gone#x parent HTTPRoute/app/h", "HTTPRoute/app/absent parent HTTPRoute/app/absent#x",
		"HTTPRoute/app/h parent HTTPRoute/app/h#nope",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	for _, n := range g.Nodes {
		switch n.ID {
		case "Gateway." + viewtest.GatewayGroup + "/app/gone", "Gateway." + viewtest.GatewayGroup + "/app/g#nope",
			"HTTPRoute." + viewtest.GatewayGroup + "/app/h#nope":
			if n.Labels["state"] != stateMissing {
				t.Errorf("%s is %q", n.ID, n.Labels["state"])
			}
		case "Cache.x.io/app/none":
			if n.Labels["state"] != stateNotAttached {
				t.Errorf("%s is %q", n.ID, n.Labels["state"])
			}
		case "Gateway." + viewtest.GatewayGroup + "/app/g", "Cache.x.io/app/p":
			if n.Labels["state"] != "" {
				t.Errorf("%s is %q", n.ID, n.Labels["state"])
			}
		}
	}
}

// A Service is missing only where the Services of its namespace are known; elsewhere it is assumed
// to exist, as a GatewayClass is.
func TestGraphAssumed(t *testing.T) {
	docs := []string{viewtest.GatewayDoc("app", "g"), viewtest.RouteDoc("app", "h", 1, "app/g")}
	for _, c := range []struct {
		name, state, edge string
		docs              []string
	}{
		{"no Service known", "assumed to exist", "", docs},
		{"another known", stateMissing, EdgeDangling,
			append(docs,
				"{apiVersion: v1, kind: Service, metadata: {name: other, namespace: app}, spec: {ports: [{port: 80}]}}")},
	} {
		g := Build(viewtest.ResolutionOf(t, c.docs...), Query{})
		for _, n := range g.Nodes {
			if n.ID == "Service/app/h" && n.Labels["state"] != c.state || n.Ref.Kind == "GatewayClass" &&
				n.Labels["state"] != "assumed to exist" {
				t.Errorf("%s: %s is %q", c.name, n.ID, n.Labels["state"])
			}
		}
		for _, e := range g.Edges {
			if e.To == "Service/app/h" && e.State != c.edge || e.To == "Gateway."+viewtest.GatewayGroup+"/app/g" &&
				e.State != "" {
				t.Errorf("%s: %s to %s is %q", c.name, e.From, e.To, e.State)
			}
		}
	}
}

// Every edge of a drawing joins two of its nodes, whatever it is narrowed to; and nothing in it
// depends on the order of the documents.
func TestGraphWhole(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		docs := randomDocs(random)
		r := viewtest.ResolutionOf(t, docs...)
		random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		again := viewtest.ResolutionOf(t, docs...)
		for i := range queriesOf(r) {
			g, h := Build(r, queriesOf(r)[i]), Build(again, queriesOf(again)[i])
			for _, level := range CollapseLevels() {
				one, other := g.Collapse(level, nil), h.Collapse(level, nil)
				drawn := map[string]bool{}
				for _, n := range one.Nodes {
					if drawn[n.ID] {
						t.Fatalf("seed %d, query %d, %s: two nodes %s", seed, i, level, n.ID)
					}
					drawn[n.ID] = true
				}
				for _, e := range one.Edges {
					if !drawn[e.From] || !drawn[e.To] {
						t.Fatalf("seed %d, query %d, %s: %v joins what is not drawn", seed, i, level, e)
					}
				}
				for _, id := range one.Focus {
					if !drawn[id] {
						t.Fatalf("seed %d, query %d, %s: the focus %s is not drawn", seed, i, level, id)
					}
				}
				if a, b := drawnAs(t, one), drawnAs(t, other); a != b {
					t.Fatalf("seed %d, query %d, %s: the order of the documents matters:\n%s\n%s", seed, i, level, a, b)
				}
			}
		}
	}
}

// queriesOf are different questions about one input.
func queriesOf(r *resolve.Resolution) []Query {
	out := []Query{{},
		{Query: view.Query{Targets: r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "Gateway",
			Namespace: "app", Name: "g0"})}},
		{Query: view.Query{Targets: r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "HTTPRoute",
			Namespace: "app", Name: "h1"})}},
		{Focus: r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "HTTPRoute", Namespace: "app", Name: "h0",
			Section: "r0"}), Depth: 2}}
	for _, p := range r.Kind(model.GroupKind{Group: "x.io", Kind: "Cache"}).Policies {
		out = append(out, Query{Affected: p}, Query{FocusPolicies: []*policy.Policy{p}, Depth: 1})
	}
	return out
}

// drawnAs is what is drawn, without the problems, which have lines of files.
func drawnAs(t *testing.T, g *Topology) string {
	t.Helper()
	text, err := json.Marshal([]any{g.Focus, g.Collapsed, g.Nodes, g.Edges})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Only the policy, what it beats and what beats it are drawn, and only what it reaches.
func TestGraphAffected(t *testing.T) {
	for seed := range uint64(200) {
		r := viewtest.ResolutionOf(t, randomDocs(rand.New(rand.NewPCG(seed, 3)))...)
		at, _ := toldBy(r)
		for _, p := range r.Kind(model.GroupKind{Group: "x.io", Kind: "Cache"}).Policies {
			id := refID(p.Ref())
			want := map[string]bool{id: true}
			reached := map[string]bool{}
			for key, f := range at {
				if key[0] == id {
					reached[key[1]] = true
					for _, by := range f.by {
						want[by] = true
					}
				} else if slices.Contains(f.by, id) {
					want[key[0]] = true
				}
			}
			g := Build(r, Query{Affected: p})
			for _, n := range g.Nodes {
				if n.Kind == policyKind && !want[n.ID] {
					t.Fatalf("seed %d: %s is drawn for %s", seed, n.ID, id)
				}
				if n.Kind == string(topology.Rule) && n.Labels["state"] == "" && !reached[n.ID] &&
					!slices.ContainsFunc(g.Edges, func(e GraphEdge) bool {
						return e.Kind == EdgeTargets && e.From == id && e.To == n.ID || e.Kind == EdgeParent &&
							e.From == n.ID && at[[2]string{id, e.To}] != nil
					}) {
					t.Fatalf("seed %d: %s is drawn for %s", seed, n.ID, id)
				}
				delete(want, n.ID)
				delete(reached, n.ID)
			}
			if len(want)+len(reached) > 0 {
				t.Fatalf("seed %d: not drawn for %s: %v %v", seed, id, want, reached)
			}
		}
	}
}

// A policy in focus has near it what it reaches and what beats it.
func TestGraphFocusPolicy(t *testing.T) {
	r := viewtest.ResolutionOf(t, viewtest.GatewayDoc("app", "g"), viewtest.RouteDoc("app", "h", 1, "app/g"),
		viewtest.RouteDoc("app", "i", 1, "app/g"),
		viewtest.CacheDoc("app", "low", "defaults: {a: 1}", "Gateway/g"), viewtest.CacheDoc("app", "high", "a: 2",
			"HTTPRoute/h"))
	var low *policy.Policy
	for _, p := range r.Kind(model.GroupKind{Group: "x.io", Kind: "Cache"}).Policies {
		if p.Ref().Name == "low" {
			low = p
		}
	}
	for depth, want := range []string{
		"Cache.x.io/app/low",
		"Cache.x.io/app/high Cache.x.io/app/low Gateway/app/g HTTPRoute/app/h#r0 HTTPRoute/app/i#r0 Service/app/h Service/app/i",
	} {
		g := Build(r, Query{FocusPolicies: []*policy.Policy{low}, Depth: depth})
		var got []string
		for _, n := range g.Nodes {
			got = append(got, strings.ReplaceAll(n.ID, "."+viewtest.GatewayGroup, ""))
		}
		if s := strings.Join(got, " "); s != want || !slices.Equal(g.Focus, []string{"Cache.x.io/app/low"}) {
			t.Errorf("depth %d: got %s (%v), want %s", depth, s, g.Focus, want)
		}
	}
}
