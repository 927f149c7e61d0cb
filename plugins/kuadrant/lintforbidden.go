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

// ignored reports the listeners that refuse a route, by their allowedRoutes or because the parentRef names another port, where the
// operator has an effective policy of the kind all the same.
func ignored(k *policy.Kind, g *topology.Graph, at policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		route := g.Node(id)
		if route.Role != topology.Route || route.Object == nil || !slices.ContainsFunc(g.Attachments(id), mayForbid) || !k.Allows(route.Ref) {
			continue
		}
		own := at.Any(id) || slices.ContainsFunc(g.Children(topology.Traffic, id), at.Any)
		for _, parent := range g.Verdicts(id) {
			if parent.Implicit || parent.Parent.Kind != "Gateway" {
				continue // the operator knows neither default Gateways nor listener sets
			}
			for _, gateway := range g.Lookup(parent.Parent.WithoutSection()) {
				for _, listener := range g.Children(topology.Traffic, gateway) {
					why := forbidden(g, parent, listener, id)
					if why == "" || !own && !at.Any(gateway) && !at.Any(listener) {
						continue
					}
					out = append(out, operatorIgnores.Problem(
						"no traffic of %s reaches %s: %s; the operator does not look at that, and has an effective policy for this way", g.Node(listener).Ref, route.Ref, why).At(route.Object))
				}
			}
		}
	}
	return out
}

// mayForbid reports whether a parentRef may be one that a listener refuses in a way that the operator does not look at.
func mayForbid(a topology.Attachment) bool {
	return a.Port != 0 || a.Listener == topology.None || a.State == topology.NotAllowedByListeners
}

// forbidden says why no traffic of a listener reaches a route by a parentRef that the operator takes for valid; "" where traffic does,
// by this or another parentRef, or where the operator sees no way either: it is never given a listener that cannot be read.
func forbidden(g *topology.Graph, parent topology.Attachment, listener, route topology.NodeID) string {
	l := g.Node(listener)
	if l.Role != topology.Listener || parent.Parent.Section != "" && parent.Parent.Section != l.Ref.Section ||
		slices.Contains(g.Parents(topology.Traffic, route), listener) || validStep(g, listener, route) != nil || g.Listener(listener).Unreadable {
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
