package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// RowNotes says what rows do not show of effective policies: in which order several rules of a kind
// decide, and who shares the counters of limits. Each line is there once.
func RowNotes(items []*EffectivePolicy) []string {
	var out []string
	for _, item := range items {
		if line := model.ParseGroupKind(item.PolicyKind).Kind + ": " + item.RuleOrder; item.RuleOrder != "" && !slices.Contains(out, line) {
			out = append(out, line)
		}
		for i := range item.Rules {
			r := &item.Rules[i]
			if r.Counts == "" {
				continue
			}
			if line := r.Name + " is counted " + r.Counts; !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}
