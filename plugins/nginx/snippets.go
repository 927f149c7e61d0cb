package nginx

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// locationContext is the context of the snippets that are written where routes are.
const locationContext = "http.server.location"

// attachToOtherGateways attaches a SnippetsPolicy to the routes of its Gateways, for their other
// Gateways: the controller hands the policy to the routes, and writes the snippets for locations
// wherever these are (internal/controller/state/graph/policies.go, propagateSnippetsPolicyToRoutes @
// e55bfe339).
func attachToOtherGateways(p *policy.Policy, g *topology.Graph, _ *model.Snapshot,
	_ model.Settings) ([]policy.Attached, []model.Problem) {
	units := locationUnits(p)
	if len(units) == 0 {
		return nil, nil
	}
	targets := map[topology.NodeID]bool{}
	for _, ref := range p.Refs {
		for _, id := range g.Lookup(ref.Ref) {
			if n := g.Node(id); n.Role == topology.Gateway && explainInvalid(n) == "" &&
				isManaged(g, id, p.Kind.Controllers) {
				targets[id] = true
			}
		}
	}
	var out []policy.Attached
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Object == nil || n.Hop > 0 {
			continue
		}
		above, _ := findGateways(g, id, p.Kind.Controllers)
		if !slices.ContainsFunc(above, func(gateway topology.NodeID) bool { return targets[gateway] }) {
			continue
		}
		var parents []topology.NodeID // the listeners of the other ones
		for _, a := range g.Attachments(id) {
			gateway, known := findGateway(g, a.Parent.WithoutSection())
			if known && !targets[gateway] && a.Listener != topology.None && a.State == topology.Accepted &&
				!slices.Contains(parents, a.Listener) {
				parents = append(parents, a.Listener)
			}
		}
		if len(parents) > 0 {
			out = append(out, policy.Attached{Policy: p, Node: id, Ref: -1,
				Details: &policy.TargetDetails{Units: units, Parents: parents}})
		}
	}
	return out, nil
}

// locationUnits is what a policy writes into locations.
func locationUnits(p *policy.Policy) []merge.Unit {
	var out []merge.Unit
	for _, u := range listAllUnits(p) {
		if len(u.Path) > 1 && u.Path[1].Name == locationContext {
			out = append(out, u)
		}
	}
	return out
}
