package space

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var (
	seeds = flag.Int("seeds", 250, "how many inputs are drawn")
	asks  = flag.Int("asks", 12, "how many requests are drawn for each entry of an input")
)

type doc = map[string]any

// dice draws inputs and requests from small alphabets, so that they meet often and differ in
// little.
type dice struct{ *rand.Rand }

func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

var (
	hostnames  = []string{"b.com", "a.b.com", "*.b.com", "*.a.b.com", "*.com"}
	askedHosts = []string{"b.com", "a.b.com", "z.b.com", "c.a.b.com", "y.x.com", "other.org"}
	askedPaths = []string{"/", "/a", "/a/", "/a/b", "/a/b/", "/ab", "/A", "/a/b/c", "/a/b/c/d", "/abc", "/b1", "/é",
		"/a-b_b", "/bb/x"}
	pathRegexes = []string{"/a.*", "/[ab]+", "/a|/ab", "/a/b/?", ".*b.*", "/(?i)a", `.*\bb\b.*`, "^/a$", "/[^a]+",
		"/a/(b|c){2,}", "(unclosed"}
	textRegexes = []string{"[0-9]+", "a.*", ".*", "(?i)ab", "x|", "^a", `a b`}
	textValues  = []string{"1", "a", "ab", "A", "", "a b", "x", "zz"}
)

func (d dice) input() []doc {
	var listeners []any
	port, protocol := int64(80), one(d, "HTTP", "HTTP", "HTTPS")
	for i := range 1 + d.IntN(3) {
		l := doc{"name": fmt.Sprintf("l%d", i), "port": port, "protocol": protocol,
			"allowedRoutes": doc{"namespaces": doc{"from": "All"}}}
		if protocol == "HTTPS" && d.chance(20) {
			l["protocol"] = "TLS"
			l["tls"] = doc{"mode": "Passthrough"}
		}
		if d.chance(60) {
			l["hostname"] = one(d, hostnames...)
		}
		listeners = append(listeners, l)
	}
	gateway := func(name string, listeners []any) doc {
		return doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
			"metadata": doc{"namespace": "infra", "name": name},
			"spec": doc{"gatewayClassName": "c", "listeners": listeners,
				"allowedListeners": doc{"namespaces": doc{"from": "All"}}}}
	}
	out, gateways := []doc{gateway("gw", listeners)}, []string{"gw"}
	if d.chance(20) {
		out, gateways = append(out, gateway("other", listeners[:1])), append(gateways, "other")
	}
	if d.chance(30) {
		set := doc{"name": "s", "port": port, "protocol": protocol, "hostname": one(d, hostnames...),
			"allowedRoutes": doc{"namespaces": doc{"from": "All"}}}
		out = append(out, doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "ListenerSet",
			"metadata": doc{"namespace": "infra", "name": "set"},
			"spec":     doc{"parentRef": doc{"name": "gw"}, "listeners": []any{set}}})
	}
	if d.chance(2) { // more than can be told apart
		var rules []any
		for _, a := range []string{"a", "b", "c", "é", "/a", "/b", "bb", "ab", "c/", "b/", "-", "_", "A", "1", "x"} {
			rules = append(rules,
				doc{"matches": []any{doc{"path": doc{"type": "RegularExpression", "value": ".*" + a + ".*" +
					one(d, "a", "b", "")}}}, "backendRefs": []any{doc{"name": "svc", "port": int64(80)}}})
		}
		out = append(out, doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
			"metadata": doc{"namespace": "infra", "name": "many"},
			"spec":     doc{"parentRefs": []any{doc{"name": "gw", "namespace": "infra"}}, "rules": rules}})
	}
	for i := range 1 + d.IntN(7) {
		kind := one(d, "HTTPRoute", "HTTPRoute", "HTTPRoute", "HTTPRoute", "GRPCRoute", "TLSRoute")
		spec := doc{"parentRefs": []any{doc{"name": one(d, gateways...), "namespace": "infra"}}}
		if d.chance(20) {
			spec["parentRefs"] = []any{doc{"name": gateways[0], "namespace": "infra"},
				doc{"name": gateways[len(gateways)-1], "namespace": "infra", "sectionName": "l0"}}
		}
		if d.chance(30) {
			spec["parentRefs"] = []any{doc{"name": "set", "namespace": "infra", "kind": "ListenerSet",
				"group": "gateway.networking.k8s.io"}}
		}
		if d.chance(60) {
			spec["hostnames"] = []any{one(d, hostnames...), one(d, hostnames...)}
		}
		var rules []any
		for range 1 + d.IntN(3) {
			rules = append(rules, d.rule(kind))
		}
		spec["rules"] = rules
		metadata := doc{"namespace": "infra", "name": fmt.Sprintf("r%d", i)}
		if d.chance(70) {
			metadata["creationTimestamp"] = fmt.Sprintf("2024-0%d-01T00:00:00Z", 1+d.IntN(3))
		}
		out = append(out, doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": metadata,
			"spec": spec})
	}
	return out
}

func (d dice) rule(kind string) doc {
	rule := doc{"backendRefs": []any{doc{"name": "svc", "port": int64(80)}}}
	if kind == "HTTPRoute" && d.chance(8) { // to a route of the input, perhaps its own, or to none
		rule["backendRefs"] = []any{doc{"group": "gateway.networking.k8s.io", "kind": kind,
			"name": fmt.Sprintf("r%d", d.IntN(8))}}
	}
	if kind == "TLSRoute" || d.chance(10) {
		return rule
	}
	var matches []any
	for range 1 + d.IntN(2) {
		m := doc{}
		switch {
		case kind == "GRPCRoute":
			method := doc{}
			if d.chance(70) {
				method["service"] = one(d, "s", "t.S")
			}
			if len(method) == 0 || d.chance(50) {
				method["method"] = one(d, "m", "n")
			}
			if d.chance(20) {
				method["type"] = "RegularExpression"
			}
			m["method"] = method
		case d.chance(25):
			m["path"] = doc{"type": "RegularExpression", "value": one(d, pathRegexes...)}
		case d.chance(90):
			m["path"] = doc{"type": one(d, "Exact", "PathPrefix", "PathPrefix"), "value": one(d, askedPaths...)}
		}
		if kind == "HTTPRoute" && d.chance(30) {
			m["method"] = one(d, "GET", "POST")
		}
		if d.chance(40) {
			m["headers"] = d.fields("x", "X", "y", "host")
		}
		if kind == "HTTPRoute" && d.chance(30) {
			m["queryParams"] = d.fields("q", "Q")
		}
		matches = append(matches, m)
	}
	rule["matches"] = matches
	return rule
}

func (d dice) fields(names ...string) []any {
	var out []any
	for range 1 + d.IntN(2) {
		f := doc{"name": one(d, names...), "value": one(d, textValues...)}
		if f["name"] == "host" {
			f["value"] = one(d, askedHosts...)
		} else if d.chance(30) {
			f["type"], f["value"] = "RegularExpression", one(d, textRegexes...)
		}
		out = append(out, f)
	}
	return out
}

func (d dice) ask(e request.Entry) request.Request {
	r := e.NewRequest(one(d, askedHosts...), request.HTTP)
	if d.chance(10) {
		r = e.NewRequest(one(d, askedHosts...), request.GRPC)
		r.Service, r.Call = one(d, "s", "t.S", "u"), one(d, "m", "n", "o")
		r.Path = "/" + r.Service + "/" + r.Call
	} else {
		r.Method, r.Path = one(d, "GET", "POST", "DELETE"), one(d, askedPaths...)
	}
	for _, name := range []string{"x", "Y"} {
		if d.chance(50) {
			r.Headers = append(r.Headers, request.Field{Name: name, Value: one(d, textValues...)})
		}
	}
	for _, name := range []string{"q", "Q"} {
		if d.chance(40) && r.Protocol == request.HTTP {
			r.Query = append(r.Query, request.Field{Name: name, Value: one(d, textValues...)})
		}
	}
	return r
}

func snapshot(input []doc) *model.Snapshot {
	var objects []*model.Object
	for i, d := range input {
		group, version, _ := strings.Cut(d["apiVersion"].(string), "/")
		metadata := d["metadata"].(doc)
		o := &model.Object{Version: version, Body: model.Pack(d, nil), Origin: model.Origin{File: "in.yaml",
			Line: i + 1}, Labels: map[string]string{},
			Ref: model.Ref{Group: group, Kind: d["kind"].(string), Namespace: "infra", Name: metadata["name"].(string)}}
		if text, ok := metadata["creationTimestamp"].(string); ok {
			o.Created = instant(text)
		}
		objects = append(objects, o)
	}
	return model.NewSnapshot(objects, nil)
}

// same reports whether two answers are the same verdict.
func same(a, b *request.Answer) bool {
	return a.Listener == b.Listener && a.Rule == b.Rule && a.Outcome == b.Outcome && a.Assumed == b.Assumed &&
		a.RuleUncertain == b.RuleUncertain &&
		slices.EqualFunc(a.Possible, b.Possible, same)
}

// among reports whether an answer is one of those that are possible; one that is open, whether all
// are that it may be.
func among(a *request.Answer, possible []*request.Answer) bool {
	if a.Possible != nil {
		return !slices.ContainsFunc(a.Possible, func(o *request.Answer) bool { return !among(o, possible) })
	}
	one := func(b *request.Answer) bool {
		return a.Rule == b.Rule && (a.Listener == b.Listener || a.Rule == topology.None)
	}
	return possible == nil || slices.ContainsFunc(possible, one)
}

// TestEveryRequestHasOneClass draws inputs and requests: every request is in exactly one class, and
// what becomes of it is what becomes of the class; the class's own request is in it and in no
// other.
func TestEveryRequestHasOneClass(t *testing.T) {
	asked, taken, open, unknown, classes, delegated := 0, 0, 0, 0, 0, 0
	for seed := range uint64(*seeds) {
		d := dice{rand.New(rand.NewPCG(seed, 25))}
		settings := d.settings()
		g := build.Graph(snapshot(d.input()), settings)
		m := request.Competition{Matcher: request.NewMatcher(g, settings)}
		var all []*Class
		if err := Walk(m.Matcher, Scope{Destination: AnyDestination()},
			func(c *Class) bool { all = append(all, c); return true }); err != nil {
			t.Fatal(err)
		}
		classes += len(all)
		containing := func(e request.Entry, r *request.Request) []*Class {
			return slices.Collect(func(yield func(*Class) bool) {
				for _, c := range all {
					if c.Entry == e && c.Contains(r) && !yield(c) {
						return
					}
				}
			})
		}
		for _, c := range all {
			if in := containing(c.Entry, &c.Request); len(in) != 1 || in[0] != c {
				t.Fatalf("seed %d: %s of class %s is in %d classes", seed, c.Request.Text, c.Text(), len(in))
			}
		}
		for _, e := range m.Entries(AnyDestination()) {
			for range *asks {
				r := d.ask(e)
				answer, err := m.FindRule(r, request.Destination{Gateway: e.Gateway})
				if err != nil {
					t.Fatal(err)
				}
				in := containing(e, &r)
				if r.Protocol == request.GRPC && len(in) == 0 {
					continue // HTTPRoutes decide
				}
				asked++
				if len(in) != 1 {
					t.Fatalf("seed %d: %s is in %d classes", seed, answer.Request.Text, len(in))
				}
				if !among(answer, in[0].Possible) {
					t.Fatalf("seed %d: %s\n%+v\n%s, which has no such possible answer", seed, answer.Request.Text,
						answer, in[0].Text())
				}
				if in[0].Possible != nil {
					open++
				}
				if in[0].Unknown != "" {
					unknown++
					continue
				}
				if delegates(g, answer.Rule) {
					delegated++
					if !in[0].Answer.RuleUncertain || in[0].Possible != nil {
						t.Fatalf("seed %d: %s is delegated, and taken to be certain", seed, answer.Request.Text)
					}
				}
				if answer.Rule != topology.None {
					taken++
				}
				if !same(answer, in[0].Answer) {
					t.Fatalf("seed %d: %s\n%+v\n%s, as %s\n%+v", seed, answer.Request.Text, answer, in[0].Text(),
						in[0].Request.Text, in[0].Answer)
				}
			}
		}
	}
	t.Logf("%d requests, %d taken by a rule, %d of several possible answers, %d of unknown classes, %d classes", asked,
		taken, open, unknown, classes)
	if delegated == 0 || open < asked/50 || unknown == 0 || taken < asked/5 || unknown > asked/4 {
		t.Errorf("the draw misses what it is for: of %d requests a rule takes %d, and %d are of unknown classes",
			asked, taken, unknown)
	}
}

// delegates reports whether the backend of a rule is a route.
func delegates(g *topology.Graph, rule topology.NodeID) bool {
	if rule == topology.None {
		return false
	}
	n := g.Node(rule)
	return n.Object.Body.At("spec", "rules", fmt.Sprint(n.Index), "backendRefs", "0").Text("kind") == "HTTPRoute"
}

func instant(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at
}

func (d dice) settings() model.Settings {
	return model.NewSettings(map[string]any{gatewayapi.ListenerIsolation: d.chance(70),
		gatewayapi.HostnamePrecedence: one(d, "intersection", "original"),
		gatewayapi.PrefixLength:       one(d, "stripped", "literal"), gatewayapi.MethodRank: one(d, "header",
			"own"), gatewayapi.RouteAgeSource: one(d, "none", "creationTimestamp"),
		gatewayapi.RegexAnchored: d.chance(80), gatewayapi.RegexRank: one(d, "ambiguous", "afterExact",
			"afterPrefix", "byLength")})
}
