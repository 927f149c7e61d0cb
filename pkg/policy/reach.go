package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Reaches reports whether the kind has results at nodes of the role.
func (k *Kind) Reaches(role topology.Role) bool { return slices.Contains(k.Effective, role) }

// Passes reports whether policies of the kind from above hold for what comes through routes of a kind. A policy about HTTP requests means
// nothing to the connections of a TCPRoute. A kind without results at routes or rules does not care what leads to its targets.
func (k *Kind) Passes(route model.GroupKind) bool {
	return slices.Contains(k.Routes, route) || !k.Reaches(topology.Rule) && !k.Reaches(topology.Route)
}

// ReachesNode reports whether the kind has results at a node: it does at those of its roles, of routes and rules only at those of the
// kinds of routes that are its business, and at opaque nodes.
func (k *Kind) ReachesNode(n *topology.Node) bool {
	switch n.Role {
	case topology.Opaque:
		return true
	case topology.Route, topology.Rule:
		return !n.Transit && k.Reaches(n.Role) && slices.Contains(k.Routes, n.Ref.GroupKind())
	}
	return k.Reaches(n.Role)
}

// targetRoutes are the kinds of routes at whose rules a kind with these targets has results: those that it may target. If it may target
// none, its policies are about HTTP.
func targetRoutes(targets []TargetForm) []model.GroupKind {
	var out []model.GroupKind
	for _, gk := range topology.RouteKinds() {
		if slices.ContainsFunc(targets, func(t TargetForm) bool { return t.GroupKind == gk }) {
			out = append(out, gk)
		}
	}
	if out == nil {
		return topology.HTTPRouteKinds()
	}
	return out
}

// observedRoutes is targetRoutes for a kind of which only the targets that its policies have are known: HTTP, and what they really target.
func observedRoutes(targets []TargetForm) []model.GroupKind {
	out := slices.Concat(topology.HTTPRouteKinds(), targetRoutes(targets))
	slices.SortFunc(out, model.GroupKind.Compare)
	return slices.Compact(out)
}
