package kuadrant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

var tokenPartial = model.Rule{ID: "TokenPartialNotEnforced", Severities: []model.Severity{model.Info},
	Summary: "a policy of which some settings are overridden is reported as not enforced, though its other settings are in force",
	Fix:     "nothing, or remove the settings that are overridden"}

// findPartialTokens reports TokenRateLimitPolicies that are in force in part, and of which the
// operator says that they are not enforced.
func findPartialTokens(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range listOperatorKinds(r, tokenRateLimitPolicy) {
		for _, f := range status.Outcomes(r, k) {
			if f.Holds == 0 || len(listOverriders(status.Input{Resolution: r, Kind: k, Outcome: f})) == 0 ||
				len(k.Gaps().Of(f.Policy)) > 0 {
				continue
			}
			names := map[string]bool{}
			for _, l := range f.Lost {
				names[l.Rule] = true
			}
			noun, verb := "setting", "is"
			if len(names) > 1 {
				noun, verb = "settings", "are"
			}
			out = append(out,
				tokenPartial.NewProblem(
					"the operator reports Enforced=False of %s, though only its %s %s overridden somewhere: the others are in force",
					f.Policy.Ref(), noun+" "+limitNames(names), verb).At(f.Policy.Object))
		}
	}
	return out
}

// limitNames lists up to five names in order, then counts.
func limitNames(names map[string]bool) string {
	const most = 5
	all := slices.Sorted(maps.Keys(names))
	if rest := len(all) - most; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), rest)
	}
	return strings.Join(all, ", ")
}
