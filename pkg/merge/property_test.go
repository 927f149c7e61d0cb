package merge

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// atoms takes settings apart as far as any strategy could, by path: entries of keyed lists,
// everything that is no object otherwise.
type atoms map[string]string

func (a atoms) add(shape Shape, p Path, v any) {
	switch t := v.(type) {
	case m:
		if len(t) > 0 && !slices.ContainsFunc(p, func(s Segment) bool { return s.Form != Key }) {
			for key, kid := range t {
				a.add(shape, p.appendSegment(Segment{Name: key}), kid)
			}
			return
		}
	case l:
		for _, pattern := range shape {
			if pattern.Keys != nil && p.encode() == pattern.Path.encode() && keyed(t) {
				for _, entry := range t {
					a.add(shape, p.appendSegment(Segment{Name: entry.(m)["id"].(string), Form: pattern.As}), entry)
				}
				return
			}
		}
	}
	a[p.encode()+"\x00"+p.String()] += fmt.Sprintf(" %v", v) // a second time shows as a second value
}

// keyed reports whether every entry has an id of its own.
func keyed(list l) bool {
	seen := map[any]bool{}
	for _, entry := range list {
		settings, _ := entry.(m)
		id, ok := settings["id"].(string)
		if !ok || seen[id] {
			return false
		}
		seen[id] = true
	}
	return len(list) > 0
}

func (a atoms) lines() []string {
	var out []string
	for key, v := range a {
		out = append(out, strings.SplitN(key, "\x00", 2)[1]+"="+v)
	}
	slices.Sort(out)
	return out
}

// accounts holds a result against engine E10: what a block wrote is what the result has from it and
// what it lost, each exactly once.
func accounts(s Stack, shape Shape, r Result) string {
	var losses []Loss
	for _, rule := range r.Rules {
		if len(rule.From) == 0 {
			return rule.Name + " has no source"
		}
		losses = append(losses, rule.Lost...)
	}
	losses = append(losses, r.Lost...)
	for i, layer := range s.Layers {
		for _, b := range layer.Blocks {
			from := Source{Layer: i, Block: b.Kind}
			wrote, accounted := atoms{}, atoms{}
			for _, u := range b.Units {
				wrote.add(shape, u.Path, u.Value)
			}
			for _, rule := range r.Rules {
				if slices.Contains(rule.From, from) {
					accounted.add(shape, rule.Path, rule.Value)
				}
			}
			for _, loss := range losses {
				if loss.From == from {
					accounted.add(shape, loss.Path, loss.Value)
				}
			}
			named := slices.ContainsFunc(losses, func(l Loss) bool { return slices.Contains(l.WinningSources(), from) })
			wrote.settle(accounted, named)
			if want, got := wrote.lines(), accounted.lines(); !slices.Equal(want, got) {
				return fmt.Sprintf("%v wrote %q, of which %q are sources or losses", from, want, got)
			}
		}
	}
	return ""
}

// settle leaves out what nulls are allowed: one that deleted something is accounted for by the
// losses that name its writer, and an object that only nulls name is there, from their writer.
func (a atoms) settle(accounted atoms, named bool) {
	for key, v := range a {
		if v == " <nil>" && accounted[key] == "" && named {
			delete(a, key)
		}
	}
	for key, v := range accounted {
		if a[key] == "" && v == " map[]" {
			delete(accounted, key)
			for below, v := range a {
				if v == " <nil>" && strings.HasPrefix(below, strings.SplitN(key, "\x00", 2)[0]) &&
					accounted[below] == "" {
					delete(a, below)
				}
			}
		}
	}
}

// finerThanNeeded names a rule that is printed finer than the kind's rules although everything of
// its rule has one source (E11).
func finerThanNeeded(shape Shape, rules []Rule) string {
	for _, rule := range rules {
		c := shape.startCursor()
		for depth := range rule.Path {
			if !c.endsHere() {
				c = c.advanceTo(rule.Path[depth])
				continue
			}
			above, same := rule.Path[:depth].encode(), true
			for _, other := range rules {
				same = same && (!strings.HasPrefix(other.Path.encode(), above) || slices.Equal(other.From, rule.From))
			}
			if same {
				return rule.Name
			}
		}
	}
	return ""
}

// bareDoc assembles printed rules.
func bareDoc(rules []Rule) any {
	var units []Unit
	for _, rule := range rules {
		units = append(units, Unit{Path: rule.Path, Value: rule.Value})
	}
	return Assemble(units)
}

// ordered sorts the keyed list of a document, whose order rules do not tell.
func ordered(doc any) any {
	doc = deep(doc)
	settings, _ := doc.(m)
	if list, ok := settings["rules"].(l); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return doc
}

func TestFoldKeepsItsPromises(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(1)), words: []string{"atomic", "merge", "patch"}}
	for i := range 3000 {
		k.shape, k.lists = entries, false
		if i%3 == 0 {
			k.shape, k.lists = keyedEntries, true
		}
		k.nulls, k.empty = i%2 == 0, i%4 == 0
		s := k.stack(4, Defaults, Bare, Overrides)
		before := copied(s)
		r := Fold(one, k.shape, s)
		describe := func() string { return fmt.Sprintf("stack %d %s\n%s", i, write(s), say(r)) }
		if bad := accounts(s, k.shape, r); bad != "" {
			t.Fatalf("E10: %s\n%s", bad, describe())
		}
		if bad := finerThanNeeded(k.shape, r.Rules); bad != "" {
			t.Fatalf("E11: %s is printed finer than its sources ask for\n%s", bad, describe())
		}
		if got := bareDoc(r.Rules); !reflect.DeepEqual(ordered(got), ordered(r.Document())) {
			t.Fatalf("E7: rules make %v, the document is %v\n%s", got, r.Document(), describe())
		}
		if !reflect.DeepEqual(s, before) {
			t.Fatalf("E12: the input was changed\n%s", describe())
		}
		if again := Fold(one, k.shape, s); !reflect.DeepEqual(again, r) {
			t.Fatalf("E12: folded again: %s\n%s", say(again), describe())
		}
		names := func(a, b Rule) int { return strings.Compare(a.Name, b.Name) }
		if !slices.IsSortedFunc(r.Rules, names) {
			t.Fatalf("rules are not sorted\n%s", describe())
		}
	}
}

// write shows a stack for messages.
func write(s Stack) string {
	var b strings.Builder
	for i, layer := range s.Layers {
		for _, block := range layer.Blocks {
			fmt.Fprintf(&b, "\n  %d %s %s:", i, block.Strategy.Name(), block.Kind)
			for _, u := range block.Units {
				fmt.Fprintf(&b, " %s=%v", u.Path, u.Value)
			}
		}
	}
	return b.String()
}

func TestFoldOfOneIsIdentity(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(2)), shape: entries, words: []string{"atomic", "merge", "patch"}}
	for range 1000 {
		settings := k.settings(1)
		for _, kind := range []BlockKind{Defaults, Bare, Overrides} {
			b := k.block(kind, settings)
			r := Fold(one, entries, Stack{Layers: []Layer{layer(b)}})
			var want any
			if len(settings) > 0 {
				want = settings
			}
			if !reflect.DeepEqual(r.Document(), want) || len(r.Lost) > 0 {
				t.Fatalf("%s %s of %v gives %v, lost %v", b.Strategy.Name(), kind, settings, r.Document(), r.Lost)
			}
			for _, rule := range r.Rules {
				if len(rule.Path) > 2 || len(rule.Lost) > 0 ||
					!slices.Equal(rule.From, []Source{{Layer: 0, Block: kind}}) {
					t.Fatalf("%s: %+v", kind, rule)
				}
			}
		}
	}
}

func TestFoldTopOverrideHolds(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(3)), shape: keyedEntries, words: []string{"atomic", "merge", "patch"},
		lists: true}
	for range 3000 {
		s := k.stack(4, Defaults, Bare, Overrides)
		s.Layers[0].Blocks = slices.DeleteFunc(s.Layers[0].Blocks, func(b Block) bool { return b.Kind == Overrides })
		top := k.block(Overrides, k.settings(7))
		s.Layers[0].Blocks = append(s.Layers[0].Blocks, top)
		r := Fold(one, k.shape, s)
		want, got := atoms{}, atoms{}
		for _, u := range top.Units {
			want.add(k.shape, u.Path, u.Value)
		}
		for _, rule := range r.Rules {
			if slices.Equal(rule.From, []Source{{Layer: 0, Block: Overrides}}) {
				got.add(k.shape, rule.Path, rule.Value)
			}
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("the top override %q is in force as %q only\n%s\n%s", want.lines(), got.lines(), write(s), say(r))
		}
	}
}

func TestReplayShowsEveryStep(t *testing.T) {
	k := maker{Rand: rand.New(rand.NewSource(4)), shape: entries, words: []string{"atomic", "merge", "patch"}}
	for range 300 {
		s := k.stack(4, Defaults, Bare, Overrides)
		blocks := 0
		for _, layer := range s.Layers {
			blocks += len(layer.Blocks)
		}
		r, steps := FoldStepwise(one, entries, s), 0
		var last []string
		for _, st := range r.Trace {
			if !st.Closing {
				steps, last = steps+1, st.After
			}
		}
		var names []string
		for _, rule := range r.Rules {
			if at := slices.IndexFunc(last, func(name string) bool {
				return rule.Name == name ||
					strings.HasPrefix(rule.Name, name+".")
			}); at >= 0 {
				names = append(names, rule.Name)
			}
		}
		if steps != blocks || len(names) != len(r.Rules) {
			t.Fatalf("%d steps for %d blocks, the last shows %v of %v", steps, blocks, last, r.Rules)
		}
		for _, rule := range r.Rules {
			for _, loss := range rule.Lost {
				if loss.Step < 0 || loss.Step >= len(r.Trace) {
					t.Fatalf("loss %+v of a trace with %d steps", loss, len(r.Trace))
				}
			}
		}
	}
}
