package view

import (
	"slices"
)

// CountLines says of the limits among effective policies who shares their counters, each once.
func CountLines(items []*EffectivePolicy) []string {
	var out []string
	for _, item := range items {
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
