package kuadrant

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var sameNameRoutes = model.Rule{ID: "SameNameDifferentRouteKinds", Severities: []model.Severity{model.Warning},
	Summary: "an HTTPRoute and a GRPCRoute of one name come through one listener: the operator keeps one result for both",
	Fix:     "rename one of the routes"}

// findSameNames reports routes of two kinds that have one name and come through one listener: the
// operator knows the paths through them by one id, so that what it computes for the one takes the
// place of what it computes for the other.
func findSameNames(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	kinds := gatewayapi.HTTPRouteKinds()
	if slices.ContainsFunc(kinds, func(gk model.GroupKind) bool { return !hasRoutes(g, gk) }) {
		return nil
	}
	var out []model.Problem
	told := map[model.Ref]bool{}
	for _, listener := range g.Order(topology.Traffic) {
		if g.Node(listener).Role != topology.Listener {
			continue
		}
		holds := at.HasAny(listener) || slices.ContainsFunc(g.Parents(topology.Traffic, listener), at.HasAny)
		first := map[string]topology.NodeID{}
		for _, id := range g.Children(topology.Traffic, listener) {
			n := g.Node(id)
			if n.Role != topology.Route || n.Object == nil || !slices.Contains(kinds, n.Ref.GroupKind()) ||
				!k.AllowsTarget(n.Ref) || checkStep(g, listener, id) != nil {
				continue
			}
			other, taken := first[n.Ref.FullName()]
			if !taken {
				first[n.Ref.FullName()] = id
				continue
			}
			if told[n.Ref] || g.Node(other).Ref.Kind == n.Ref.Kind || !holds && !isAttachedAt(g, at, id) &&
				!isAttachedAt(g, at, other) {
				continue
			}
			told[n.Ref] = true
			p := sameNameRoutes.NewProblem(
				"%s and %s have one name and come through %s: the operator keeps one %s for both, whichever it computes last",
				n.Ref, g.Node(other).Ref, g.Node(listener).Ref, k.GroupKind.Kind).At(n.Object)
			p.Hint = sameNameRoutes.Fix
			out = append(out, p)
		}
	}
	return out
}

// hasRoutes reports whether there are routes of a kind.
func hasRoutes(g *topology.Graph, gk model.GroupKind) bool {
	return slices.ContainsFunc(g.Order(topology.Traffic), func(id topology.NodeID) bool {
		n := g.Node(id)
		return n.Role == topology.Route && n.Ref.GroupKind() == gk
	})
}

// isAttachedAt reports whether a policy is attached to a route or one of its rules.
func isAttachedAt(g *topology.Graph, at policy.AttachedAt, route topology.NodeID) bool {
	return at.HasAny(route) || slices.ContainsFunc(g.Children(topology.Traffic, route), at.HasAny)
}
