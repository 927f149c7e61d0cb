package effective

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// unknownPaths holds route rules that no known path leads to, by the reason why there may be one
// all the same: their Gateways are not in the input.
type unknownPaths map[string]*model.Tally

// addRule notes a rule that no known path leads to, if there may be others.
func (u *unknownPaths) addRule(a *collect.Collector, rule topology.NodeID) {
	parents := a.Resolution.Graph.Parents(topology.All, rule)
	if len(parents) == 0 || a.Resolution.Node(rule).Hop > 0 {
		return
	}
	for _, at := range a.AttachmentsOf(parents[0]) {
		// variables have problems of their own
		if at.State != topology.Unknown && !at.Missing || model.HasVariable(at.Reason) {
			continue
		}
		if *u == nil {
			*u = unknownPaths{}
		}
		if (*u)[at.Reason] == nil {
			(*u)[at.Reason] = &model.Tally{}
		}
		(*u)[at.Reason].Add(a.Resolution.Node(rule).Ref.String())
	}
}

// buildProblems says of which rules it is not known what is in force.
func (u unknownPaths) buildProblems(in *model.Snapshot) []model.Problem {
	var out []model.Problem
	for why, rules := range u {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: view.MissingObjectHint(in),
			Message: fmt.Sprintf("cannot tell what is in force on %s (%s): %s", view.FormatCount(rules.Count,
				"route rule"), rules, why)})
	}
	return out
}
