package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// RowNotes says what rows do not show of effective policies: in which order several rules of a kind
// decide, and who shares the counters of limits. Each sentence is there once, with the settings it is
// about.
func RowNotes(items []*EffectivePolicy) []string {
	var out, texts []string
	counted := map[string][]string{} // the settings that have limits, by who shares their counters
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
			if counted[r.Counts] == nil {
				texts = append(texts, r.Counts)
			}
			if !slices.Contains(counted[r.Counts], r.Counted) {
				counted[r.Counts] = append(counted[r.Counts], r.Counted)
			}
		}
	}
	for _, text := range texts {
		settings, verb := strings.Join(counted[text], ", "), " is counted "
		if len(counted[text]) > 1 || strings.Contains(settings, "*") {
			verb = " are counted "
		}
		out = append(out, settings+verb+text)
	}
	return out
}
