package view

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

const openHint = "also read the manifests that have it (-f), or ask the cluster"

// unknownWays are route rules that no known way leads to, by why there may be one all the same: their Gateways are not in the input.
type unknownWays map[string]*model.Tally

// add notes a rule to which no known way leads, if there may be others.
func (u *unknownWays) add(a *collector, rule topology.NodeID) {
	parents := a.res.Graph.Parents(topology.All, rule)
	if len(parents) == 0 || a.res.Node(rule).Hop > 0 {
		return
	}
	for _, at := range a.attachments(parents[0]) {
		if at.State != topology.Unknown && !at.Missing || model.HasVariable(at.Reason) { // variables are told by themselves
			continue
		}
		if *u == nil {
			*u = unknownWays{}
		}
		if (*u)[at.Reason] == nil {
			(*u)[at.Reason] = &model.Tally{}
		}
		(*u)[at.Reason].Add(targetName(a.res.Node(rule).Ref))
	}
}

// problems says of which rules it is not known what is in force.
func (u unknownWays) problems() []model.Problem {
	var out []model.Problem
	for why, rules := range u {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: openHint,
			Message: fmt.Sprintf("cannot tell what is in force on %s (%s): %s", Counted(rules.N, "route rule"), rules, why)})
	}
	return out
}
