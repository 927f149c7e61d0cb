package redaction

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// findRedactionChanges compares what is in force without values with what is with them: whether a
// policy is valid, whether a block applies and what a merge compares may depend on a value that was
// taken out. The problems name the kinds where that is so.
func findRedactionChanges(with, without *resolve.Resolution) []model.Problem {
	before, after := settingsInForce(with), settingsInForce(without)
	differing := map[string]int{}
	for at, settings := range before {
		if after[at] != settings {
			differing[at.kind]++
		}
	}
	for at := range after {
		if _, there := before[at]; !there {
			differing[at.kind]++
		}
	}
	var out []model.Problem
	for _, kind := range slices.Sorted(maps.Keys(differing)) {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: "ask without --redact",
			Message: fmt.Sprintf(
				"what is in force depends on values that are left out (redacted): with them it is something else for %s, places: %d", kind, differing[kind])})
	}
	return out
}

// policyPlace is a target at which policies of a kind are in force, on some paths.
type policyPlace struct {
	kind, paths string
	target      model.Ref
}

// settingsInForce returns the settings in force at every place, each with the policies that set it.
func settingsInForce(r *resolve.Resolution) map[policyPlace]string {
	out := map[policyPlace]string{}
	for _, item := range effective.List(r, view.Query{}).Items {
		text := ""
		for _, rule := range item.Rules {
			text += "\x00" + rule.Name
			for _, s := range rule.Sources {
				text += "\x01" + s.Builtin + s.Block
				if s.Policy != nil {
					text += s.Policy.String()
				}
			}
		}
		out[policyPlace{item.PolicyKind, fmt.Sprint(item.Paths), item.Target}] = text
	}
	return out
}
