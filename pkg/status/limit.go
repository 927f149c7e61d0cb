package status

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// OverLimit reports policies that would have to report about more ancestors than a status has room
// for (gep713 P38).
func OverLimit(predictions []Prediction) []model.Problem {
	var out []model.Problem
	for _, p := range predictions {
		if p.Policy == nil || len(p.Ancestors) <= MaxAncestors {
			continue
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.AncestorLimit,
			Message: fmt.Sprintf(
				"the status of %s would need entries for %d ancestors, and has room for %d: nothing is reported about the others", p.Object, len(p.Ancestors), MaxAncestors),
			Hint: "split the policy, or attach its routes to fewer Gateways"}.At(p.Policy.Object))
	}
	return out
}

// Limits is OverLimit of all policies. Their statuses are predicted only for kinds that may come to
// so many ancestors here.
func Limits(r *resolve.Resolution, funcs Functions) []model.Problem {
	parents := 0
	for _, id := range r.Graph.Order(topology.All) {
		switch r.Graph.Node(id).Role {
		case topology.Gateway, topology.ListenerSet, topology.Listener:
			parents++
		}
	}
	var kinds []*resolve.Kind
	for _, k := range r.Kinds {
		targets := 0
		for _, p := range k.Policies {
			targets = max(targets, len(k.TargetsOf(p)))
		}
		if max(parents, targets) > MaxAncestors {
			kinds = append(kinds, k)
		}
	}
	return OverLimit(PredictPolicies(r, kinds, funcs))
}
