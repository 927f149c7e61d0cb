package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// GatewaysAbove lists the Gateways that accept a route to the object, sorted. A Gateway counts
// whether or not traffic passes the listener.
func (g *Graph) GatewaysAbove(object model.Ref) []model.Ref {
	c := gatewayCollector{graph: g, seen: map[NodeID]bool{}}
	for _, id := range g.Lookup(object) {
		c.collectAbove(id)
	}
	slices.SortFunc(c.gateways, model.Ref.Compare)
	return c.gateways
}

// gatewayCollector collects the Gateways above nodes. From a route the way up is by what accepts
// it, not by what traffic takes.
type gatewayCollector struct {
	graph    *Graph
	seen     map[NodeID]bool
	gateways []model.Ref
}

func (c *gatewayCollector) collectAbove(id NodeID) {
	if c.seen[id] {
		return
	}
	c.seen[id] = true
	switch n := c.graph.Node(id); n.Role {
	case Gateway:
		c.gateways = append(c.gateways, n.Ref)
	case Route:
		if n.Hop > 0 { // an instance has no attachments of its own
			for _, parent := range c.graph.Parents(Traffic, id) {
				c.collectAbove(parent)
			}
			return
		}
		for _, a := range c.graph.Attachments(id) {
			if a.State == Accepted && a.Listener != None {
				c.collectAbove(a.Listener)
			}
		}
	default:
		for _, parent := range c.graph.Parents(Traffic, id) {
			c.collectAbove(parent)
		}
	}
}
