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
	Summary: "a policy of which some rules are lost is reported as not enforced, though its other rules are in force",
	Fix:     "nothing, or drop the rules that are lost"}

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
			out = append(out,
				tokenPartial.NewProblem(
					"the operator reports Enforced=False of %s, though of its rules only %s %s somewhere: the others are in force",
					f.Policy.Ref(), limitNames(names), formatLoseVerb(len(names))).At(f.Policy.Object))
		}
	}
	return out
}

func formatLoseVerb(n int) string {
	if n == 1 {
		return "loses"
	}
	return "lose"
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
