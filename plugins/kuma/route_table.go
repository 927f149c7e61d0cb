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
	from    merge.Source
}

// foldRouteTable merges route tables, weakest first: the strongest policy's rules come first, each
// policy's as written. Of rules with the same matches, the place is the strongest's, and each field
// that of the strongest that sets it. The hostname that the table is for is part of it, and is said
// by every item that names it.
func foldRouteTable(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m confMerger
	if s.Name != "" {
		said := merge.Unit{Path: merge.KeyPath("hostnames"), Value: []any{s.Name}}
		for i := range s.Layers {
			said.From = append(said.From, merge.Source{Layer: i, Block: merge.Bare})
		}
		m.Units = append(m.Units, said)
	}
	var all []routeRule
	for i := range s.Layers {
		rules := listRouteRules(s.Layers[i], i)
		if len(rules) == 0 { // it takes part, with nothing
			m.Note(merge.Unit{Path: merge.KeyPath("rules"), Value: []any{},
				From: []merge.Source{{Layer: i, Block: merge.Bare}}}, merge.Dropped, merge.NoEffect, nil)
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
		m.addRule(n, all[i], writers[all[i].key])
		n++
	}
	return m.Units, m.Effects
}

// listRouteRules are the rules of one policy's item.
func listRouteRules(l merge.Layer, at int) []routeRule {
	var out []routeRule
	for _, b := range l.Blocks {
		for _, u := range b.Units {
			list, _ := merge.Unpack(u.Value).([]any)
			if u.Path.String() != "rules" {
				continue
			}
			for _, entry := range list {
				rule, _ := entry.(map[string]any)
				fields, _ := rule["default"].(map[string]any)
				key, _ := json.Marshal(rule["matches"])
				out = append(out, routeRule{rule["matches"], string(key), fields,
					merge.Source{Layer: at, Block: b.Kind}})
			}
		}
	}
	return out
}

// addRule adds the n-th rule of the table.
func (m *confMerger) addRule(n int, at routeRule, writers []routeRule) {
	path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n), Form: merge.Entry}}
	below := func(names ...string) merge.Path { return slices.Concat(path, merge.KeyPath(names...)) }
	if at.matches != nil {
		m.addUnit(merge.Unit{Path: below("matches"), Value: at.matches, From: []merge.Source{at.from}})
	}
	fields := false
	for _, w := range writers {
		for _, name := range sortKeys(w.fields) {
			fields = true
			m.addUnit(merge.Unit{Path: below("default", name), Value: w.fields[name], From: []merge.Source{w.from}})
		}
	}
	if !fields {
		m.addUnit(merge.Unit{Path: below("default"), Value: map[string]any{}, From: []merge.Source{at.from}})
	}
}

// foldFirstRule is the conf of TCP routes: of an item only the first rule counts; one without rules
// leads to its target itself.
func foldFirstRule(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m confMerger
	for i := range s.Layers {
		rules := false
		for _, u := range listUnits(s.Layers[i], i) {
			if len(u.Path) == 0 || u.Path[0].Name != "rules" {
				continue
			}
			list, ok := merge.Unpack(u.Value).([]any)
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
			m.addUnit(u)
		}
		if !rules {
			m.addUnit(newSelfRule(s.Layers[i], i))
		}
	}
	return m.Units, m.Effects
}

// newSelfRule is the rule of an item without rules.
func newSelfRule(l merge.Layer, at int) merge.Unit {
	var target confMerger
	target.addUnit(merge.Unit{Value: map[string]any{}})
	for _, u := range listUnits(l, at) {
		if len(u.Path) > 1 && u.Path[0].Name == "targetRef" {
			target.addUnit(merge.Unit{Path: u.Path[1:], Value: u.Value})
		}
	}
	ref, _ := merge.Unpack(merge.Assemble(target.Units)).(map[string]any)
	ref = maps.Clone(ref)
	ref["weight"] = int64(1)
	rule := map[string]any{"default": map[string]any{"backendRefs": []any{ref}}}
	return merge.Unit{Path: merge.KeyPath("rules"), Value: []any{rule},
		From: []merge.Source{{Layer: at, Block: merge.Bare}}}
}

func sortKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
