package merge

import (
	"math/rand"
	"reflect"
	"strconv"
	"testing"
)

// plan makes a tree of folds over the levels [from, to), each level in one leaf or in none.
func (k *maker) plan(from, to, depth int) Plan {
	p := Plan{SameTarget: []SameTarget{Stacked, Fill}[k.Intn(2)]}
	if k.Intn(2) == 0 {
		s := block([]BlockKind{Defaults, Overrides}[k.Intn(2)], k.one(k.words...), m{}).Strategy
		p.Strategy = &s
	}
	if depth == 0 || to-from < 2 || k.Intn(3) == 0 {
		p.Levels = []string{}
		for i := from; i < to; i++ {
			if k.Intn(8) > 0 {
				p.Levels = append(p.Levels, "level"+strconv.Itoa(i))
			}
		}
		return p
	}
	middle := from + 1 + k.Intn(to-from-1)
	p.Members = []Plan{k.plan(from, middle, depth-1), k.plan(middle, to, depth-1)}
	return p
}

// E10 holds for groups, for several policies on one target, and for what no plan takes
func TestPlansKeepAccounts(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(10)), shape: entries}
	for n := range 2500 {
		k.words = []string{"atomic", "merge"}
		if n%4 == 0 {
			k.words = append(k.words, "patch")
		}
		s := k.stack(5, Defaults, Bare, Overrides)
		for i := 1; i < len(s.Layers); i++ {
			if k.Intn(3) == 0 { // another one on the same target
				s.Layers[i].Level, s.Layers[i].Target = s.Layers[i-1].Level, s.Layers[i-1].Target
			}
		}
		plans := []Plan{k.plan(0, 5, 2)}
		switch {
		case n%4 == 0:
			plans = []Plan{{SameTarget: Fill}}
		case k.Intn(3) == 0:
			plans = []Plan{k.plan(0, 5, 0), k.plan(0, 5, 1)}
			plans[0].Only = Shape{{Path: KeyPath("n")}}
		}
		r := Fold(plans, entries, s)
		if bad := accounts(s, entries, r); bad != "" {
			t.Fatalf("plan %d %+v %s: %s\n%s", n, plans, write(s), bad, say(r))
		}
		if got := bareDoc(r.Rules); !reflect.DeepEqual(got, r.Document()) {
			t.Fatalf("plan %d %+v %s: rules make %v, the document is %v", n, plans, write(s), got, r.Document())
		}
		if again := Fold(plans, entries, s); !reflect.DeepEqual(again, r) {
			t.Fatalf("plan %d %+v %s: folded again: %s\n%s", n, plans, write(s), say(again), say(r))
		}
	}
}

func TestFillLetsTheFirstWinRuleByRule(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(11)), shape: entries, words: []string{"merge"}}
	for range 1000 {
		s := k.stack(4, Bare)
		want := map[string]any{}
		for i := range s.Layers {
			s.Layers[i].Level, s.Layers[i].Target = "route", 0
			for _, u := range s.Layers[i].Blocks[0].Units {
				if _, ok := want[u.Path.String()]; !ok && len(u.Path) == 2 {
					want[u.Path.String()] = u.Value
				}
			}
		}
		for _, rule := range Fold([]Plan{{SameTarget: Fill}}, entries, s).Rules {
			if len(rule.Path) == 2 && !reflect.DeepEqual(rule.Value, want[rule.Name]) {
				t.Fatalf("%s=%v, want %v %s", rule.Name, rule.Value, want[rule.Name], write(s))
			}
		}
	}
}
