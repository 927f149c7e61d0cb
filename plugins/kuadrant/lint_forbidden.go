package kuadrant

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var operatorIgnores = model.Rule{ID: "OperatorIgnores", Severities: []model.Severity{model.Info},
	Summary: "the implementation has an effective policy for a way without traffic, because it does not look at what forbids it",
	Fix:     "open the listener, or fix the parentRef"}

// findIgnoredListeners reports the listeners that refuse a route, by their allowedRoutes or because
// the parentRef names another port, where the operator has an effective policy of the kind all the
// same.
func findIgnoredListeners(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		route := g.Node(id)
		if route.Role != topology.Route || route.Object == nil || !slices.ContainsFunc(g.Attachments(id), canForbid) ||
			!k.AllowsTarget(route.Ref) {
			continue
		}
		own := at.HasAny(id) || slices.ContainsFunc(g.Children(topology.Traffic, id), at.HasAny)
		for _, parent := range g.ParentVerdicts(id) {
			if parent.Implicit || parent.Parent.Kind != "Gateway" {
				continue // the operator knows neither default Gateways nor listener sets
			}
			for _, gateway := range g.Lookup(parent.Parent.WithoutSection()) {
				for _, listener := range g.Children(topology.Traffic, gateway) {
					why := explainForbidden(g, parent, listener, id)
					if why == "" || !own && !at.HasAny(gateway) && !at.HasAny(listener) {
						continue
					}
					out = append(out, operatorIgnores.NewProblem(
						"no traffic of %s reaches %s: %s; the operator does not look at that, and has an effective policy for this way", g.Node(listener).Ref, route.Ref, why).At(route.Object))
				}
			}
		}
	}
	return out
}

// canForbid reports whether a parentRef may be one that a listener refuses in a way that the
// operator does not look at.
func canForbid(a topology.Attachment) bool {
	return a.Port != 0 || a.Listener == topology.None || a.State == topology.NotAllowedByListeners
}

// explainForbidden says why no traffic of a listener reaches a route by a parentRef that the
// operator takes for valid; "" where traffic does, by this or another parentRef, or where the
// operator sees no path either: it is never given a listener that cannot be read.
func explainForbidden(g *topology.Graph, parent topology.Attachment, listener, route topology.NodeID) string {
	l := g.Node(listener)
	if l.Role != topology.Listener || parent.Parent.Section != "" && parent.Parent.Section != l.Ref.Section ||
		slices.Contains(g.Parents(topology.Traffic, route), listener) || checkStep(g, listener, route) != nil ||
		g.Listener(listener).Unreadable {
		return ""
	}
	for _, row := range g.Attachments(route) {
		if row.Parent == parent.Parent && row.Port == parent.Port && row.Listener == listener {
			if row.State == topology.NotAllowedByListeners {
				return row.Reason
			}
			return ""
		}
	}
	return fmt.Sprintf("the parentRef names port %d", parent.Port)
}
