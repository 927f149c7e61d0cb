package lint

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// trafficGaps are the places about which the input leaves open what traffic comes through: a route
// one of whose parents is not in the input, a listener that selects namespaces whose labels are not
// known. A user who reads only such files must not be told that a policy is in force nowhere.
type trafficGaps struct {
	graph *topology.Graph
	nodes map[topology.NodeID]bool // routes and listeners whose traffic is not known
}

func findTrafficGaps(r *resolve.Resolution) trafficGaps {
	o := trafficGaps{graph: r.Graph, nodes: map[topology.NodeID]bool{}}
	for _, id := range r.Graph.Order(topology.All) {
		if r.Graph.Node(id).Role != topology.Route {
			continue
		}
		for _, a := range r.Graph.Attachments(id) {
			if a.State != topology.Unknown && !a.Missing {
				continue
			}
			o.nodes[id] = true
			if a.Listener != topology.None {
				o.nodes[a.Listener] = true
			}
		}
	}
	return o
}

// hasGapAt reports whether something is open about a target or what is below it.
func (o trafficGaps) hasGapAt(id topology.NodeID) bool {
	if len(o.nodes) == 0 || int(id) >= o.graph.Len() {
		return false
	}
	switch o.graph.Node(id).Role {
	case topology.Rule:
		return slices.ContainsFunc(o.graph.Parents(topology.All, id),
			func(route topology.NodeID) bool { return o.nodes[route] })
	case topology.Route, topology.Listener:
		return o.nodes[id]
	case topology.Gateway, topology.ListenerSet:
		return slices.ContainsFunc(o.graph.Children(topology.All, id), o.hasGapAt)
	case topology.Opaque:
		return false
	}
	return true
}
