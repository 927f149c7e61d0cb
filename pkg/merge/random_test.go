package merge

import (
	"maps"
	"math/rand"
	"slices"
	"strconv"
)

// keyedEntries is the cut of kinds with named rules and a keyed list beside them.
var keyedEntries = append(Shape{{Path: KeyPath("rules"), Keys: []string{"id"}, As: ListEntry}}, entries...)

// maker makes stacks as a kind's decoder would: settings are cut at the rules, or at leaves where
// the strategy is patch.
type maker struct {
	*rand.Rand
	shape Shape
	words []string // strategies
	nulls bool     // explicit nulls
	empty bool     // empty objects
	lists bool     // keyed lists
}

func (k *maker) one(words ...string) string { return words[k.Intn(len(words))] }

// value is a setting; tag makes values of different writers differ, in most cases.
func (k *maker) value(tag, depth int) any {
	switch n := k.Intn(10); {
	case n == 0 && k.nulls && depth == 2:
		return nil
	case n == 1 && k.empty:
		return m{}
	case n == 2:
		return l{tag, m{"x": tag}}
	case n < 6 && depth < 3:
		out := m{}
		for range 1 + k.Intn(2) {
			out[k.one("x", "y", "z")] = k.value(tag, depth+1)
		}
		return out
	case n == 6:
		return "same"
	}
	return tag
}

// settings is a document of up to two sections with named rules.
func (k *maker) settings(tag int) m {
	out := m{}
	for range k.Intn(3) {
		section := m{}
		for range 1 + k.Intn(3) {
			section[k.one("a", "b", "c", "d")] = k.value(tag, 1)
		}
		out[k.one("n", "o")] = section
	}
	if k.Intn(8) == 0 {
		out["n"] = tag // a scalar where others have a section
	}
	if k.lists && k.Intn(2) == 0 {
		out["rules"] = k.list(tag)
	}
	return out
}

func (k *maker) list(tag int) l {
	ids := []string{"p", "q", "r", "s"}
	k.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	out := l{}
	for _, id := range ids[:k.Intn(4)] {
		out = append(out, m{"id": id, "v": tag})
	}
	return out
}

// block cuts settings for one block.
func (k *maker) block(kind BlockKind, settings any) Block {
	out := block(kind, k.one(k.words...), m{})
	shape := k.shape
	if out.Strategy.Cut == Leaves {
		shape = leafShape
	}
	out.Units, _ = shape.CutSettings(settings)
	return out
}

// layers makes a stack of up to n policies with the given blocks; every one has a level of its own.
func (k *maker) stack(n int, kinds ...BlockKind) Stack {
	var s Stack
	for i := range 1 + k.Intn(n) {
		layer := Layer{Level: "level" + strconv.Itoa(i), Target: i}
		for _, kind := range kinds {
			if len(kinds) == 1 || k.Intn(2) == 0 {
				layer.Blocks = append(layer.Blocks, k.block(kind, k.settings(100*i+int(kind))))
			}
		}
		s.Layers = append(s.Layers, layer)
	}
	return s
}

// copied is a deep copy of a stack without conditions.
func copied(s Stack) Stack {
	out := Stack{Layers: slices.Clone(s.Layers), Hops: slices.Clone(s.Hops)}
	for i := range out.Layers {
		out.Layers[i].Unset = slices.Clone(out.Layers[i].Unset)
		out.Layers[i].Blocks = slices.Clone(out.Layers[i].Blocks)
		for j := range out.Layers[i].Blocks {
			b := &out.Layers[i].Blocks[j]
			b.Units = slices.Clone(b.Units)
			for n := range b.Units {
				b.Units[n].Path, b.Units[n].Value = slices.Clone(b.Units[n].Path), deep(b.Units[n].Value)
			}
		}
	}
	return out
}

func deep(v any) any {
	switch t := v.(type) {
	case m:
		out := maps.Clone(t)
		for key := range out {
			out[key] = deep(out[key])
		}
		return out
	case l:
		out := slices.Clone(t)
		for i := range out {
			out[i] = deep(out[i])
		}
		return out
	}
	return v
}
