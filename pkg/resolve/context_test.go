package resolve

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestContexts(t *testing.T) { // E14: a route below two gateways, each with two listeners
	world := []string{gateway("east", "a", "b"), gateway("west", "a", "b"), route("shop", "east west", "svc", "svc"),
		service("svc")}
	for _, c := range []struct {
		name   string
		paints []string
		target string
		want   string
	}{
		{"none on the way", []string{paint("infra/other", "Gateway/east", "")}, "app:HTTPRoute/shop/r1",
			": c>west>a>shop>r1 c>west>b>shop>r1\nother: c>east>a>shop>r1 c>east>b>shop>r1"},
		{"on the route alone", []string{paint("app/p", "HTTPRoute/shop", "")}, "app:HTTPRoute/shop/r1",
			"p: c>east>a>shop>r1 c>east>b>shop>r1 c>west>a>shop>r1 c>west>b>shop>r1"},
		{"gateway, listener, route, rule", []string{paint("infra/g", "Gateway/east", ""),
			paint("infra/l", "Gateway/west/b", ""), paint("app/p", "HTTPRoute/shop", ""), paint("app/r",
				"HTTPRoute/shop/r2", "")}, "app:HTTPRoute/shop/r2",
			"g p r: c>east>a>shop>r2 c>east>b>shop>r2\nl p r: c>west>b>shop>r2\np r: c>west>a>shop>r2"},
		{"the other rule", []string{paint("infra/g", "Gateway/east", ""), paint("app/r", "HTTPRoute/shop/r2", "")},
			"app:HTTPRoute/shop/r1",
			": c>west>a>shop>r1 c>west>b>shop>r1\ng: c>east>a>shop>r1 c>east>b>shop>r1"},
		{"one policy on both gateways", []string{paint("infra/g", "Gateway/east Gateway/west", "")},
			"app:HTTPRoute/shop/r1",
			"g: c>east>a>shop>r1 c>east>b>shop>r1\ng: c>west>a>shop>r1 c>west>b>shop>r1"},
		{"on the class", []string{paint("infra/k", "GatewayClass/c", "")}, "app:HTTPRoute/shop/r1",
			"k: c>east>a>shop>r1 c>east>b>shop>r1 c>west>a>shop>r1 c>west>b>shop>r1"},
		{"two on one target", []string{paint("infra/z@1", "Gateway/east", ""), paint("infra/a@2", "Gateway/east", "")},
			"app:HTTPRoute/shop/r1",
			": c>west>a>shop>r1 c>west>b>shop>r1\nz a: c>east>a>shop>r1 c>east>b>shop>r1"},
		{"on the Service", []string{paint("infra/g", "Gateway/east", ""), paint("app/s", "Service/svc", "")},
			"app:Service/svc",
			"g s: c>east>a>shop>r1>svc c>east>b>shop>r1>svc c>east>a>shop>r2>svc c>east>b>shop>r2>svc\ns: c>west>a>shop>r1>svc c>west>b>shop>r1>svc c>west>a>shop>r2>svc c>west>b>shop>r2>svc"},
		{"on the port", []string{paint("infra/g", "Gateway/east/a", ""), paint("app/s", "Service/svc", ""),
			paint("app/p", "Service/svc/http", "")}, "app:Service/svc/http",
			"g s p: c>east>a>shop>r1>http c>east>a>shop>r2>http\ns p: c>east>b>shop>r1>http c>west>a>shop>r1>http c>west>b>shop>r1>http c>east>b>shop>r2>http c>west>a>shop>r2>http c>west>b>shop>r2>http"},
		{"namespaces beside", []string{paint("infra/ni", "Namespace/infra", ""), paint("app/na", "Namespace/app", ""),
			paint("app/p", "HTTPRoute/shop", "")}, "app:HTTPRoute/shop/r1",
			"ni na p: c>east>a>shop>r1 c>east>b>shop>r1 c>west>a>shop>r1 c>west>b>shop>r1"},
		{"a namespace counts once", []string{paint("app/na", "Namespace/app", ""), paint("app/s", "Service/svc", "")},
			"app:Service/svc",
			"na s: c>east>a>shop>r1>svc c>east>b>shop>r1>svc c>west>a>shop>r1>svc c>west>b>shop>r1>svc c>east>a>shop>r2>svc c>east>b>shop>r2>svc c>west>a>shop>r2>svc c>west>b>shop>r2>svc"},
	} {
		if got := resolved(t, slices.Concat(world, c.paints)...).contexts(t, c.target); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestContextsFollowTheGraph(t *testing.T) {
	world := []string{gateway("east", "a", "b"), route("one", "east/a", "svc"), route("gone", "nowhere", "svc"),
		route("lost", "east/zz", "svc"), service("svc"), service("alone")}
	r := resolved(t, slices.Concat(world, []string{paint("infra/g", "Gateway/east", ""),
		paint("infra/l", "Gateway/east/b", ""), paint("app/p", "HTTPRoute/gone", ""), paint("app/q",
			"HTTPRoute/lost/r1", ""), paint("app/s", "Service/alone", "")})...)
	for target, want := range map[string]string{
		"app:HTTPRoute/one/r1":  "g: c>east>a>one>r1",
		"app:HTTPRoute/gone/r1": "",
		"app:HTTPRoute/lost":    "",
		"app:Service/alone":     "s: alone",
		"app:Service/svc":       "g: c>east>a>one>r1>svc",
		"infra:Gateway/east/b":  "g l: c>east>b",
	} {
		if got := r.contexts(t, target); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	if got, want := strings.Join(r.codes(), ", "), "NotEvaluated p, NotReached l, NotReached q"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestManyListenersWithoutPoliciesAreOneContext(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprint("l", i))
	}
	world := []string{gateway("east", names...), route("shop", "east", "svc"), service("svc")}
	k := resolved(t, append(world, paint("app/p", "HTTPRoute/shop", ""))...).paints()
	if n := len(k.verdicts); n != 2 {
		t.Errorf("%d stacks, want the empty one and the route's", n)
	}
	r := resolved(t, append(world, paint("app/p", "HTTPRoute/shop", ""), paint("infra/l", "Gateway/east/l7", ""))...)
	if got := len(r.paints().Contexts(r.node(t, "app:HTTPRoute/shop/r1"))); got != 2 {
		t.Errorf("one listener has a policy: %d contexts", got)
	}
	if paths := r.paints().Paths(r.node(t, "app:HTTPRoute/shop/r1"),
		r.paints().Contexts(r.node(t, "app:HTTPRoute/shop/r1"))[0]); len(paths)+1 != 60 && len(paths) != 1 {
		t.Errorf("%d paths", len(paths))
	}
}

func TestFoldsAreShared(t *testing.T) { // E12: 50 routes below one gateway policy, 3 of them with policies of their own
	world := []string{gateway("east", "a"), service("svc"), paint("infra/g", "Gateway/east",
		"defaults: {strategy: merge, m: {a: 1}}")}
	for i := range 50 {
		world = append(world, route(fmt.Sprint("r", i), "east", "svc"))
		if i < 3 {
			world = append(world, paint(fmt.Sprint("app/p", i), fmt.Sprint("HTTPRoute/r", i), "m: {b: 1}"))
		}
	}
	k := resolved(t, world...).paints()
	var folded []*Verdict
	k.EachStackInForce(func(s StackID) { folded = append(folded, k.Verdict(s)) })
	folds := func() int {
		return len(slices.DeleteFunc(slices.Clone(k.verdicts), func(o *Verdict) bool { return o == nil }))
	}
	if len(folded) != 4 || folds() != 4 {
		t.Errorf("%d outcomes, %d folds for 4 stacks", len(folded), folds())
	}
	again := 0
	for id := range k.contexts {
		for _, s := range k.contexts[id] {
			if slices.Contains(folded, k.Verdict(s)) {
				again++
			}
		}
	}
	if again < 50 || folds() > 5 {
		t.Errorf("%d nodes share them, %d folds", again, folds())
	}
}

func TestPathsChangeNothing(t *testing.T) { // reading paths back interns no stack
	r := resolved(t, gateway("east", "a", "b"), gateway("west", "a"), route("shop", "east west", "svc", "svc"),
		service("svc"), paint("infra/g", "Gateway/east/a", ""), paint("app/s", "Service/svc", ""), paint("app/n",
			"Namespace/app", ""))
	k := r.paints()
	before := len(k.verdicts)
	for id := range r.Len() {
		for _, s := range k.Contexts(topology.NodeID(id)) {
			k.Paths(topology.NodeID(id), s)
		}
	}
	if len(k.verdicts) != before {
		t.Errorf("%d stacks, before %d", len(k.verdicts), before)
	}
}

// everything writes all contexts, results and problems of a resolution.
func (r *Resolution) everything(t testing.TB) string {
	t.Helper()
	var out []string
	for id := range r.Graph.Len() {
		n := r.Node(topology.NodeID(id))
		k := r.paints()
		for _, s := range k.Contexts(topology.NodeID(id)) {
			o := k.Verdict(s)
			line := n.Ref.String()
			for _, rule := range o.Result.Rules {
				line += fmt.Sprintf(" %s=%v(%s)", rule.Name, rule.Value, o.names(rule.From))
			}
			for _, l := range o.Losses() {
				line += fmt.Sprintf(" -%s(%s)%s>%s", l.Rule, o.names(nil), l.Reason, o.names(l.WinningSources()))
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return strings.Join(append(out, r.codes()...), "\n")
}

func TestInputOrderDoesNotMatter(t *testing.T) {
	var in input
	in.add(t, gateway("east", "a", "b"), gateway("west", "a"), route("shop", "east west", "svc", "other"),
		route("blog", "west", "svc"), service("svc"), service("other"),
		paint("infra/g", "Gateway/east", "overrides: {strategy: merge, m: {a: g}}"), paint("infra/h", "Gateway/east",
			"defaults: {strategy: merge, m: {a: h, b: h}}"),
		paint("infra/l@1", "Gateway/east/b", "defaults: {m: {c: l}}, unset: [m.a, m.x]"), paint("app/p@2",
			"HTTPRoute/shop HTTPRoute/shop HTTPRoute/zz", "m: {d: p}"), paint("app/q", "HTTPRoute/shop", "m: {d: q}"),
		paint("app/r", "HTTPRoute/blog/r1", "strategy: patch, m: {e: {f: r}}"), paint("app/s", "Service/svc",
			"m: {s: 1}"), paint("app/n", "Namespace/app", "m: {n: 1}"), paint("app/v", "Widget/w", "m: {v: 1}"))
	first := in.run(t).everything(t)
	random := rand.New(rand.NewSource(1))
	for range 20 {
		if again := in.shuffled(t, random).everything(t); again != first {
			t.Fatalf("got\n%s\n\nthen\n%s", first, again)
		}
	}
}

func TestManyPoliciesOnOneTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	var in input
	in.add(t, gateway("east", "a"), route("shop", "east", "svc"), service("svc"))
	for i := range 1000 {
		in.add(t, paint(fmt.Sprintf("infra/p%04d", i), "Gateway/east", fmt.Sprintf("m: {a: %d, k%d: 1}", i, i)))
	}
	start := time.Now()
	r := in.run(t)
	k := r.paints()
	k.EachStackInForce(func(s StackID) { k.Verdict(s) })
	if took := time.Since(start); took > time.Second {
		t.Errorf("1,000 policies took %v", took)
	}
	if n := len(k.Verdict(k.Contexts(r.node(t, "app:HTTPRoute/shop/r1"))[0]).Layers); n != 1000 {
		t.Errorf("%d layers", n)
	}
}
