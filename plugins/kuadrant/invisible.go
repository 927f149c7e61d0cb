package kuadrant

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// invisible reports the policies on route rules: the operator tells nobody of them.
func invisible(k *policy.Kind, g *topology.Graph, at policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Hop > 0 {
			continue
		}
		for _, a := range at(id) {
			out = append(out, model.Problem{Severity: model.Info, Code: model.RulePolicyInvisible, Message: fmt.Sprintf(
				"no condition of %s tells of %s: the operator reports policies on routes, not on their rules", n.Ref.Whole(), a.Policy.Ref())}.At(a.Policy.Object))
		}
	}
	return out
}
