package kuma

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// tag is one condition on the tags of a client, or of an outbound.
type tag struct {
	key, value string
	not        bool
}

// subset is tags, all of which must hold; sorted.
type subset []tag

// tagItem is an item of a policy that is about a subset.
type tagItem struct {
	of    subset
	units []merge.Unit // of its conf
	at    int
}

// fromTags are the rules of an inbound by the tags of clients (spec §9, 2.14).
func fromTags(s merge.Stack) ([]merge.Unit, []merge.Effect) { return tagRules(s, true) }

// toTags are the rules of a proxy by the tags of outbounds.
func toTags(s merge.Stack) ([]merge.Unit, []merge.Effect) { return tagRules(s, false) }

// tagRules makes of items about subsets of tags a list of rules, the first of which that fits decides: one for each subset that can be told
// apart, with the merged confs of the items that hold in all of it.
func tagRules(s merge.Stack, negations bool) ([]merge.Unit, []merge.Effect) {
	var m merger
	var items []tagItem
	for i := range s.Layers {
		item, ok := readTagItem(s.Layers[i], i)
		if ok {
			items = append(items, item)
			continue
		}
		for _, u := range unitsOf(s.Layers[i], i) { // not about tags: other scopes have it
			m.Note(u, merge.Dropped, merge.Ignored, nil)
		}
	}
	n := 0
	for _, of := range partition(items, negations) {
		if m.tagRule(n, of, items) {
			n++
		}
	}
	return m.Units, m.Effects
}

// readTagItem reads an item; not ok if what it names cannot be said in tags.
func readTagItem(l merge.Layer, at int) (tagItem, bool) {
	item := tagItem{at: at}
	ref := map[string]any{}
	for _, u := range unitsOf(l, at) {
		switch {
		case len(u.Path) > 1 && u.Path[0].Name == "default":
			item.units = append(item.units, merge.Unit{Path: u.Path[1:], Value: u.Value, From: u.From})
		case len(u.Path) > 1 && u.Path[0].Name == "targetRef":
			ref[strings.Join(names(u.Path[1:]), "\x00")] = merge.Plain(u.Value)
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
		item.of = append(item.of, tag{key: "kuma.io/service", value: name})
	default:
		return item, false
	}
	if kind == "MeshSubset" || kind == "MeshServiceSubset" {
		for path, value := range ref {
			if key, ok := strings.CutPrefix(path, "tags\x00"); ok {
				text, _ := value.(string)
				item.of = append(item.of, tag{key: key, value: text})
			}
		}
	}
	slices.SortFunc(item.of, tag.compare)
	return item, true
}

func names(p merge.Path) []string {
	out := make([]string, len(p))
	for i, s := range p {
		out[i] = s.Name
	}
	return out
}

func (t tag) compare(o tag) int {
	return cmp.Or(cmp.Compare(t.key, o.key), cmp.Compare(t.value, o.value), cmp.Compare(ordinal(t.not), ordinal(o.not)))
}

func ordinal(b bool) int {
	if b {
		return 1
	}
	return 0
}

// partition lists the subsets for which there may be rules: with more positive tags first.
func partition(items []tagItem, negations bool) []subset {
	keys := map[string]bool{}
	for _, item := range items {
		for _, t := range item.of {
			keys[t.key] = true
		}
	}
	var out []subset
	if !negations && len(keys) <= 1 {
		for _, item := range items {
			if !slices.ContainsFunc(out, func(o subset) bool { return slices.Equal(o, item.of) }) {
				out = append(out, item.of)
			}
		}
	} else {
		for _, group := range together(items) {
			out = append(out, combinations(items, group)...)
		}
	}
	slices.SortStableFunc(out, func(a, b subset) int { return b.positive() - a.positive() })
	return out
}

func (s subset) positive() int {
	n := 0
	for _, t := range s {
		n += 1 - ordinal(t.not)
	}
	return n
}

// meets reports whether something can be in both subsets: no key has two values.
func (s subset) meets(o subset) bool {
	return !slices.ContainsFunc(s, func(a tag) bool {
		return slices.ContainsFunc(o, func(b tag) bool { return a.key == b.key && a.value != b.value })
	})
}

// holds reports whether everything in o is in s.
func (s subset) holds(o subset) bool {
	return !slices.ContainsFunc(s, func(want tag) bool { return !want.implied(o) })
}

// implied reports whether every tag of o with the same key, of which there must be one, implies t.
func (t tag) implied(o subset) bool {
	found := false
	for _, have := range o {
		if have.key != t.key {
			continue
		}
		found = true
		if have.not || have.value != t.value { // the wanted tag is positive
			return false
		}
	}
	return found
}

// combinations are all ways to have, of each key of a group, one of the values or none of them; the one with the first values comes last.
func combinations(items []tagItem, group []int) []subset {
	var tags subset
	for _, i := range group {
		tags = append(tags, items[i].of...)
	}
	slices.SortFunc(tags, tag.compare)
	tags = slices.Compact(tags)
	var keys [][]tag
	for _, t := range tags {
		if n := len(keys); n > 0 && keys[n-1][0].key == t.key {
			keys[n-1] = append(keys[n-1], t)
		} else {
			keys = append(keys, []tag{t})
		}
	}
	var out []subset
	at := make([]int, len(keys))
	for {
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] <= len(keys[i]) {
				break
			}
			at[i] = 0
		}
		out = append(out, combined(keys, at))
		if i == len(at) {
			return out
		}
	}
}

// combined is the subset with the at-th value of each key; behind the last, with none of them.
func combined(keys [][]tag, at []int) subset {
	out := subset{}
	for i, values := range keys {
		if at[i] < len(values) {
			out = append(out, values[at[i]])
			continue
		}
		for _, t := range values {
			t.not = true
			out = append(out, t)
		}
	}
	return out
}

// tagRule adds the rule of a subset, if any item holds in it.
func (m *merger) tagRule(n int, of subset, items []tagItem) bool {
	path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n), Form: merge.Entry}}
	var conf merger
	var from []merge.From
	for _, item := range items {
		if !item.of.holds(of) {
			continue
		}
		from = append(from, merge.From{Layer: item.at, Block: merge.Bare})
		for _, u := range item.units {
			conf.add(u)
		}
	}
	if len(from) == 0 {
		return false
	}
	list := []any{}
	for _, t := range of {
		list = append(list, map[string]any{"key": t.key, "value": t.value, "not": t.not})
	}
	m.add(merge.Unit{Path: slices.Concat(path, merge.Keys("subset")), Value: list, From: from})
	for _, u := range conf.Units {
		m.add(merge.Unit{Path: slices.Concat(path, merge.Keys("default"), u.Path), Value: u.Value, From: u.From})
	}
	for _, e := range conf.Effects {
		if e.Action == merge.Replaced || e.Action == merge.Dropped {
			e.Path = slices.Concat(path, merge.Keys("default"), e.Path)
			e.Rule = e.Path.String()
			m.Effects = append(m.Effects, e)
		}
	}
	return true
}
