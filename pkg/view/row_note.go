package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// RowNotes says what rows do not show of effective policies: in which order several rules of a kind
// decide, and who shares the counters of limits. Each sentence is there once, with the settings it is
// about.
func RowNotes(items []*EffectivePolicy) []string {
	var out, texts []string
	limits := map[string]*model.Tally{} // by who shares their counters
	seen := map[string]bool{}
	for _, item := range items {
		if line := model.ParseGroupKind(item.PolicyKind).Kind + ": " + item.RuleOrder; item.RuleOrder != "" &&
			!slices.Contains(out, line) {
			out = append(out, line)
		}
		for i := range item.Rules {
			r := &item.Rules[i]
			if r.Counts == "" {
				continue
			}
			if limits[r.Counts] == nil {
				texts = append(texts, r.Counts)
				limits[r.Counts] = &model.Tally{}
			}
			if key := r.Name + " " + r.Counts; !seen[key] {
				seen[key] = true
				limits[r.Counts].Add(r.Name)
			}
		}
	}
	for _, text := range texts {
		verb := " are counted "
		if limits[text].Count == 1 {
			verb = " is counted "
		}
		out = append(out, limits[text].String()+verb+text)
	}
	return out
}
