package merge

import (
	"reflect"
	"strconv"
	"testing"
)

// tape hands out the bytes of a fuzz input; behind its end there are zeros.
type tape struct{ bytes []byte }

func (t *tape) below(n int) int {
	if len(t.bytes) == 0 {
		return 0
	}
	b := int(t.bytes[0])
	t.bytes = t.bytes[1:]
	return b % n
}

// names are few, so that paths meet; some look like something else.
var names = []string{"a", "b", "c", "[a]", "", "rules", "w", "*"}

// put sets a value somewhere in a document, whatever stood there.
func (t *tape) put(doc m, tag int) {
	at := doc
	for range t.below(4) {
		name := names[t.below(len(names))]
		kid, ok := at[name].(m)
		if !ok {
			kid = m{}
			at[name] = kid
		}
		at = kid
	}
	values := []any{tag, "same", m{}, l{}, l{m{"id": "a", "v": tag}, m{"id": "b"}}, l{m{"id": "b", "v": tag}}, l{tag},
		m{"a": tag, "b": m{"a": tag}}, l{m{"id": "a"}, m{"id": "a"}}, true}
	at[names[t.below(len(names))]] = values[t.below(len(values))]
}

// stack reads policies whose paths clash by equality and by prefix, cut as their own strategy cuts
// them.
func (t *tape) stack(shape Shape) Stack {
	var s Stack
	for i := range 1 + t.below(5) {
		layer := Layer{Level: "level" + strconv.Itoa(t.below(5)), Target: t.below(2)}
		for _, kind := range []BlockKind{Defaults, Bare, Overrides} {
			if t.below(2) == 0 {
				continue
			}
			doc := m{}
			for j := range t.below(5) {
				t.put(doc, 100*i+10*int(kind)+j)
			}
			b := block(kind, []string{"atomic", "merge", "patch"}[t.below(3)], m{})
			b.Strategy.Rejects = kind == Overrides && t.below(8) == 7
			cut := shape
			if b.Strategy.Cut == Leaves {
				cut = leafShape
			}
			b.Units, _ = cut.CutSettings(doc)
			layer.Blocks = append(layer.Blocks, b)
		}
		for range t.below(3) {
			layer.Unset = append(layer.Unset, KeyPath(names[t.below(len(names))], names[t.below(len(names))]).String())
		}
		s.Layers = append(s.Layers, layer)
	}
	return s
}

func FuzzFold(f *testing.F) {
	f.Add([]byte{})
	f.Add(
		[]byte("\x00\x03\x01\x00\x01\x02\x01\x00\x00\x01\x01\x02\x00\x01\x07\x01\x02\x03\x02\x01\x00\x05\x04\x01\x01"))
	shapes := []Shape{
		entries, keyedEntries, fillers, {{}}, {{Path: Path{{Form: Any}}}}, leafShape,
		{{Path: Path{{Name: "a"}, {Form: Any}}}, {Path: KeyPath("a", "b", "a")},
			{Path: KeyPath("rules"), Keys: []string{"id"}, As: Entry}, {Path: Path{{Name: "w"}, {Form: Deep}},
				Filler: true}},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := tape{data}
		shape := shapes[in.below(len(shapes))]
		plans := []Plan{{SameTarget: []SameTarget{Stacked, Fill}[in.below(2)]}}
		s := in.stack(shape)
		before := copied(s)
		r := Fold(plans, shape, s)
		if bad := accounts(s, shape, r); bad != "" {
			t.Fatalf("%s: %s\n%s", write(s), bad, say(r))
		}
		if again := Fold(plans, shape, s); !reflect.DeepEqual(again.Rules, r.Rules) ||
			!reflect.DeepEqual(again.Document(), r.Document()) {
			t.Fatalf("%s\n%s\nfolded again: %s", write(s), say(r), say(again))
		}
		if packed := unpacked(Fold(plans, shape, packedUp(s))); say(packed) != say(r) ||
			!reflect.DeepEqual(Unpack(packed.Document()), r.Document()) {
			t.Fatalf("%s\n%s\nwith packed values: %s", write(s), say(r), say(packed))
		}
		if !reflect.DeepEqual(s, before) {
			t.Fatalf("the input was changed: %s", write(before))
		}
		FoldTopDown(plans, shape, s)
	})
}
