package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// waysIn are the ways of the requests to a host, on a path.
func waysIn(t *testing.T, r *resolve.Resolution, m *request.Matcher, host, path string) *TakenPaths {
	t.Helper()
	asked := space.Selection{Hosts: []string{host}, Paths: []string{path}}
	scope, wrong := asked.ToScope()
	if wrong != nil {
		t.Fatal(wrong)
	}
	ways, err := FindTakenPaths(r, m, scope, "requests"+asked.Describe())
	if err != nil {
		t.Fatal(err)
	}
	return ways
}

// drawnWays is a drawing of the ways of the requests to a host, on a path, and its edges that are
// marked.
func drawnWays(t *testing.T, host, path string, q Query, docs ...string) (*Topology, []string) {
	t.Helper()
	r := viewtest.ResolutionOf(t, docs...)
	q.TakenPaths = waysIn(t, r, request.NewMatcher(r.Graph, model.Settings{}), host, path)
	g := Build(r, q)
	short := func(id string) string { return id[strings.IndexByte(id, '/')+1:] }
	var marked []string
	for _, e := range g.Edges {
		if e.State == EdgeTaken {
			marked = append(marked, short(e.From)+" > "+short(e.To))
		}
	}
	return g, marked
}

const twoListeners = `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw, namespace: infra}, spec: {gatewayClassName: c, listeners: [
  {name: one, port: 80, protocol: HTTP, hostname: "*.com", allowedRoutes: {namespaces: {from: All}}}, {name: two, port: 81, protocol: HTTP, hostname: "*.com", allowedRoutes: {namespaces: {from: All}}}]}}`

// A line is marked if a request goes along it, not because requests come to both of its ends: at
// listener two, route own takes all that shared takes at listener one.
func TestWaysAreWhole(t *testing.T) {
	shared := viewtest.MatchingRoute("a", "shared", "'*.com'", "", "{path: {type: PathPrefix, value: /}}")
	own := strings.Replace(viewtest.MatchingRoute("b", "own", "x.com", "", "{path: {type: PathPrefix, value: /}}"),
		"namespace: infra}]", "namespace: infra, sectionName: two}]", 1)
	g, got := drawnWays(t, "x.com", "/p/**", Query{}, twoListeners, shared, own, viewtest.ServiceDoc("a", "s"),
		viewtest.ServiceDoc("b", "s"))
	for _, e := range []string{"infra/gw#one > a/shared", "infra/gw#two > b/own", "infra/gw > infra/gw#one",
		"infra/gw > infra/gw#two", "a/shared > a/shared#r", "a/shared#r > a/s", "b/own#r > b/s", "c > infra/gw"} {
		if !slices.Contains(got, e) {
			t.Errorf("%s is not marked: %v", e, got)
		}
	}
	if slices.Contains(got, "infra/gw#two > a/shared") {
		t.Errorf("the way from listener two to shared is marked, and no request goes there: %v", got)
	}
	if q := g.Requests; q.Classes != 2 || q.Taken != 2 || q.Rules != 2 || q.Untaken != 0 ||
		q.Undrawn != 0 || !g.Complete {
		t.Errorf("%+v, complete %t", q, g.Complete)
	}
}

// Where it is not known which of two routes is older, the ways by both are marked, and the answer
// is incomplete.
func TestWaysThatMayBe(t *testing.T) {
	docs := []string{viewtest.PlainGateway, viewtest.MatchingRoute("c", "first", "tie.com", "",
		"{path: {type: Exact, value: /t}}"), viewtest.MatchingRoute("d", "second", "tie.com", "",
		"{path: {type: Exact, value: /t}}"),
		viewtest.MatchingRoute("d", "other", "tie.com", "", "{path: {type: Exact, value: /u}}")}
	g, got := drawnWays(t, "tie.com", "/t", Query{}, docs...)
	for _, e := range []string{"c/first > c/first#r", "d/second > d/second#r"} {
		if !slices.Contains(got, e) {
			t.Errorf("%s is not marked: %v", e, got)
		}
	}
	at := slices.IndexFunc(g.Problems, func(p model.Problem) bool {
		return p.Code == model.OrderUncertain &&
			strings.HasPrefix(p.Message, "cannot tell which rule takes 1 class of requests to tie.com on paths /t")
	})
	if g.Complete || at < 0 || len(g.Requests.Undecided) != 1 || g.Requests.Rules != 2 {
		t.Errorf("complete %t, %+v: %v", g.Complete, g.Requests, g.Problems)
	}
	if said := strings.Join(g.RequestLines(), "\n"); !strings.Contains(said,
		"1 class, 0 taken by a rule, 0 by none, 1 not known; 2 rules take them, or may") {
		t.Error(said)
	}
	if g, got = drawnWays(t, "tie.com", "/u", Query{}, docs...); !g.Complete ||
		slices.Contains(got, "c/first > c/first#r") ||
		!slices.Equal(g.RequestLines(), []string{"requests to tie.com on paths /u: 1 class, taken by 1 rule"}) {
		t.Errorf("complete %t, %s: %v", g.Complete, g.RequestLines(), got)
	}
}

// It is said that nothing takes the requests, what is not looked at, and what is not drawn; merging
// nodes does not change what is said.
func TestWaysInWords(t *testing.T) {
	r := viewtest.ResolutionOf(t, shopDocs()...)
	target := r.Graph.Lookup(model.Ref{Group: viewtest.GatewayGroup, Kind: "HTTPRoute", Namespace: "app", Name: "h03"})
	for _, c := range []struct {
		host, path string
		q          Query
		docs       []string
		want       string
	}{
		{"none.org", "/x", Query{}, []string{viewtest.PlainGateway, viewtest.MatchingRoute("a", "b", "x.com", "",
			"{path: {value: /}}")}, "requests to none.org on paths /x: no rule takes them (1 class)"},
		{"x.com", "/**", Query{}, []string{viewtest.ServiceDoc("a", "b")},
			"requests to x.com on paths /**: none comes to a Gateway"},
		{"x.com", "/x", Query{}, []string{strings.Replace(viewtest.PlainGateway, "}]}}",
			"}, {name: t1, port: 91, protocol: TCP}, {name: t2, port: 92, protocol: TCP}, {name: t3, port: 93, protocol: TCP}, {name: t4, port: 94, protocol: TCP}]}}", 1)},
			"requests to x.com on paths /x: no rule takes them (1 class)\nnot looked at: connections to listener gateway/infra/gw/t1 (TCP): what they carry is not known\nnot looked at: connections to listener gateway/infra/gw/t2 (TCP): what they carry is not known\nnot looked at: 2 more"},
		{"x.com", "/0/**", Query{Query: view.Query{Targets: target}}, shopDocs(), "12 of the rules are not drawn"},
	} {
		g, _ := drawnWays(t, c.host, c.path, c.q, c.docs...)
		for _, level := range []string{CollapseNone, CollapseRules, CollapseRoute, CollapseNamespace} {
			if got := strings.Join(g.Collapse(level, nil).RequestLines(), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("%s%s, %s: got %q, want %q", c.host, c.path, level, got, c.want)
			}
		}
	}
	if got := (&Topology{}).RequestLines(); got != nil {
		t.Errorf("without a class: %v", got)
	}
}

// Each request of a class has its way marked, and each rule that is marked takes a request of the
// class, as the matcher answers them one by one.
func TestWaysOfEveryRequest(t *testing.T) {
	docs := []string{twoListeners,
		viewtest.MatchingRoute("a", "all", "'*.com'", "", "{path: {type: PathPrefix, value: /}}"),
		viewtest.MatchingRoute("a", "x", "x.com", "", "{path: {type: PathPrefix, value: /a}}",
			"{path: {type: Exact, value: /b}, method: POST}"),
		viewtest.MatchingRoute("b", "probe", "x.com", "",
			"{path: {type: PathPrefix, value: /a}, headers: [{name: probe, value: '1'}]}"),
		viewtest.MatchingRoute("b", "deep", "y.com", "", "{path: {type: PathPrefix, value: /a/b}}"),
		viewtest.MatchingRoute("b", "expr", "y.com", "", "{path: {type: RegularExpression, value: '/c[0-9]+'}}")}
	r := viewtest.ResolutionOf(t, docs...)
	m := request.NewMatcher(r.Graph, model.Settings{})
	for _, host := range []string{"x.com", "y.com", "*.com", "z.com", "z.org"} {
		for _, path := range []string{"/a", "/a/**", "/**", "/b", "/*/b", "/c**"} {
			ways := waysIn(t, r, m, host, path)
			found := map[topology.NodeID]bool{}
			for _, one := range []string{"x.com", "y.com", "any.com", "z.com", "z.org"} {
				for _, at := range []string{"/", "/a", "/a/b", "/a/c", "/b", "/c1", "/cx", "/d/b"} {
					for n := range 8 {
						options := request.Options{}
						if n&1 > 0 {
							options.Headers = []string{"probe: 1"}
						}
						q, err := request.New([]string{"GET", "POST"}[n>>1&1], fmt.Sprintf("http://%s:%d%s", one,
							80+n>>2, at), options)
						if err != nil {
							t.Fatal(err)
						}
						if !space.IsRequestOn(&q, host, path) {
							continue
						}
						a, err := m.Find(q, request.Destination{Gateway: topology.None})
						if err != nil || a.Rule == topology.None {
							continue
						}
						found[a.Rule] = true
						for _, id := range requests.Nodes(r, a) {
							if !slices.Contains(ways.nodes, id) {
								t.Errorf("%s%s: %s passes %s, which is not marked", host, path, a.Request.Text,
									r.Node(id).Ref)
							}
						}
					}
				}
			}
			for rule := range ways.rules {
				if !found[rule] {
					t.Errorf("%s%s: %s is marked, and no request was found that it takes", host, path, r.Node(rule).Ref)
				}
			}
		}
	}
}
