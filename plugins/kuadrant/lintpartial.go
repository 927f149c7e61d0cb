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

// partialTokens reports TokenRateLimitPolicies that are in force in part, and of which the operator says that they are not enforced.
func partialTokens(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range readAsOperator(r, tokens) {
		for _, f := range status.Fates(r, k) {
			if f.Holds == 0 || len(overriders(status.Input{Resolution: r, Kind: k, Fate: f})) == 0 || len(k.Gaps().Of(f.Policy)) > 0 {
				continue
			}
			names := map[string]bool{}
			for _, l := range f.Lost {
				names[l.Rule] = true
			}
			out = append(out, tokenPartial.Problem("the operator reports Enforced=False of %s, though of its rules only %s %s somewhere: the others are in force",
				f.Policy.Ref(), few(names), lose(len(names))).At(f.Policy.Object))
		}
	}
	return out
}

func lose(n int) string {
	if n == 1 {
		return "loses"
	}
	return "lose"
}

// few lists up to five names in order, then counts.
func few(names map[string]bool) string {
	const most = 5
	all := slices.Sorted(maps.Keys(names))
	if rest := len(all) - most; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), rest)
	}
	return strings.Join(all, ", ")
}
