package request

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var (
	pairs = flag.Int("pairs", envNumber("DOPOLICY_PAIRS", 6000),
		"pairs of an input and a request on which the reference has to agree (also DOPOLICY_PAIRS)")
	firstSeed = flag.Uint64("seed", uint64(envNumber("DOPOLICY_SEED", 1)), "where drawing starts (also DOPOLICY_SEED)")
)

func envNumber(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// asksEach is how many requests are drawn for one input.
const asksEach = 12

// answerOf asks the package.
func answerOf(t testing.TB, m *Matcher, g *topology.Graph, a ask) *Answer {
	t.Helper()
	r, err := New(a.method, a.url, a.Options)
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	w := Destination{Gateway: topology.None}
	if a.named {
		w.Gateway = gatewayIn(g)
	}
	answer, err := m.Find(r, w)
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	return answer
}

func gatewayIn(g *topology.Graph) topology.NodeID {
	namespace, name, _ := strings.Cut(drawnGateway, "/")
	if found := g.Lookup(model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: namespace,
		Name: name}); len(found) > 0 {
		return found[0]
	}
	return topology.None
}

// verdictIn puts an answer the way the reference does.
func verdictIn(g *topology.Graph, a *Answer) verdictOf {
	ruleName := func(ref model.Ref) string { return ref.Kind + " " + ref.FullName() + " " + ref.Section }
	outcome := a.Outcome
	if outcome == Conditional {
		outcome = a.Assumed
	}
	v := verdictOf{kind: map[Outcome]string{Matched: "match", Redirect: "match", BackendError: "match",
		NoMatch: "no match", Misdirected: "misdirected"}[outcome]}
	if a.Listener != topology.None {
		v.listener = g.Node(a.Listener).Ref.Section
	}
	if a.Rule != topology.None {
		v.winner = ruleName(g.Node(a.Rule).Ref)
	}
	for _, ref := range a.Shadowed {
		v.shadowed = append(v.shadowed, ruleName(ref))
	}
	return v
}

func (v verdictOf) String() string {
	s := v.kind
	if v.listener != "" {
		s += " at listener " + v.listener
	}
	if v.winner != "" {
		s += ": " + v.winner
	}
	if len(v.shadowed) > 0 {
		s += " before " + strings.Join(v.shadowed, ", ")
	}
	return s
}

func (v verdictOf) equal(o verdictOf) bool {
	return v.kind == o.kind && v.listener == o.listener && v.winner == o.winner && slices.Equal(v.shadowed, o.shadowed)
}

// fellBack reports whether HTTPRoutes decided about a gRPC request.
func fellBack(a *Answer) bool {
	return slices.ContainsFunc(a.Why, func(why string) bool {
		return strings.HasPrefix(why,
			"no GRPCRoute is for host ")
	})
}

// TestMatcherAgreesWithReference draws inputs, settings and requests, and holds every answer
// against the reference.
func TestMatcherAgreesWithReference(t *testing.T) {
	kinds := map[string]int{}
	for done, seed := 0, *firstSeed; done < *pairs; seed++ {
		d := newDice(seed)
		input := d.input()
		settings, ref := d.settings()
		g := build.Graph(snapshot(input), settings)
		m := NewMatcher(g, settings)
		for range min(asksEach, *pairs-done) {
			a := d.ask(input)
			answer := answerOf(t, m, g, a)
			ref.grpcFallsBack = fellBack(answer)
			got, want := verdictIn(g, answer), refer(input, drawnGateway, &answer.Request, ref)
			done++
			kinds[got.kind]++
			kinds["with several routes"] += min(1, len(got.shadowed))
			if !got.equal(want) {
				reproduce(t, seed, input, settings, ref, a)
			}
		}
	}
	t.Logf("%d pairs agree: %v", *pairs, kinds)
	for _, kind := range []string{"match", "no match", "misdirected", "with several routes"} {
		if kinds[kind] < *pairs/100 {
			t.Errorf("only %d of %d are %s: the draw misses what it is for", kinds[kind], *pairs, kind)
		}
	}
}

// reproduce says on which input the reference disagrees, made as small as it gets.
func reproduce(t *testing.T, seed uint64, input []doc, settings model.Settings, ref refSettings, a ask) {
	t.Helper()
	both := func(input []doc) (verdictOf, verdictOf) {
		g := build.Graph(snapshot(input), settings)
		if gatewayIn(g) == topology.None {
			return verdictOf{}, verdictOf{}
		}
		answer := answerOf(t, NewMatcher(g, settings), g, a)
		ref.grpcFallsBack = fellBack(answer)
		return verdictIn(g, answer), refer(input, drawnGateway, &answer.Request, ref)
	}
	less := minimal(input, func(in []doc) bool {
		got, want := both(in)
		return !got.equal(want)
	})
	got, want := both(less)
	t.Fatalf("seed %d, %+v\n%s\n  package:   %s\n  reference: %s\n%s", seed, ref, a, got, want, written(less))
}

// TestRegexRankIsAmbiguous: without a setting for the place of expressions, an answer that depends
// on it is Conditional, and one that does not is that of every setting (gatewayapi G48).
func TestRegexRankIsAmbiguous(t *testing.T) {
	open := 0
	for seed := *firstSeed; seed < *firstSeed+400; seed++ {
		d := newDice(seed)
		input := d.input()
		_, ref := d.settings()
		ref.regexRank = "ambiguous"
		settings := ref.values()
		g := build.Graph(snapshot(input), settings)
		m := NewMatcher(g, settings)
		for range asksEach {
			a := d.ask(input)
			answer := answerOf(t, m, g, a)
			ref.grpcFallsBack = fellBack(answer)
			got := verdictIn(g, answer)
			winners := map[string]bool{}
			for _, rank := range []string{"afterExact", "afterPrefix", "byLength"} {
				ref.regexRank = rank
				winners[refer(input, drawnGateway, &answer.Request, ref).winner] = true
			}
			switch {
			case len(winners) > 1:
				open++
				if answer.Outcome != Conditional {
					t.Fatalf("seed %d: %s\n  the place of expressions decides, but the outcome is %s: %s\n%s", seed, a,
						answer.Outcome, got, written(input))
				}
			case !winners[got.winner]:
				t.Fatalf("seed %d: %s\n  %s, whatever the place of expressions should give %v\n%s", seed, a, got,
					winners, written(input))
			}
		}
	}
	if open == 0 {
		t.Error("no draw depends on the place of expressions")
	}
}

// TestNotesAreComplete: an answer that another value of a switch would change says so, and one that
// only names ordered as well (gatewayapi G47).
func TestNotesAreComplete(t *testing.T) {
	switches := []struct {
		name string
		flip func(*refSettings)
	}{
		{gatewayapi.ListenerIsolation, func(s *refSettings) { s.isolation = !s.isolation }},
		{gatewayapi.HostnamePrecedence, func(s *refSettings) { s.intersection = !s.intersection }},
		{gatewayapi.PrefixLength, func(s *refSettings) { s.stripped = !s.stripped }},
		{gatewayapi.MethodRank, func(s *refSettings) { s.methodHeader = !s.methodHeader }},
		{gatewayapi.RouteAgeSource, func(s *refSettings) { s.ageless = !s.ageless }},
		{gatewayapi.RegexAnchored, func(s *refSettings) { s.loose = !s.loose }},
	}
	seen := map[string]int{}
	for seed := *firstSeed; seed < *firstSeed+600; seed++ {
		d := newDice(seed)
		input := d.input()
		settings, ref := d.settings()
		ref.grpcFallsBack = true
		g := build.Graph(snapshot(input), settings)
		m := NewMatcher(g, settings)
		for range asksEach {
			a := d.ask(input)
			answer := answerOf(t, m, g, a)
			got := refer(input, drawnGateway, &answer.Request, ref)
			has := func(code model.Code, word string) bool {
				return slices.ContainsFunc(answer.Problems, func(p model.Problem) bool {
					return p.Code == code &&
						strings.Contains(p.Message, word)
				})
			}
			for _, s := range switches {
				flipped := ref
				s.flip(&flipped)
				other := refer(input, drawnGateway, &answer.Request, flipped)
				matters := other.kind != got.kind || other.listener != got.listener || other.winner != got.winner
				if matters {
					seen[s.name]++
				}
				if said := has(model.SettingMatters, s.name); said != matters {
					t.Fatalf("seed %d, %+v: %s\n  %s changes the answer: %v, and is said to: %v\n%s", seed, ref, a,
						s.name, matters, said, written(input))
				}
			}
			uncertain := false
			for _, c := range got.tied {
				uncertain = uncertain || !ref.ageless && c.route != got.tied[0].route &&
					slices.ContainsFunc(got.tied, func(c refCandidate) bool { return c.created == "" })
			}
			if uncertain {
				seen["uncertain"]++
			}
			if said := has(model.OrderUncertain, ""); said != uncertain {
				t.Fatalf("seed %d, %+v: %s\n  the order is uncertain: %v, and is said to be: %v\n%s", seed, ref, a,
					uncertain, said, written(input))
			}
		}
	}
	t.Log(seen)
	for _, s := range switches {
		if seen[s.name] == 0 && *firstSeed == 1 {
			t.Errorf("no draw depends on %s", s.name)
		}
	}
}

// changes are what may be done to an input without changing the answer to a request.
var changes = []struct {
	name   string
	change func(d dice, input []doc, a *ask, was verdictOf) []doc
	winner bool // only the winner stays
}{
	{"another order of the objects", func(d dice, input []doc, _ *ask, _ verdictOf) []doc {
		d.Shuffle(len(input), func(i, j int) { input[i], input[j] = input[j], input[i] })
		return input
	}, false},
	{"a route for another hostname", func(d dice, input []doc, _ *ask, _ verdictOf) []doc {
		more := d.route(one(d, "HTTP", "GRPC", "TLS"), "all")
		more["metadata"].(doc)["name"] = "0"
		more["spec"].(doc)["hostnames"] = []any{"elsewhere.example.org", "*.elsewhere.example.org"}
		return append(input, more)
	}, false},
	{"without the shadowed routes", func(_ dice, input []doc, _ *ask, was verdictOf) []doc {
		return slices.DeleteFunc(input, func(m doc) bool {
			return slices.ContainsFunc(was.shadowed, func(rule string) bool {
				return strings.HasPrefix(rule, text(m, "kind")+" "+text(m, "metadata", "namespace")+"/"+
					text(m, "metadata", "name")+" ")
			})
		})
	}, true},
	{"another case of header names", func(d dice, input []doc, a *ask, _ verdictOf) []doc {
		recase := func(s string) string { return one(d, strings.ToUpper(s), strings.ToLower(s), s) }
		for _, m := range input {
			for _, rule := range entries(m, "spec", "rules") {
				for _, match := range entries(rule, "matches") {
					for _, h := range entries(match, "headers") {
						h.(doc)["name"] = recase(text(h, "name"))
					}
				}
			}
		}
		for i, h := range a.Headers {
			name, value, _ := strings.Cut(h, ":")
			a.Headers[i] = recase(name) + ":" + value
		}
		return input
	}, false},
	{"every rule twice", func(_ dice, input []doc, _ *ask, _ verdictOf) []doc {
		for _, m := range input {
			if rules := entries(m, "spec", "rules"); len(rules) > 0 && (text(m, "kind") == "HTTPRoute" ||
				text(m, "kind") == "GRPCRoute") {
				m["spec"].(doc)["rules"] = append(rules, cloneValue(rules).([]any)...)
			}
		}
		return input
	}, false},
	{"every match twice", func(_ dice, input []doc, _ *ask, _ verdictOf) []doc {
		for _, m := range input {
			for _, rule := range entries(m, "spec", "rules") {
				if matches := entries(rule, "matches"); len(matches) > 0 {
					rule.(doc)["matches"] = append(matches, cloneValue(matches).([]any)...)
				}
			}
		}
		return input
	}, false},
	{"every route attached once more", func(_ dice, input []doc, _ *ask, _ verdictOf) []doc {
		var ports []int64
		for _, m := range input {
			for _, l := range entries(m, "spec", "listeners") {
				ports = append(ports, number(l, "port"))
			}
		}
		for _, m := range input {
			parents := entries(m, "spec", "parentRefs")
			for _, p := range slices.Clone(parents) {
				for _, port := range ports {
					if number(p, "port") == 0 {
						once := cloneValue(p).(doc)
						once["port"] = port
						parents = append(parents, once)
					}
				}
			}
			if parents != nil {
				m["spec"].(doc)["parentRefs"] = parents
			}
		}
		return input
	}, false},
	{"every hostname twice", func(_ dice, input []doc, _ *ask, _ verdictOf) []doc {
		for _, m := range input {
			if hosts := entries(m, "spec", "hostnames"); len(hosts) > 0 {
				m["spec"].(doc)["hostnames"] = append(hosts, hosts...)
			}
		}
		return input
	}, false},
}

// TestMatcherKeeps holds answers against those after a change that must not matter.
func TestMatcherKeeps(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			for seed := *firstSeed; seed < *firstSeed+100; seed++ {
				d := newDice(seed)
				input := d.input()
				settings, _ := d.settings()
				g := build.Graph(snapshot(input), settings)
				m := NewMatcher(g, settings)
				for range asksEach {
					a := d.ask(input)
					before := answerOf(t, m, g, a)
					was := verdictIn(g, before)
					asked := a
					asked.Headers = slices.Clone(a.Headers)
					changed := c.change(d, clone(input), &asked, was)
					g2 := build.Graph(snapshot(changed), settings)
					after := answerOf(t, NewMatcher(g2, settings), g2, asked)
					is := verdictIn(g2, after)
					same := was.equal(is)
					if c.winner {
						same = was.kind == is.kind && was.listener == is.listener && was.winner == is.winner
					} else if c.name == "another order of the objects" {
						same = same && said(before) == said(after)
					}
					if !same {
						t.Fatalf("seed %d: %s\n  before: %s\n  after:  %s\n%s---\n# changed\n%s", seed, a,
							said(before), said(after), written(input), written(changed))
					}
				}
			}
		})
	}
}

// said is everything that an answer says in words.
func said(a *Answer) string {
	var s []string
	s = append(s, string(a.Outcome), string(a.Assumed), fmt.Sprint(a.Status), strings.Join(a.Why, "; "))
	for _, p := range a.Problems {
		s = append(s, string(p.Code)+" "+p.Message)
	}
	return strings.Join(s, "\n    ")
}
