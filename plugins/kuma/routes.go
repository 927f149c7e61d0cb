package kuma

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// routeRule is one rule of a route, with who wrote it.
type routeRule struct {
	matches any
	key     string // of the matches
	fields  map[string]any
	from    merge.From
}

// routeTable merges route tables, weakest first (spec §5): the strongest policy's rules come first, each policy's as written. Of rules with
// the same matches, the place is the strongest's, and each field that of the strongest that sets it. The hostname that the table is for is part
// of it, and is said by every item that names it.
func routeTable(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m merger
	if s.Name != "" {
		said := merge.Unit{Path: merge.Keys("hostnames"), Value: []any{s.Name}}
		for i := range s.Layers {
			said.From = append(said.From, merge.From{Layer: i, Block: merge.Bare})
		}
		m.Units = append(m.Units, said)
	}
	var all []routeRule
	for i := range s.Layers {
		rules := rulesOf(s.Layers[i], i)
		if len(rules) == 0 { // it takes part, with nothing
			m.Note(merge.Unit{Path: merge.Keys("rules"), Value: []any{}, From: []merge.From{{Layer: i, Block: merge.Bare}}}, merge.Dropped, merge.NoEffect, nil)
		}
		slices.Reverse(rules)
		all = append(all, rules...)
	}
	writers := map[string][]routeRule{} // by matches, weakest first
	last := map[string]int{}
	for i, r := range all {
		writers[r.key] = append(writers[r.key], r)
		last[r.key] = i
	}
	n := 0
	for i := len(all) - 1; i >= 0; i-- {
		if last[all[i].key] != i {
			continue
		}
		m.rule(n, all[i], writers[all[i].key])
		n++
	}
	return m.Units, m.Effects
}

// rulesOf are the rules of one policy's item.
func rulesOf(l merge.Layer, at int) []routeRule {
	var out []routeRule
	for _, b := range l.Blocks {
		for _, u := range b.Units {
			list, _ := merge.Plain(u.Value).([]any)
			if u.Path.String() != "rules" {
				continue
			}
			for _, entry := range list {
				rule, _ := entry.(map[string]any)
				fields, _ := rule["default"].(map[string]any)
				key, _ := json.Marshal(rule["matches"])
				out = append(out, routeRule{rule["matches"], string(key), fields, merge.From{Layer: at, Block: b.Kind}})
			}
		}
	}
	return out
}

// rule adds the n-th rule of the table.
func (m *merger) rule(n int, at routeRule, writers []routeRule) {
	path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n), Form: merge.Entry}}
	below := func(names ...string) merge.Path { return slices.Concat(path, merge.Keys(names...)) }
	if at.matches != nil {
		m.add(merge.Unit{Path: below("matches"), Value: at.matches, From: []merge.From{at.from}})
	}
	fields := false
	for _, w := range writers {
		for _, name := range sortedKeys(w.fields) {
			fields = true
			m.add(merge.Unit{Path: below("default", name), Value: w.fields[name], From: []merge.From{w.from}})
		}
	}
	if !fields {
		m.add(merge.Unit{Path: below("default"), Value: map[string]any{}, From: []merge.From{at.from}})
	}
}

// firstRule is the conf of TCP routes: of an item only the first rule counts; one without rules leads to its target itself.
func firstRule(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m merger
	for i := range s.Layers {
		rules := false
		for _, u := range unitsOf(s.Layers[i], i) {
			if len(u.Path) == 0 || u.Path[0].Name != "rules" {
				continue
			}
			list, ok := merge.Plain(u.Value).([]any)
			if ok && len(list) == 0 || u.Value == nil {
				continue
			}
			if len(list) > 1 {
				for n, rule := range list[1:] {
					path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n + 1), Form: merge.Entry}}
					m.Note(merge.Unit{Path: path, Value: rule, From: u.From}, merge.Dropped, merge.Ignored, nil)
				}
				u = merge.Unit{Path: u.Path, Value: list[:1], From: u.From}
			}
			rules = true
			m.add(u)
		}
		if !rules {
			m.add(toItself(s.Layers[i], i))
		}
	}
	return m.Units, m.Effects
}

// toItself is the rule of an item without rules.
func toItself(l merge.Layer, at int) merge.Unit {
	var target merger
	target.add(merge.Unit{Value: map[string]any{}})
	for _, u := range unitsOf(l, at) {
		if len(u.Path) > 1 && u.Path[0].Name == "targetRef" {
			target.add(merge.Unit{Path: u.Path[1:], Value: u.Value})
		}
	}
	ref, _ := merge.Plain(merge.Assemble(target.Units)).(map[string]any)
	ref = maps.Clone(ref)
	ref["weight"] = int64(1)
	rule := map[string]any{"default": map[string]any{"backendRefs": []any{ref}}}
	return merge.Unit{Path: merge.Keys("rules"), Value: []any{rule}, From: []merge.From{{Layer: at, Block: merge.Bare}}}
}

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
