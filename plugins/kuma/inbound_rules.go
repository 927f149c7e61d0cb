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
	from  merge.Source
}

// foldInboundRules is the list of an inbound: a rule for each match, weakest policy first, then the
// most specific matches first. Nothing is merged.
func foldInboundRules(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var all []inboundRule
	for i := range s.Layers {
		all = append(all, listInboundRules(s.Layers[i], i)...)
	}
	slices.SortStableFunc(all, func(a, b inboundRule) int { return rankMatch(b.match) - rankMatch(a.match) })
	var m confMerger
	for n, r := range all {
		path := merge.Path{{Name: "rules"}, {Name: strconv.Itoa(n), Form: merge.Entry}}
		m.addUnit(merge.Unit{Path: path, Value: r.entry, From: []merge.Source{r.from}})
	}
	return m.Units, m.Effects
}

// listInboundRules are the rules of one part: with several matches one each.
func listInboundRules(l merge.Layer, at int) []inboundRule {
	settings := map[string]any{}
	from := merge.Source{Layer: at, Block: merge.Bare}
	for _, b := range l.Blocks {
		from.Block = b.Kind
		if whole, ok := assembleBlock(b).(map[string]any); ok {
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

// assembleBlock is what a block says, without nulls.
func assembleBlock(b merge.Block) any {
	var m confMerger
	for _, u := range b.Units {
		m.addUnit(u)
	}
	return merge.Unpack(merge.Assemble(m.Units))
}

// rankMatch ranks a match: a SPIFFE ID that is exact, one that is a prefix, none; then with a
// server name and without.
func rankMatch(match any) int {
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

// foldItemOrder is the list of destinations of a proxy in the order in which they are applied,
// weakest first.
func foldItemOrder(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m confMerger
	for i := range s.Layers {
		for _, b := range s.Layers[i].Blocks {
			path := merge.Path{{Name: "to"}, {Name: strconv.Itoa(i), Form: merge.Entry}}
			m.addUnit(merge.Unit{Path: path, Value: assembleBlock(b), From: []merge.Source{{Layer: i, Block: b.Kind}}})
		}
	}
	return m.Units, m.Effects
}
