package merge

import (
	"reflect"
	"slices"
	"testing"
)

// sameTarget makes all layers policies on one target.
func sameTarget(layers ...Layer) Stack {
	for i := range layers {
		layers[i].Level = "route"
	}
	return Stack{Layers: layers}
}

func never(b Block) Block {
	b.When = when(func(any) (bool, error) { return false, nil })
	return b
}

// {n: {a: {x: null, z: {y: null}}}} on nothing is {n: {a: {z: {}}}} (RFC 7386)
func TestNullsAtTwoDepths(t *testing.T) {
	r := Fold(one, entries, stack(layer(block(Overrides, "patch", m{"n": m{"a": m{"x": nil, "z": m{"y": nil}}}})),
		bare(m{"o": m{"k": 1}})))
	if want := (m{"n": m{"a": m{"z": m{}}}, "o": m{"k": 1}}); !reflect.DeepEqual(r.Document(), want) {
		t.Errorf("got %v, want %v", r.Document(), want)
	}
	if len(r.Rules) != 2 {
		t.Errorf("one object is two rules: %s", say(r))
	}
}

// underLowest folds a policy with the given defaults over a lowest one that says atomic, and over
// the same one that says patch.
func underLowest(word string, lowest m) (atomic, patch any) {
	over := func(lowestWord string) any {
		upper := layer(block(Defaults, word, m{"n": m{"a": 1, "c": 2}}))
		r := Fold(one, entries, stack(upper, layer(block(Bare, lowestWord, lowest))))
		return r.Document()
	}
	return over("atomic"), over("patch")
}

func TestLowestStrategyIsNeverUsed(t *testing.T) { // gep713 P25: nothing is below the lowest policy
	for _, word := range []string{"atomic", "merge", "patch"} {
		for _, lowest := range []m{{"n": m{}}, {"n": m{"a": m{}}}, {"n": m{"a": m{"x": m{}}}}, {"n": 1}} {
			if atomic, patch := underLowest(word, lowest); !reflect.DeepEqual(atomic, patch) {
				t.Errorf("%s defaults above %v: %v where the lowest policy says atomic, %v where it says patch", word,
					lowest, atomic, patch)
			}
		}
	}
}

func TestUnionThenOverride(t *testing.T) { // a clash with two rules of one name puts the winner there once
	s := stack(layer(block(Overrides, "merge", m{"n": m{"a": 1}})), layer(block(Bare, "union", m{"n": m{"a": 2}})),
		bare(m{"n": m{"a": 3}}))
	if r := Fold(one, entries, s); len(r.Rules) != 1 {
		t.Errorf("got %s", say(r))
	}
}

func TestUnionThenPatch(t *testing.T) {
	s := stack(layer(block(Defaults, "patch", m{"n": m{"b": 1}})),
		layer(block(Bare, "union", m{"n": m{"a": m{"x": 2}}})), bare(m{"n": m{"a": m{"x": 3}}}))
	if bad := accounts(s, entries, Fold(one, entries, s)); bad != "" {
		t.Error(bad)
	}
}

// an empty spec that holds its place (unit * = {}) has no name that clashes under merge (E4)
func TestClaimIsNoRule(t *testing.T) {
	claim := Layer{Blocks: []Block{{Kind: Bare, Units: []Unit{{Value: m{}}}}}}
	want := any(m{"n": m{"a": 1}})
	if r := Fold(one, entries, stack(layer(block(Defaults, "merge", m{"n": m{"a": 1}})), claim)); !reflect.DeepEqual(
		r.Document(), want) {
		t.Errorf("merge defaults above it: got %v, want %v", r.Document(), want)
	}
	claim.Blocks[0].Kind, claim.Blocks[0].Strategy = Overrides, Strategy{Wins: Higher, Cut: Rules}
	if r := Fold(one, entries, stack(claim, bare(m{"n": m{"a": 1}}))); !reflect.DeepEqual(r.Document(), want) {
		t.Errorf("as merge overrides: got %v, want %v", r.Document(), want)
	}
}

func TestOnlyHoldsForMembers(t *testing.T) { // a plan of groups takes no more units than it says
	plans := []Plan{{Only: Shape{{Path: KeyPath("f", "x")}}, Members: []Plan{{Levels: []string{"gateway"}},
		{Levels: []string{"listener"}}}}, {}}
	r := Fold(plans, entries, stack(bare(m{"f": m{"x": 1, "y": 1}}), bare(m{"f": m{"x": 2, "y": 2}})))
	if got, want := say(r),
		"f.x=2(1b) -f.x(0b) AtomicReplaced>(1b) f.y=2(1b) -f.y(0b) AtomicReplaced>(1b)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// of several policies on one target, the one that wrote the block, not the first (E10)
func TestFillNamesTheWriter(t *testing.T) {
	fill := []Plan{{SameTarget: Fill}}
	r := Fold(fill, entries, sameTarget(layer(block(Defaults, "merge", m{"n": m{"a": 1}})),
		layer(block(Overrides, "atomic", m{"n": m{"b": 2}}))))
	if got, want := say(r), "n.b=2(1o) -n.a(0d) SameLevelOrder>(1o)"; got != want {
		t.Errorf("override: got %s, want %s", got, want)
	}
	lists := layer()
	lists.Unset = []string{"n.a"}
	s := sameTarget(layer(block(Defaults, "merge", m{"n": m{"b": 1}})), lists)
	s.Layers = append([]Layer{{Level: "gateway", Target: 1,
		Blocks: []Block{block(Defaults, "merge", m{"n": m{"a": 9}})}}}, s.Layers...)
	if got, want := say(Fold(fill, entries, s)), "n.b=1(1d) -n.a(0d) Unset>(2b)"; got != want {
		t.Errorf("unset: got %s, want %s", got, want)
	}
}

// a block's condition is its own (E6), also where two blocks fill one another
func TestFillKeepsConditionsApart(t *testing.T) {
	fill := []Plan{{SameTarget: Fill}}
	a, b := block(Defaults, "merge", m{"n": m{"a": 1}}), block(Defaults, "merge", m{"n": m{"b": 2}})
	for _, c := range []struct {
		name, want string
		s          Stack
	}{
		{"of the younger", "n.a=1(0d) -n.b(1d) ConditionFalse>()", sameTarget(layer(a), layer(never(b)))},
		{"of the older", "n.b=2(1d) -n.a(0d) ConditionFalse>()", sameTarget(layer(never(a)), layer(b))},
	} {
		if got := say(Fold(fill, entries, c.s)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestIgnoredIsNotInForce(t *testing.T) { // a leaf that a coarser cut joined was met
	merge := Strategy{Wins: Higher, Cut: Rules}
	plan := []Plan{{Strategy: &merge, Members: []Plan{{Levels: []string{"gateway"}}, {Levels: []string{"listener"},
		Strategy: &merge}}}}
	r := Fold(plan, entries, stack(bare(m{"n": m{"a": 1}}), layer(block(Bare, "patch", m{"n": m{"b": m{"x": 1}}}))))
	if got, want := say(r), "n.a=1(0b) n.b=map[x:1](1b)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLossesOfOneNameHaveAnOrder(t *testing.T) { // x / y.z and x.y / z print alike, and are two rules (E12)
	s := stack(bare(m{"x": m{"y.z": 1}, "x.y": m{"z": 2}}), bare(m{"q": m{"q": 1}}))
	first := Fold(one, entries, s)
	for range 100 {
		if again := Fold(one, entries, s); !reflect.DeepEqual(again, first) {
			t.Fatalf("lost %v, folded again %v", first.Lost, again.Lost)
		}
	}
}

func TestWinnersAreInOrder(t *testing.T) { // Loss.To: least specific first
	lists := func() Layer { return Layer{Unset: []string{"n.a"}} }
	r := Fold(one, entries, stack(layer(block(Defaults, "merge", m{"n": m{"a": 1}})), lists(), lists()))
	if to := r.Lost[0].WinningSources(); !slices.IsSortedFunc(to, Source.compare) {
		t.Errorf("unset by %v", to)
	}
}

// an atomic override of which nothing applies does not clear what is below (RFC 0009 §10)
func TestAllConditionsOfUnitsFalse(t *testing.T) {
	b := block(Overrides, "atomic", m{"n": m{"a": 1}})
	b.Units[0].When = when(func(any) (bool, error) { return false, nil })
	if got, want := say(Fold(one, entries, stack(layer(b), bare(m{"n": m{"c": 1}})))),
		"n.c=1(1b) -n.a(0o) ConditionFalse>()"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// E2: with two policies the direction does not matter; the order of blocks is fixed (E3)
func TestTwoPoliciesAreNotOrderSensitive(t *testing.T) {
	for _, blocks := range [][]Block{
		{block(Defaults, "merge", m{"n": m{"a": 1}}), block(Overrides, "atomic", m{"n": m{"b": 1}})},
		{block(Defaults, "patch", m{"n": m{"a": 1}}), block(Bare, "atomic", m{"n": m{"b": 1}}),
			block(Overrides, "merge", m{"n": m{"c": 1}})},
	} {
		if r, differs := FoldTopDown(one, entries, stack(layer(blocks...), bare(m{"n": m{"d": 1}}))); differs {
			t.Errorf("from the top %s", say(r))
		}
	}
}

// E5: names are the printed rule names, whatever the block was cut at
func TestUnsetComparesRuleNamesUnderMerge(t *testing.T) {
	merge := Strategy{Cut: Rules}
	lower := Layer{Unset: []string{"n.a"}}
	r := Fold([]Plan{{Strategy: &merge}}, entries,
		stack(layer(block(Defaults, "patch", m{"n": m{"a": m{"x": 1}, "b": 2}})), lower))
	if got, want := say(r), "n.b=2(0d) -n.a(0d) Unset>(1b)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUnsetReachesOtherGroups(t *testing.T) { // E5: the lists of all lower policies hold for all higher ones
	merge := Strategy{Cut: Rules}
	plan := []Plan{{Strategy: &merge, Members: []Plan{{Levels: []string{"gateway"}}, {Levels: []string{"listener"}}}}}
	lower := bare(m{"n": m{"b": 1}})
	lower.Unset = []string{"n.a"}
	r := Fold(plan, entries, stack(layer(block(Defaults, "merge", m{"n": m{"a": 1}})), lower))
	if got, want := say(r), "n.b=1(1b) -n.a(0d) Unset>(1b)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
