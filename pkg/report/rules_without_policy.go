package report

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// findRulesWithoutPolicy lists the route rules that traffic can come to and on which nothing is in
// force, nor on their routes. A rule that hands over to other routes is none: what is in force is
// so on their rules.
func findRulesWithoutPolicy(r *resolve.Resolution, in func(namespace string) bool,
	effective *effective.EffectivePolicyList) []model.Ref {
	covered := map[model.Ref]bool{}
	for i := range effective.Items {
		if item := &effective.Items[i]; len(item.Rules) > 0 {
			covered[item.Target] = true
		}
	}
	out := []model.Ref{}
	for id := range r.Graph.Len() {
		n := r.Graph.Node(topology.NodeID(id))
		if n.Role != topology.Rule || n.Delegates || in != nil && !in(n.Ref.Namespace) || covered[n.Ref] ||
			covered[n.Ref.WithoutSection()] {
			continue
		}
		routes := r.Graph.Parents(topology.All, topology.NodeID(id))
		if slices.ContainsFunc(routes, func(route topology.NodeID) bool {
			return len(r.Graph.Parents(topology.All,
				route)) > 0
		}) {
			out = append(out, n.Ref)
		}
	}
	slices.SortFunc(out, model.Ref.Compare)
	return slices.Compact(out) // a route that others delegate to has a node for each of them
}
