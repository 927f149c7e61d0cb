package merge

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fillers is the cut of a kind whose section "w" leaves a set empty.
var fillers = Shape{{Path: Path{{Name: "w"}, {Form: Any}}, Filler: true}, {Path: Path{{Form: Any}, {Form: Any}}}}

// refRule is a rule of the reference: its value and who set it.
type refRule struct {
	value any
	from  Source
}

// reference merges sets of named rules as the pseudo code of RFC 0009 says, written down again from
// its text.
type reference struct {
	rules map[string]refRule
	unset map[string][]Source
	lost  []string
}

func (e *reference) empty() bool {
	for name := range e.rules {
		if !strings.HasPrefix(name, "w.") {
			return false
		}
	}
	return true
}

func (e *reference) lose(name string, from Source, reason Reason, to ...Source) {
	slices.SortFunc(to, Source.compare)
	e.lost = append(e.lost, fmt.Sprintf("%s%s %s>%s", name, where([]Source{from}), reason, where(slices.Compact(to))))
}

func (e *reference) doc() any {
	if len(e.rules) == 0 {
		return nil
	}
	out := m{}
	for name, rule := range e.rules {
		section, key, _ := strings.Cut(name, ".")
		if out[section] == nil {
			out[section] = m{}
		}
		out[section].(m)[key] = rule.value
	}
	return out
}

func (e *reference) sources() []Source {
	var out []Source
	for _, rule := range e.rules {
		out = append(out, rule.from)
	}
	return out
}

func (e *reference) mergeDefault(rules map[string]any, b Block, from Source) {
	if !e.applies(rules, b, from) {
		return
	}
	rules = maps.Clone(rules)
	for name := range rules {
		if by := e.unset[name]; len(by) > 0 {
			e.lose(name, from, Unset, slices.Clone(by)...)
			delete(rules, name)
		}
	}
	switch {
	case e.empty():
		for name, old := range e.rules {
			e.lose(name, old.from, AtomicReplaced, from)
		}
		e.rules = map[string]refRule{}
		for name, v := range rules {
			e.rules[name] = refRule{v, from}
		}
	case b.Strategy.Cut == Whole:
		for name := range rules {
			e.lose(name, from, AtomicReplaced, e.sources()...)
		}
	default:
		for name, v := range rules {
			if old, ok := e.rules[name]; ok {
				e.lose(name, from, MoreSpecificWins, old.from)
			} else {
				e.rules[name] = refRule{v, from}
			}
		}
	}
}

func (e *reference) mergeOverride(rules map[string]any, b Block, from Source) {
	if !e.applies(rules, b, from) {
		return
	}
	if b.Strategy.Cut == Whole {
		for name, old := range e.rules {
			e.lose(name, old.from, AtomicOverridden, from)
		}
		e.rules = map[string]refRule{}
	}
	for name, v := range rules {
		if old, ok := e.rules[name]; ok {
			e.lose(name, old.from, LessSpecificOverrides, from)
		}
		e.rules[name] = refRule{v, from}
	}
}

func (e *reference) applies(rules map[string]any, b Block, from Source) bool {
	if b.When == nil {
		return true
	}
	if holds, err := b.When.Holds(e.doc()); err == nil && holds {
		return true
	}
	for name := range rules {
		e.lose(name, from, ConditionFalse)
	}
	return false
}

// fold is the loop of the pseudo code, lowest policy first; settings holds what each block says.
func (e *reference) fold(s Stack, settings map[Source]map[string]any) {
	e.rules, e.unset = map[string]refRule{}, map[string][]Source{}
	for i := len(s.Layers) - 1; i >= 0; i-- {
		for _, b := range s.Layers[i].Blocks {
			from := Source{Layer: i, Block: b.Kind}
			if b.Kind == Overrides {
				e.mergeOverride(settings[from], b, from)
			} else {
				e.mergeDefault(settings[from], b, from)
			}
		}
		for _, name := range s.Layers[i].Unset {
			e.unset[name] = append(e.unset[name], Source{Layer: i, Block: Bare})
		}
	}
	if e.empty() { // return none
		for name, rule := range e.rules {
			e.lose(name, rule.from, NoEffect)
		}
		e.rules = nil
	}
}

func (e *reference) lines() []string {
	out := slices.Clone(e.lost)
	for name, rule := range e.rules {
		out = append(out, fmt.Sprintf("%s=%v%s", name, rule.value, where([]Source{rule.from})))
	}
	slices.Sort(out)
	return out
}

// lines writes a result like the reference does.
func lines(r Result) []string {
	var out []string
	lost := slices.Clone(r.Lost)
	for _, rule := range r.Rules {
		out = append(out, fmt.Sprintf("%s=%v%s", rule.Name, rule.Value, where(rule.From)))
		lost = append(lost, rule.Lost...)
	}
	for _, l := range lost {
		to := slices.SortedFunc(slices.Values(l.WinningSources()), Source.compare)
		out = append(out, fmt.Sprintf("%s%s %s>%s", l.Rule, where([]Source{l.From}), l.Reason, where(to)))
	}
	slices.Sort(out)
	return out
}

// condition is true, false or an error, depending on what is effective.
func (k *maker) condition() Condition {
	section, name, limit := k.one("n", "o"), k.one("a", "b", "c", "d"), k.Intn(300)
	if k.Intn(4) == 0 {
		return when(func(doc any) (bool, error) { return get(doc2(doc), section, name) == nil, nil })
	}
	return when(func(doc any) (bool, error) {
		v, ok := get(doc2(doc), section, name).(int)
		if !ok {
			return false, errors.New("no such key")
		}
		return v > limit, nil
	})
}

// doc2 makes a document that get can walk.
func doc2(doc any) any {
	out, _ := doc.(m)
	for _, section := range []string{"n", "o"} {
		if out[section] == nil {
			out = maps.Clone(out)
			if out == nil {
				out = m{}
			}
			out[section] = m{}
		}
	}
	return out
}

func TestFoldEqualsTheReference(t *testing.T) { // three blocks, conditions, unset lists, fillers
	k := maker{Rand: rand.New(rand.NewSource(5)), words: []string{"atomic", "merge"}}
	for n := range 3000 {
		var s Stack
		settings := map[Source]map[string]any{}
		for i := range 1 + k.Intn(4) {
			layer := Layer{Level: fmt.Sprint(i), Target: i}
			for _, kind := range []BlockKind{Defaults, Bare, Overrides} {
				if k.Intn(2) == 0 {
					continue
				}
				b, said := block(kind, k.one(k.words...), m{}), map[string]any{}
				for range k.Intn(4) {
					name := k.one("n", "n", "o", "w") + "." + k.one("a", "b", "c", "d")
					said[name] = 100*i + int(kind)
				}
				if kind != Bare && k.Intn(4) == 0 {
					b.When = k.condition()
				}
				whole := reference{rules: map[string]refRule{}}
				for name, v := range said {
					whole.rules[name] = refRule{value: v}
				}
				b.Units, _ = fillers.CutSettings(whole.doc())
				if len(said) == 0 {
					b.Units = nil
				}
				layer.Blocks = append(layer.Blocks, b)
				settings[Source{Layer: i, Block: kind}] = said
			}
			for range k.Intn(3) {
				layer.Unset = append(layer.Unset, k.one("n", "o", "w")+"."+k.one("a", "b", "c", "d", "zz"))
			}
			slices.Sort(layer.Unset)
			layer.Unset = slices.Compact(layer.Unset)
			s.Layers = append(s.Layers, layer)
		}
		var want reference
		want.fold(s, settings)
		r := Fold(one, fillers, s)
		if got, want := lines(r), want.lines(); !slices.Equal(got, want) {
			t.Fatalf("stack %d %s\n got %q\nwant %q", n, write(s), got, want)
		}
		if want := want.doc(); !reflect.DeepEqual(r.Document(), want) {
			t.Fatalf("stack %d %s\n got %v\nwant %v", n, write(s), r.Document(), want)
		}
	}
}

// patched is RFC 7386 with the patch's nulls kept, so that they still delete in a later step
// (gep713 P20).
func patched(target, patch any) any {
	p, ok := patch.(m)
	if !ok {
		return patch
	}
	out, _ := target.(m)
	out = maps.Clone(out)
	if out == nil {
		out = m{}
	}
	for key, v := range p {
		if v == nil {
			out[key] = nil
		} else {
			out[key] = patched(out[key], v)
		}
	}
	return out
}

// stripped is a document without its nulls.
func stripped(doc any) any {
	t, ok := doc.(m)
	if !ok {
		return doc
	}
	out := m{}
	for key, v := range t {
		if v != nil {
			out[key] = stripped(v)
		}
	}
	return out
}

func TestPatchEqualsRFC7386(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(6)), words: []string{"patch"}, nulls: true, empty: true, lists: true}
	for n := range 3000 {
		var s Stack
		p := any(m{})
		var said []any
		for i := range 1 + k.Intn(5) {
			settings := k.settings(i)
			said = append(said, settings)
			kind := []BlockKind{Defaults, Bare, Overrides}[k.Intn(3)]
			s.Layers = append(s.Layers, Layer{Level: fmt.Sprint(i), Target: i,
				Blocks: []Block{block(kind, "patch", settings)}})
		}
		for i, layer := range slices.Backward(s.Layers) {
			if layer.Blocks[0].Kind == Overrides {
				p = patched(p, said[i])
			} else {
				p = patched(said[i], p)
			}
		}
		r := Fold(one, keyedEntries, s) // a keyed list is one leaf to a merge patch
		got := r.Document()
		if got == nil {
			got = m{}
		}
		if want := stripped(p); !reflect.DeepEqual(got, want) {
			t.Fatalf("stack %d %s\n got %v\nwant %v", n, write(s), got, want)
		}
	}
}

func TestMergeOfKeyedListsEqualsTheReference(t *testing.T) { // entry by entry; the lower order, additions behind
	k := maker{Rand: rand.New(rand.NewSource(7)), words: []string{"merge"}}
	for n := range 2000 {
		var s Stack
		var lists []l
		for i := range 1 + k.Intn(4) {
			lists = append(lists, k.list(i))
			b := block([]BlockKind{Bare, Overrides}[k.Intn(2)], "merge", m{})
			b.Units, _ = keyedEntries.CutSettings(m{"rules": lists[i]})
			s.Layers = append(s.Layers, Layer{Level: fmt.Sprint(i), Target: i, Blocks: []Block{b}})
		}
		var want l
		for i, layer := range slices.Backward(s.Layers) {
			for _, entry := range lists[i] {
				at := slices.IndexFunc(want, func(e any) bool { return get(e, "id") == get(entry, "id") })
				switch {
				case at < 0:
					want = append(want, entry)
				case layer.Blocks[0].Kind == Overrides:
					want[at] = entry
				}
			}
		}
		var doc any
		if len(want) > 0 {
			doc = m{"rules": want}
		}
		if r := Fold(one, keyedEntries, s); !reflect.DeepEqual(r.Document(), doc) {
			t.Fatalf("stack %d %s\n got %v\nwant %v", n, write(s), r.Document(), doc)
		}
	}
}

// literal merges two documents by GEP-713's strategies: the established one is the upper. Values
// are whole rules or leaves.
func literal(s Strategy, upper, lower any) any {
	winner, loser := lower, upper
	if s.Wins == Higher {
		winner, loser = upper, lower
	}
	w, l := winner.(m), loser.(m)
	switch {
	case s.Cut == Leaves:
		return patched(l, w)
	case s.Cut == Whole && s.Wins == Lower && len(w) == 0:
		return loser
	case s.Cut == Whole:
		return winner
	}
	out := maps.Clone(l)
	for section, names := range w {
		if mine, ok := out[section].(m); ok {
			mine = maps.Clone(mine)
			maps.Copy(mine, names.(m))
			names = mine
		}
		out[section] = names
	}
	return out
}

// topDown is the process of GEP-713 to the letter: pop two, merge them by the upper one's strategy,
// push the result with the strategy of the lower one.
func topDown(docs []any, strategies []Strategy) any {
	acc := docs[0]
	for i := 1; i < len(docs); i++ {
		acc = literal(strategies[i-1], acc, docs[i])
	}
	return stripped(acc)
}

func bottomUp(docs []any, strategies []Strategy) any {
	acc := docs[len(docs)-1]
	for i := len(docs) - 2; i >= 0; i-- {
		acc = literal(strategies[i], docs[i], acc)
	}
	return stripped(acc)
}

func TestOrderSensitiveEqualsTheProcess(t *testing.T) { // gep713 P25-P27
	k := maker{Rand: rand.New(rand.NewSource(8)), words: []string{"atomic", "merge", "patch"}}
	differ := 0
	for n := range 4000 {
		var s Stack
		var docs []any
		var strategies []Strategy
		for i := range 1 + k.Intn(4) {
			settings := m{}
			for range 1 + k.Intn(3) {
				section, _ := settings[k.one("n")].(m)
				if section == nil {
					section = m{}
				}
				section[k.one("a", "b", "c")] = []any{fmt.Sprint(i), m{"x": i}, m{"y": i}, m{"x": i, "y": i}}[k.Intn(4)]
				settings["n"] = section
			}
			b := block([]BlockKind{Defaults, Bare, Overrides}[k.Intn(3)], k.one(k.words...), settings)
			docs, strategies = append(docs, settings), append(strategies, b.Strategy)
			s.Layers = append(s.Layers, Layer{Level: fmt.Sprint(i), Target: i, Blocks: []Block{b}})
		}
		up, down := bottomUp(docs, strategies), topDown(docs, strategies)
		if r := Fold(one, entries, s); !reflect.DeepEqual(r.Document(), up) {
			t.Fatalf("stack %d %s\n got %v\nwant %v", n, write(s), r.Document(), up)
		}
		r, got := FoldTopDown(one, entries, s)
		if want := !reflect.DeepEqual(up, down); got != want || got && !reflect.DeepEqual(r.Document(), down) {
			t.Fatalf("stack %d %s\nsensitive %v, want %v: from the bottom %v, from the top %v, got %v", n, write(s),
				got, want, up, down, r.Document())
		}
		if got {
			differ++
		}
	}
	if differ < 200 {
		t.Errorf("only %d stacks are order sensitive: the test has lost its point", differ)
	}
}

// merge patches are not associative over nulls: both ways must still be the process
func TestOrderSensitiveOverNulls(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(9)), words: []string{"patch"}, nulls: true}
	for n := range 2000 {
		var s Stack
		var docs []any
		var strategies []Strategy
		for i := range 3 {
			settings := m{"n": m{"a": k.value(i, 1), "b": k.value(i, 1)}, "o": m{"k": "there"}}
			b := block([]BlockKind{Defaults, Overrides}[k.Intn(2)], "patch", settings)
			docs, strategies = append(docs, settings), append(strategies, b.Strategy)
			s.Layers = append(s.Layers, Layer{Level: fmt.Sprint(i), Target: i, Blocks: []Block{b}})
		}
		up, down := bottomUp(docs, strategies), topDown(docs, strategies)
		if _, got := FoldTopDown(one, entries, s); !got && !reflect.DeepEqual(up, down) {
			t.Fatalf("stack %d %s\nis not order sensitive: from the bottom %v, from the top %v", n, write(s), up, down)
		}
	}
}
