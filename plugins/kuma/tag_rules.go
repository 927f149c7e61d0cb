package kuma

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// tagCondition is one condition on the tags of a client, or of an outbound.
type tagCondition struct {
	key, value string
	negated    bool
}

// tagSubset is tags, all of which must hold; sorted.
type tagSubset []tagCondition

// tagItem is an item of a policy that is about a subset.
type tagItem struct {
	subset tagSubset
	units  []merge.Unit // of its conf
	layer  int
}

// foldFromTags are the rules of an inbound by the tags of clients (2.14).
func foldFromTags(s merge.Stack) ([]merge.Unit, []merge.Effect) { return foldTagRules(s, true) }

// foldToTags are the rules of a proxy by the tags of outbounds.
func foldToTags(s merge.Stack) ([]merge.Unit, []merge.Effect) { return foldTagRules(s, false) }

// foldTagRules makes of items about subsets of tags a list of rules, the first of which that fits
// decides: one for each subset that can be told apart, with the merged confs of the items that hold
// in all of it.
func foldTagRules(s merge.Stack, negations bool) ([]merge.Unit, []merge.Effect) {
	var m confMerger
	var items []tagItem
	for i := range s.Layers {
		item, ok := readTagItem(s.Layers[i], i)
		if ok {
			items = append(items, item)
			continue
		}
		for _, u := range listUnits(s.Layers[i], i) { // not about tags: other scopes have it
			m.Note(u, merge.Dropped, merge.Ignored, nil)
		}
	}
	n := 0
	for _, of := range listSubsets(items, negations) {
		if m.addTagRule(n, of, items) {
			n++
		}
	}
	return m.Units, m.Effects
}

// readTagItem reads an item; not ok if what it names cannot be said in tags.
func readTagItem(l merge.Layer, at int) (tagItem, bool) {
	item := tagItem{layer: at}
	ref := map[string]any{}
	for _, u := range listUnits(l, at) {
		switch {
		case len(u.Path) > 1 && u.Path[0].Name == "default":
			item.units = append(item.units, merge.Unit{Path: u.Path[1:], Value: u.Value, From: u.From})
		case len(u.Path) > 1 && u.Path[0].Name == "targetRef":
			ref[strings.Join(segmentNames(u.Path[1:]), "\x00")] = merge.Unpack(u.Value)
		}
	}
	name, _ := ref["name"].(string)
	kind, _ := ref["kind"].(string)
	switch kind {
	case "", "Mesh", "MeshSubset":
	case "MeshService", "MeshServiceSubset":
		if name == "" {
			return item, false
		}
		item.subset = append(item.subset, tagCondition{key: "kuma.io/service", value: name})
	default:
		return item, false
	}
	if kind == "MeshSubset" || kind == "MeshServiceSubset" {
		for path, value := range ref {
			if key, ok := strings.CutPrefix(path, "tags\x00"); ok {
				text, _ := value.(string)
				item.subset = append(item.subset, tagCondition{key: key, value: text})
			}
		}
	}
	slices.SortFunc(item.subset, tagCondition.compare)
	return item, true
}

func segmentNames(p merge.Path) []string {
	out := make([]string, len(p))
	for i, s := range p {
		out[i] = s.Name
	}
	return out
}

func (t tagCondition) compare(o tagCondition) int {
	return cmp.Or(cmp.Compare(t.key, o.key), cmp.Compare(t.value, o.value), cmp.Compare(boolToInt(t.negated),
		boolToInt(o.negated)))
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// listSubsets lists the subsets for which there may be rules: with more positive tags first.
func listSubsets(items []tagItem, negations bool) []tagSubset {
	keys := map[string]bool{}
	for _, item := range items {
		for _, t := range item.subset {
			keys[t.key] = true
		}
	}
	var out []tagSubset
	if !negations && len(keys) <= 1 {
		for _, item := range items {
			if !slices.ContainsFunc(out, func(o tagSubset) bool { return slices.Equal(o, item.subset) }) {
				out = append(out, item.subset)
			}
		}
	} else {
		for _, group := range groupCompatible(items) {
			out = append(out, listCombinations(items, group)...)
		}
	}
	slices.SortStableFunc(out, func(a, b tagSubset) int { return b.countPositive() - a.countPositive() })
	return out
}

func (s tagSubset) countPositive() int {
	n := 0
	for _, t := range s {
		n += 1 - boolToInt(t.negated)
	}
	return n
}

// isCompatible reports whether something can be in both subsets: no key has two values.
func (s tagSubset) isCompatible(o tagSubset) bool {
	return !slices.ContainsFunc(s, func(a tagCondition) bool {
		return slices.ContainsFunc(o, func(b tagCondition) bool { return a.key == b.key && a.value != b.value })
	})
}

// containsSubset reports whether everything in o is in s.
func (s tagSubset) containsSubset(o tagSubset) bool {
	return !slices.ContainsFunc(s, func(want tagCondition) bool { return !want.isImplied(o) })
}

// isImplied reports whether every tag of o with the same key, of which there must be one, implies
// t.
func (t tagCondition) isImplied(o tagSubset) bool {
	found := false
	for _, have := range o {
		if have.key != t.key {
			continue
		}
		found = true
		if have.negated || have.value != t.value { // the wanted tag is positive
			return false
		}
	}
	return found
}

// listCombinations are all ways to have, of each key of a group, one of the values or none of them;
// the one with the first values comes last.
func listCombinations(items []tagItem, group []int) []tagSubset {
	var tags tagSubset
	for _, i := range group {
		tags = append(tags, items[i].subset...)
	}
	slices.SortFunc(tags, tagCondition.compare)
	tags = slices.Compact(tags)
	var keys [][]tagCondition
	for _, t := range tags {
		if n := len(keys); n > 0 && keys[n-1][0].key == t.key {
			keys[n-1] = append(keys[n-1], t)
		} else {
			keys = append(keys, []tagCondition{t})
		}
	}
	var out []tagSubset
	at := make([]int, len(keys))
	for {
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] <= len(keys[i]) {
				break
			}
			at[i] = 0
		}
		out = append(out, combineTags(keys, at))
		if i == len(at) {
			return out
		}
	}
}

// combineTags is the subset with the at-th value of each key; behind the last, with none of them.
func combineTags(keys [][]tagCondition, at []int) tagSubset {
	out := tagSubset{}
	for i, values := range keys {
		if at[i] < len(values) {
			out = append(out, values[at[i]])
			continue
		}
		for _, t := range values {
			t.negated = true
			out = append(out, t)
		}
	}
	return out
}

// addTagRule adds the rule of a subset, if any item holds in it.
func (m *confMerger) addTagRule(n int, of tagSubset, items []tagItem) bool {
	path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n), Form: merge.Entry}}
	var conf confMerger
	var from []merge.Source
	for _, item := range items {
		if !item.subset.containsSubset(of) {
			continue
		}
		from = append(from, merge.Source{Layer: item.layer, Block: merge.Bare})
		for _, u := range item.units {
			conf.addUnit(u)
		}
	}
	if len(from) == 0 {
		return false
	}
	list := []any{}
	for _, t := range of {
		list = append(list, map[string]any{"key": t.key, "value": t.value, "not": t.negated})
	}
	m.addUnit(merge.Unit{Path: slices.Concat(path, merge.KeyPath("subset")), Value: list, From: from})
	for _, u := range conf.Units {
		m.addUnit(merge.Unit{Path: slices.Concat(path, merge.KeyPath("default"), u.Path), Value: u.Value, From: u.From})
	}
	for _, e := range conf.Effects {
		if e.Action == merge.Replaced || e.Action == merge.Dropped {
			e.Path = slices.Concat(path, merge.KeyPath("default"), e.Path)
			e.Rule = e.Path.String()
			m.Effects = append(m.Effects, e)
		}
	}
	return true
}
