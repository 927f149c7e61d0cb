package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// GatewaysAbove has an entry without conditions for every Gateway that accepts a route to the object, sorted: the ancestors that GEP-713
// prefers for policies on backends. A Gateway counts whether or not traffic passes the listener.
func GatewaysAbove(r *resolve.Resolution, object model.Ref) []Ancestor {
	c := climber{graph: r.Graph, seen: map[topology.NodeID]bool{}}
	for _, id := range r.Graph.Lookup(object) {
		c.climb(id)
	}
	slices.SortFunc(c.gateways, model.Ref.Compare)
	var out []Ancestor
	for _, ref := range c.gateways {
		out = append(out, Ancestor{Ref: &ref, Controller: controllerOf(r, ref)})
	}
	return out
}

// climber collects the Gateways above nodes. From a route the way up is by what accepts it, not by what traffic takes.
type climber struct {
	graph    *topology.Graph
	seen     map[topology.NodeID]bool
	gateways []model.Ref
}

func (c *climber) climb(id topology.NodeID) {
	if c.seen[id] {
		return
	}
	c.seen[id] = true
	switch n := c.graph.Node(id); n.Role {
	case topology.Gateway:
		c.gateways = append(c.gateways, n.Ref)
	case topology.Route:
		if n.Hop > 0 { // an instance has no attachments of its own
			for _, parent := range c.graph.Parents(topology.Traffic, id) {
				c.climb(parent)
			}
			return
		}
		for _, a := range c.graph.Attachments(id) {
			if a.State == topology.Accepted && a.Listener != topology.None {
				c.climb(a.Listener)
			}
		}
	default:
		for _, parent := range c.graph.Parents(topology.Traffic, id) {
			c.climb(parent)
		}
	}
}
