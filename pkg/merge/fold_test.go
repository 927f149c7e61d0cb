package merge

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// m and l keep the JSON of the tests short.
type m = map[string]any
type l = []any

// entries is the cut of kinds whose rules are the keys of map fields.
var entries = Shape{{Path: Path{{Form: Any}, {Form: Any}}}}

var one = []Plan{{}}

// block makes a block of kind b from settings, strategy like "merge" on the block's own side.
func block(b BlockKind, word string, settings any) Block {
	s := Strategy{Wins: Lower}
	if b == Overrides {
		s.Wins = Higher
	}
	shape := entries
	switch word {
	case "merge":
		s.Cut = Rules
	case "patch":
		s.Cut, shape = Leaves, leafShape
	case "union":
		s.Wins = Both
	}
	units, _ := shape.CutSettings(settings)
	return Block{Kind: b, Units: units, Strategy: s}
}

func bare(settings any) Layer     { return Layer{Blocks: []Block{block(Bare, "atomic", settings)}} }
func layer(blocks ...Block) Layer { return Layer{Blocks: blocks} }
func stack(layers ...Layer) Stack {
	return Stack{Layers: at(layers, "gateway", "listener", "route", "rule")}
}
func at(layers []Layer, levels ...string) []Layer {
	for i := range layers {
		if layers[i].Level == "" {
			layers[i].Level = levels[i]
		}
	}
	return layers
}

// say writes a result as one line: rules with their layers, then losses with reasons.
func say(r Result) string {
	var out []string
	for _, rule := range r.Rules {
		out = append(out, fmt.Sprintf("%s=%v%s", rule.Name, rule.Value, where(rule.From)))
		for _, lost := range rule.Lost {
			out = append(out, fmt.Sprintf("-%s%s %s>%s", lost.Rule, where([]Source{lost.From}), lost.Reason,
				where(lost.WinningSources())))
		}
	}
	for _, lost := range r.Lost {
		out = append(out, fmt.Sprintf("-%s%s %s>%s", lost.Rule, where([]Source{lost.From}), lost.Reason,
			where(lost.WinningSources())))
	}
	return strings.Join(out, " ")
}

func where(from []Source) string {
	var out []string
	for _, f := range from {
		out = append(out, fmt.Sprintf("%d%c", f.Layer, f.Block.String()[0]))
	}
	return "(" + strings.Join(out, ",") + ")"
}

type when func(doc any) (bool, error)

func (w when) Holds(doc any) (bool, error) { return w(doc) }

func get(doc any, path ...string) any {
	for _, key := range path {
		doc, _ = doc.(m)[key]
	}
	return doc
}

func TestFold(t *testing.T) {
	ab := m{"n": m{"a": "g", "b": "g"}}
	over := func(limit int) Block {
		b := block(Overrides, "merge", m{"n": m{"a": 50}})
		b.When = when(func(doc any) (bool, error) {
			a, ok := get(doc, "n", "a").(int)
			if !ok {
				return false, errors.New("no such key")
			}
			return a > limit, nil
		})
		return b
	}
	for _, c := range []struct {
		name  string
		stack Stack
		want  string
	}{
		{"nothing", stack(), ""},
		{"identity", stack(bare(ab)), "n.a=g(0b) n.b=g(0b)"},
		{"atomic defaults", stack(layer(block(Defaults, "atomic", ab)), bare(m{"n": m{"c": "r"}})),
			"n.c=r(1b) -n.a(0d) AtomicReplaced>(1b) -n.b(0d) AtomicReplaced>(1b)"},
		{"merge defaults", stack(layer(block(Defaults, "merge", ab)), bare(m{"n": m{"a": "r"}})),
			"n.a=r(1b) -n.a(0d) MoreSpecificWins>(1b) n.b=g(0d)"},
		{"atomic overrides", stack(layer(block(Overrides, "atomic", ab)), bare(m{"n": m{"c": "r"}})),
			"n.a=g(0o) n.b=g(0o) -n.c(1b) AtomicOverridden>(0o)"},
		{"merge overrides", stack(layer(block(Overrides, "merge", ab)), bare(m{"n": m{"a": "r", "d": "r"}})),
			"n.a=g(0o) -n.a(1b) LessSpecificOverrides>(0o) n.b=g(0o) n.d=r(1b)"},
		{"empty atomic override clears", stack(layer(block(Overrides, "atomic", m{})), bare(ab)),
			"-n.a(1b) AtomicOverridden>(0o) -n.b(1b) AtomicOverridden>(0o)"},
		{"empty lower set is adopted over", stack(layer(block(Defaults, "atomic", ab)), bare(m{})),
			"n.a=g(0d) n.b=g(0d)"},
		{"override of three holds", stack(layer(block(Overrides, "atomic", m{"c": "red"})),
			layer(block(Defaults, "atomic", m{"c": "blue"})), bare(m{"c": "green"})),
			"c=red(0o) -c(1d) AtomicReplaced>(2b) -c(2b) AtomicOverridden>(0o)"},
		{"a dropped atomic default shields nothing", stack(layer(block(Defaults, "merge", m{"n": m{"x": 1}})),
			layer(block(Defaults, "atomic", m{"n": m{"y": 1}})), bare(m{"n": m{"z": 1}})),
			"n.x=1(0d) n.z=1(2b) -n.y(1d) AtomicReplaced>(2b)"},
		{"three blocks, no lower", stack(layer(block(Defaults, "atomic", m{"n": m{"a": 1}}),
			block(Bare, "atomic", m{"n": m{"b": 1}}), block(Overrides, "merge", m{"n": m{"c": 1}}))),
			"n.a=1(0d) n.c=1(0o) -n.b(0b) AtomicReplaced>(0d)"},
		{"condition holds", stack(layer(over(50)), bare(m{"n": m{"a": 100}})),
			"n.a=50(0o) -n.a(1b) LessSpecificOverrides>(0o)"},
		{"condition fails", stack(layer(over(50)), bare(m{"n": m{"a": 30}})), "n.a=30(1b) -n.a(0o) ConditionFalse>()"},
		{"condition cannot be judged", stack(layer(over(50)), bare(m{"n": m{"b": 30}})),
			"n.b=30(1b) -n.a(0o) ConditionFalse>()"},
	} {
		if got := say(Fold(one, entries, c.stack)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestFoldSameLevel(t *testing.T) {
	older, newer := bare(m{"n": m{"a": "old"}}), bare(m{"n": m{"a": "new"}})
	older.Level, newer.Level = "route", "route"
	if got, want := say(Fold(one, entries, stack(older, newer))),
		"n.a=new(1b) -n.a(0b) SameLevelOrder>(1b)"; got != want {
		t.Errorf("defaults: got %s, want %s", got, want)
	}
	older = layer(block(Overrides, "merge", m{"n": m{"a": "old"}}))
	older.Level = "route"
	if got, want := say(Fold(one, entries, stack(older, newer))),
		"n.a=old(0o) -n.a(1b) SameLevelOrder>(0o)"; got != want {
		t.Errorf("overrides: got %s, want %s", got, want)
	}
}

func TestFoldUnset(t *testing.T) {
	lower := bare(m{"n": m{"b": "r"}})
	lower.Unset = []string{"n.a", "n.b"}
	for _, c := range []struct {
		name, want string
		upper      Block
	}{
		{"defaults", "n.b=r(1b) -n.b(0d) Unset>(1b) n.c=g(0d) -n.a(0d) Unset>(1b)",
			block(Defaults, "merge", m{"n": m{"a": "g", "b": "g", "c": "g"}})},
		{"overrides", "n.a=g(0o) n.b=r(1b)", block(Overrides, "merge", m{"n": m{"a": "g"}})},
		{"patch, a leaf", "n.b=r(1b) -n.b(0d) Unset>(1b) n.c=g(0d) -n.a(0d) Unset>(1b)",
			block(Defaults, "patch", m{"n": m{"a": m{"x": 1}, "b": "g", "c": "g"}})},
	} {
		if got := say(Fold(one, entries, stack(layer(c.upper), lower))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	only := Layer{Unset: []string{"n.a"}}
	if got, want := say(Fold(one, entries, stack(layer(block(Defaults, "atomic", m{"n": m{"a": 1, "b": 2}})), only))),
		"n.b=2(0d) -n.a(0d) Unset>(1b)"; got != want {
		t.Errorf("a policy with only unset adopts the rest of an atomic set: got %s, want %s", got, want)
	}
}

func TestFoldPatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		stack Stack
		want  string
		doc   any
	}{
		{"overrides keep what they do not name",
			stack(layer(block(Overrides, "patch", m{"colors": m{"light": "yellow"}})),
				bare(m{"colors": m{"dark": "olive", "light": "green"}})),
			"colors.dark=olive(1b) colors.light=yellow(0o) -colors.light(1b) LessSpecificOverrides>(0o)", m{
				"colors": m{"dark": "olive", "light": "yellow"}}},
		{"a rule from two sources is printed finer",
			stack(layer(block(Defaults, "patch", m{"n": m{"a": m{"x": 1, "y": 1}}})),
				bare(m{"n": m{"a": m{"x": 2}, "b": 3}})),
			"n.a.x=2(1b) -n.a.x(0d) MoreSpecificWins>(1b) n.a.y=1(0d) n.b=3(1b)", m{"n": m{"a": m{"x": 2, "y": 1},
				"b": 3}}},
		{"null deletes", stack(layer(block(Defaults, "patch", m{"n": m{"a": 1, "b": 1}})),
			layer(block(Bare, "patch", m{"n": m{"a": nil}}))),
			"n.b=1(0d) -n.a(0d) MoreSpecificWins>(1b)", m{"n": m{"b": 1}}},
		{"null that deletes nothing", stack(layer(block(Defaults, "patch", m{"n": m{"b": 1}})),
			layer(block(Bare, "patch", m{"n": m{"a": nil}}))),
			"n.b=1(0d) -n.a(1b) NoEffect>()", m{"n": m{"b": 1}}},
		{"null reaches through the middle", stack(layer(block(Defaults, "patch", m{"n": m{"a": 1, "b": 1}})),
			layer(block(Defaults, "patch", m{"n": m{"c": 1}})), layer(block(Bare, "patch", m{"n": m{"a": nil}}))),
			"n.b=1(0d) n.c=1(1d) -n.a(0d) MoreSpecificWins>(2b)", m{"n": m{"b": 1, "c": 1}}},
		{"scalar to object", stack(layer(block(Overrides, "patch", m{"n": m{"a": m{"x": 1}}})),
			bare(m{"n": m{"a": 5}})),
			"n.a=map[x:1](0o) -n.a(1b) LessSpecificOverrides>(0o)", m{"n": m{"a": m{"x": 1}}}},
		{"empty object adds nothing to a full one", stack(layer(block(Overrides, "patch", m{"n": m{}})),
			bare(m{"n": m{"a": 5}})),
			"n.a=5(1b) -n(0o) NoEffect>(1b)", m{"n": m{"a": 5}}},
		{"lists are leaves", stack(layer(block(Overrides, "patch", m{"n": m{"a": l{1}}})),
			bare(m{"n": m{"a": l{1, 2}}})),
			"n.a=[1](0o) -n.a(1b) LessSpecificOverrides>(0o)", m{"n": m{"a": l{1}}}},
		{"merge above patch joins leaves", stack(layer(block(Overrides, "merge", m{"n": m{"a": "top"}})),
			layer(block(Defaults, "patch", m{"n": m{"a": m{"x": 1}}})), bare(m{"n": m{"a": m{"y": 2}}})),
			"n.a=top(0o) -n.a(1d) LessSpecificOverrides>(0o) -n.a(2b) LessSpecificOverrides>(0o)", m{
				"n": m{"a": "top"}}},
	} {
		r := Fold(one, entries, c.stack)
		if got := say(r); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if !reflect.DeepEqual(r.Document(), c.doc) {
			t.Errorf("%s: doc %v, want %v", c.name, r.Document(), c.doc)
		}
	}
}

func TestFoldKeyedLists(t *testing.T) {
	shape := append(Shape{{Path: KeyPath("rules"), Keys: []string{"id"}, As: ListEntry}}, entries...)
	list := func(kv ...string) any {
		out := l{}
		for i := 0; i < len(kv); i += 2 {
			out = append(out, m{"id": kv[i], "color": kv[i+1]})
		}
		return m{"rules": out}
	}
	units := func(settings any) []Unit { u, _ := shape.CutSettings(settings); return u }
	s := stack(Layer{Blocks: []Block{{Kind: Overrides, Units: units(list("walls", "green", "roof", "orange")),
		Strategy: Strategy{Wins: Higher, Cut: Rules}}}},
		Layer{Blocks: []Block{{Kind: Bare, Units: units(list("roof", "purple", "floor", "red"))}}})
	r := Fold(one, shape, s)
	if got, want := r.Document(), list("roof", "orange", "floor", "red", "walls", "green"); !reflect.DeepEqual(got,
		want) {
		t.Errorf("lower order, replaced in place, additions behind: got %v, want %v", got, want)
	}
	if _, unkeyed := shape.CutSettings(m{"rules": l{m{"color": "red"}}}); len(unkeyed) != 1 {
		t.Errorf("a list whose key is absent is one unit and said so, got %v", unkeyed)
	}
}

// The plans below have the shape of vendors whose descriptors come later; what they prove is the
// algebra.

func TestPlanChildChooses(t *testing.T) { // one nearest parent, and the child's own word whether to merge
	replace, mergeDefaults := Strategy{}, Strategy{Cut: Rules}
	plan := []Plan{{FromLower: true, Strategy: &replace, Members: []Plan{
		{Name: "gateway side", Levels: []string{"gateway", "listener"}, Strategy: &replace},
		{Name: "route side", Levels: []string{"route", "rule"}, Strategy: &replace}}}}
	make := func(asks *Strategy) Stack {
		s := stack(bare(m{"f": m{"g": 0}}), bare(m{"f": m{"l": 1}}), bare(m{"f": m{"r": 2}}), bare(m{"f": m{"u": 3}}))
		s.Layers[3].DemandedStrategy = asks
		return s
	}
	if got, want := say(Fold(plan, entries, make(nil))),
		"f.u=3(3b) -f.g(0b) AtomicReplaced>(1b) -f.l(1b) AtomicReplaced>(3b) -f.r(2b) AtomicReplaced>(3b)"; got != want {
		t.Errorf("no word: got %s, want %s", got, want)
	}
	if got, want := say(Fold(plan, entries, make(&mergeDefaults))),
		"f.l=1(1b) f.u=3(3b) -f.g(0b) AtomicReplaced>(1b) -f.r(2b) AtomicReplaced>(3b)"; got != want {
		t.Errorf("merge asked for by the rule's policy, whose route has one too: got %s, want %s", got, want)
	}
}

func TestPlanGroupsAndHops(t *testing.T) { // separate groups, delegation hop by hop, fill on one target
	fall, parentFirst := Strategy{Cut: Rules}, Strategy{Wins: Higher, Cut: Rules}
	plan := []Plan{{Strategy: &fall, Members: []Plan{
		{Name: "gateway", Levels: []string{"gateway"}, Strategy: &fall, SameTarget: Fill},
		{Name: "route", EachRole: "route", Levels: []string{"route", "rule"}, Strategy: &fall, SameTarget: Fill}}}}
	layers := []Layer{bare(m{"f": m{"a": "gw", "b": "gw", "c": "gw"}}), bare(m{"f": m{"a": "parent", "d": "parent"}}),
		bare(m{"f": m{"a": "child"}}), bare(m{"f": m{"a": "younger", "e": "younger"}})}
	for i, level := range []string{"gateway", "route", "route", "route"} {
		layers[i].Level = level
	}
	layers[2].Hop, layers[3].Hop, layers[2].Target, layers[3].Target = 1, 1, 2, 2
	s := Stack{Layers: layers}
	r := Fold(plan, entries, s)
	if got, want := say(r),
		"f.a=child(2b) -f.a(0b) MoreSpecificWins>(2b) -f.a(1b) MoreSpecificWins>(2b) -f.a(3b) SameLevelOrder>(2b) f.b=gw(0b) f.c=gw(0b) f.d=parent(1b) f.e=younger(3b)"; got != want {
		t.Errorf("child first:\n got %s\nwant %s", got, want)
	}
	if len(r.Groups) != 2 || len(r.Groups[1].Rules) != 3 {
		t.Errorf("groups: %+v", r.Groups)
	}
	s.Hops = []*Strategy{&parentFirst, nil}
	if got, want := say(Fold(plan, entries, s)), "f.a=parent(1b)"; !strings.HasPrefix(got, want) {
		t.Errorf("the parent route says that it comes first: got %s", got)
	}
}

func TestPlanUnion(t *testing.T) {
	union := Strategy{Wins: Both}
	r := Fold([]Plan{{Strategy: &union}}, entries, stack(bare(m{"f": m{"x": 1}}), bare(m{"f": m{"x": 2}})))
	if got, want := say(r), "f.x=1(0b) f.x=2(1b)"; got != want || !r.Ordered {
		t.Errorf("got %s ordered %v, want %s in order", got, r.Ordered, want)
	}
}

// a unit belongs to the first plan that takes it; what none takes is accounted for
func TestPlanClaimsUnits(t *testing.T) {
	higher := Strategy{Wins: Higher, Cut: Rules}
	plan := []Plan{{Only: Shape{{Path: KeyPath("f", "x")}}, Strategy: &higher}, {Levels: []string{"listener"}}}
	got := say(Fold(plan, entries, stack(bare(m{"f": m{"x": 1, "y": 1}}), bare(m{"f": m{"x": 2, "y": 2}}))))
	if want := "f.x=1(0b) -f.x(1b) LessSpecificOverrides>(0b) f.y=2(1b) -f.y(0b) Ignored>()"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOrderSensitive(t *testing.T) {
	for _, c := range []struct {
		name  string
		stack Stack
		want  bool
	}{
		{"override above default", stack(layer(block(Overrides, "atomic", m{"c": "red"})),
			layer(block(Defaults, "atomic", m{"c": "blue"})), bare(m{"c": "green"})), true},
		{"override below default", stack(layer(block(Defaults, "atomic", m{"c": "red"})),
			layer(block(Overrides, "atomic", m{"c": "blue"})), bare(m{"c": "green"})), false},
		{"two policies", stack(layer(block(Overrides, "atomic", m{"c": "red"})), bare(m{"c": "green"})), false},
		{"patch, a leaf changes its type", stack(layer(block(Defaults, "patch", m{"c": m{"l": m{"hue": 1}}})),
			layer(block(Defaults, "patch", m{"c": m{"l": "x"}})), bare(m{"c": m{"l": m{"tone": 2}}})), true},
		{"patch defaults agree", stack(layer(block(Defaults, "patch", m{"c": m{"a": 1}})),
			layer(block(Defaults, "patch", m{"c": m{"b": 1}})), bare(m{"c": m{"a": 2}})), false},
	} {
		if _, got := FoldTopDown(one, entries, c.stack); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPathStringAndCode(t *testing.T) {
	p := Path{{Name: "a"}, {Name: "gzip", Form: Entry}, {Name: "x", Form: ListEntry}}
	if got := p.String(); got != "a[gzip].x" {
		t.Errorf("got %s", got)
	}
	if KeyPath("a", "b").encode() == KeyPath("a.b").encode() ||
		KeyPath("[x]").encode() == (Path{{Name: "x", Form: Entry}}).encode() {
		t.Error("paths that differ have one code")
	}
	var ups []string
	yieldAncestors(p.encode(), func(s string) bool { ups = append(ups, s); return true })
	if want := []string{"", p[:1].encode(), p[:2].encode()}; !slices.Equal(ups, want) {
		t.Errorf("ancestors %q, want %q", ups, want)
	}
}
