package kuma

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// inboundRule is one entry of the list of an inbound.
type inboundRule struct {
	entry map[string]any
	match any
	from  merge.From
}

// inboundRules is the list of an inbound (spec §6): a rule for each match, weakest policy first, then the most specific matches first. Nothing
// is merged.
func inboundRules(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var all []inboundRule
	for i := range s.Layers {
		all = append(all, entriesOf(s.Layers[i], i)...)
	}
	slices.SortStableFunc(all, func(a, b inboundRule) int { return specificity(b.match) - specificity(a.match) })
	var m merger
	for n, r := range all {
		path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n), Form: merge.Entry}}
		m.add(merge.Unit{Path: path, Value: r.entry, From: []merge.From{r.from}})
	}
	return m.Units, m.Effects
}

// entriesOf are the rules of one part: with several matches one each.
func entriesOf(l merge.Layer, at int) []inboundRule {
	settings := map[string]any{}
	from := merge.From{Layer: at, Block: merge.Bare}
	for _, b := range l.Blocks {
		from.Block = b.Kind
		if whole, ok := written(b).(map[string]any); ok {
			settings = whole
		}
	}
	conf := settings["default"]
	if conf == nil {
		conf = map[string]any{}
	}
	matches, _ := settings["matches"].([]any)
	if len(matches) == 0 {
		return []inboundRule{{map[string]any{"default": conf}, nil, from}}
	}
	var out []inboundRule
	for _, match := range matches {
		out = append(out, inboundRule{map[string]any{"match": match, "default": conf}, match, from})
	}
	return out
}

// written is what a block says, without nulls.
func written(b merge.Block) any {
	var m merger
	for _, u := range b.Units {
		m.add(u)
	}
	return merge.Plain(merge.Assemble(m.Units))
}

// specificity ranks a match: a SPIFFE ID that is exact, one that is a prefix, none; then with a server name and without.
func specificity(match any) int {
	rank := 0
	switch model.Text(match, "spiffeID", "type") {
	case "Exact":
		rank = 4
	case "Prefix":
		rank = 2
	}
	if model.Get(match, "sni") != nil {
		rank++
	}
	return rank
}

// itemOrder is the list of destinations of a proxy in the order in which they are applied, weakest first.
func itemOrder(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m merger
	for i := range s.Layers {
		for _, b := range s.Layers[i].Blocks {
			path := merge.Path{{Name: "to"}, {Name: strconv.Itoa(i), Form: merge.Entry}}
			m.add(merge.Unit{Path: path, Value: written(b), From: []merge.From{{Layer: i, Block: b.Kind}}})
		}
	}
	return m.Units, m.Effects
}
