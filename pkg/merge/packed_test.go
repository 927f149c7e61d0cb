package merge

import (
	"math/rand"
	"reflect"
	"testing"
)

// packed is a map or list that hides what it is.
type packed struct{ v any }

func (p packed) Value() any { return deep(p.v) }

func (p packed) Size() (entries int, object bool) {
	if settings, ok := p.v.(m); ok {
		return len(settings), true
	}
	return len(p.v.(l)), false
}

func (p packed) Parts(yield func(string, any) bool) {
	settings, _ := p.v.(m)
	for key, v := range settings {
		if !yield(key, pack(v)) {
			return
		}
	}
}

func pack(v any) any {
	switch v.(type) {
	case m, l:
		return packed{v}
	}
	return v
}

// packedUp is a copy of a stack with the values of its units packed.
func packedUp(s Stack) Stack {
	out := copied(s)
	for _, layer := range out.Layers {
		for _, b := range layer.Blocks {
			for i := range b.Units {
				b.Units[i].Value = pack(b.Units[i].Value)
			}
		}
	}
	return out
}

// unpacked is a result without anything packed in it.
func unpacked(r Result) Result {
	losses := func(lost []Loss) {
		for i := range lost {
			lost[i].Value = Unpack(lost[i].Value)
		}
	}
	rules := func(rules []Rule) {
		for i := range rules {
			rules[i].Value = Unpack(rules[i].Value)
			losses(rules[i].Lost)
		}
	}
	rules(r.Rules)
	losses(r.Lost)
	for _, g := range r.Groups {
		rules(g.Rules)
	}
	for _, st := range r.Trace {
		for i := range st.Effects {
			st.Effects[i].Value = Unpack(st.Effects[i].Value)
		}
	}
	return r
}

func TestPackedValuesFoldLikeOthers(t *testing.T) {
	for seed := range 3000 {
		k := &maker{Rand: rand.New(rand.NewSource(int64(seed))), shape: keyedEntries, words: []string{"atomic",
			"merge", "patch"}, nulls: true, empty: true, lists: true}
		s := k.stack(4, Defaults, Bare, Overrides)
		for _, plan := range []Plan{{}, {SameTarget: Fill}} {
			want := Fold([]Plan{plan}, k.shape, s)
			got := unpacked(Fold([]Plan{plan}, k.shape, packedUp(s)))
			sameDoc := reflect.DeepEqual(Unpack(got.Document()), want.Document())
			got.units, want.units = nil, nil
			if !sameDoc || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s\npacked %s\nplain  %s", seed, write(s), say(got), say(want))
			}
		}
	}
}

func TestPackedSettingsAreCutLikeOthers(t *testing.T) {
	for seed := range 1000 {
		k := &maker{Rand: rand.New(rand.NewSource(int64(seed))), nulls: true, empty: true, lists: true}
		settings := k.settings(seed)
		packedSettings := m{}
		for key, v := range settings {
			packedSettings[key] = pack(v)
		}
		for _, shape := range []Shape{keyedEntries, fillers, leafShape, {{Path: Path{{Form: Any}}}}} {
			want, odd := shape.CutSettings(settings)
			got, oddToo := shape.CutSettings(packedSettings)
			for i := range got {
				got[i].Value = Unpack(got[i].Value)
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(odd, oddToo) {
				t.Fatalf("seed %d: %v\npacked %v\nplain  %v", seed, settings, got, want)
			}
		}
	}
}

func TestPlainAndEqual(t *testing.T) {
	within := m{"a": l{packed{m{"b": 1}}}, "c": 2}
	if got := Unpack(within); !reflect.DeepEqual(got, any(m{"a": l{m{"b": 1}}, "c": 2})) {
		t.Errorf("got %v", got)
	}
	if !Equal(within, m{"a": packed{l{m{"b": 1}}}, "c": 2}) || Equal(packed{m{"b": 1}}, m{"b": 2}) {
		t.Error("packed values are compared by what they hold")
	}
}
