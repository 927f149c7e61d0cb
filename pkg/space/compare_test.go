package space

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// TestEveryRequestHasOnePair draws two inputs that share some routes: every request is in exactly
// one class of both, and what becomes of it on a side is what becomes of the class there; the
// class's own request is in it and in no other.
func TestEveryRequestHasOnePair(t *testing.T) {
	asked, different, unknown := 0, 0, 0
	for seed := range uint64(max(*seeds*2/5, 1)) {
		d := dice{rand.New(rand.NewPCG(seed, 26))}
		settings := d.settings()
		input, other := d.input(), d.input()
		next := slices.Concat(input[:1], input[2:], other[len(other)-1:]) // without one object, and with another route
		next[len(next)-1]["metadata"].(doc)["name"] = "another"
		var sides [2]Side
		var m [2]request.Competition
		for i, docs := range [][]doc{input, next} {
			g := build.Graph(snapshot(docs), settings)
			m[i] = request.Competition{Matcher: request.NewMatcher(g, settings)}
			sides[i] = Side{Matcher: m[i].Matcher,
				GatewayRef: func(id topology.NodeID) model.Ref { return g.Node(id).Ref }}
		}
		var all []*Pair
		if err := Compare(sides[0], sides[1], Scope{Destination: AnyDestination()},
			func(p *Pair) bool { all = append(all, p); return true }); err != nil {
			t.Fatal(err)
		}
		gatewayOf := func(p *Pair) model.Ref {
			if p.After != nil {
				return sides[1].GatewayRef(p.After.Entry.Gateway)
			}
			return sides[0].GatewayRef(p.Before.Entry.Gateway)
		}
		containing := func(gateway model.Ref, e request.Entry, r *request.Request) []*Pair {
			return slices.DeleteFunc(slices.Clone(all), func(p *Pair) bool {
				at := p.AnyClass().Entry
				return gatewayOf(p) != gateway || at.Port != e.Port || at.Secure != e.Secure ||
					!p.AnyClass().Contains(r)
			})
		}
		for _, p := range all {
			if p.Before != nil && p.After != nil && p.Before.Text() != p.After.Text() {
				t.Fatalf("seed %d: %s and %s are one class", seed, p.Before.Text(), p.After.Text())
			}
			if in := containing(gatewayOf(p), p.AnyClass().Entry, &p.AnyClass().Request); len(in) != 1 || in[0] != p {
				t.Fatalf("seed %d: %s of class %s is in %d classes", seed, p.AnyClass().Request.Text,
					p.AnyClass().Text(), len(in))
			}
		}
		for side := range m {
			for _, e := range m[side].Entries(AnyDestination()) {
				for range 12 {
					r := d.ask(e)
					answer, err := m[side].FindRule(r, request.Destination{Gateway: e.Gateway})
					if err != nil {
						t.Fatal(err)
					}
					in := containing(sides[side].GatewayRef(e.Gateway), e, &r)
					if r.Protocol == request.GRPC && len(in) == 0 {
						continue // HTTPRoutes decide on both sides
					}
					if len(in) != 1 {
						t.Fatalf("seed %d: %s is in %d classes", seed, answer.Request.Text, len(in))
					}
					asked++
					c := []*Class{in[0].Before, in[0].After}[side]
					if c == nil {
						t.Fatalf("seed %d: %s comes to side %d, which has no class for it", seed,
							answer.Request.Text, side)
					}
					if c.Unknown != "" {
						unknown++
						continue
					}
					if !same(answer, c.Answer) {
						t.Fatalf("seed %d: %s\n%+v\n%s, as %s\n%+v", seed, answer.Request.Text, answer, c.Text(),
							c.Request.Text, c.Answer)
					}
					if rivals := c.CompetingRules(); c.Answer.Rule != topology.None &&
						!slices.Contains(rivals, c.Answer.Rule) {
						t.Fatalf("seed %d: the rule that takes %s is none of its rivals", seed, c.Text())
					}
				}
			}
		}
		for _, p := range all {
			if p.Before != nil && p.After != nil && p.Before.Answer.Outcome != p.After.Answer.Outcome {
				different++
			}
		}
	}
	t.Logf("%d requests, %d of unknown classes, %d classes that differ", asked, unknown, different)
	if asked < 1000 && *seeds >= 250 || unknown > asked/3 || different == 0 {
		t.Errorf("the draw misses what it is for: %d requests, %d of unknown classes, %d classes that differ", asked,
			unknown, different)
	}
}
