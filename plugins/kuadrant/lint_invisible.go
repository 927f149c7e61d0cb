package kuadrant

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var rulePolicyInvisible = model.Rule{ID: "RulePolicyInvisible", Severities: []model.Severity{model.Info},
	Summary: "a policy is on a route rule, of which the operator tells in no condition",
	Fix:     "nothing; look the policy up with `status` or `reach`"}

// findInvisible reports the policies on route rules: the operator tells nobody of them.
func findInvisible(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Hop > 0 {
			continue
		}
		for _, a := range at(id) {
			out = append(out, rulePolicyInvisible.NewProblem(
				"the status of %s does not mention %s: the operator reports policies on routes, not on their rules",
				n.Ref.WithoutSection(), a.Policy.Ref()).At(a.Policy.Object))
		}
	}
	return out
}
