package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The directions of paths through a Service (gatewayapi G49): the producer's routes are for every client, a consumer's for the clients in its
// own namespace.
const (
	directionProducer = "producer"
	directionConsumer = "consumer"
)

// isConsumerPath reports whether a path leads through a Service to a route of another namespace.
func (a *collector) isConsumerPath(way resolve.Path) bool {
	if len(way) == 0 || a.res.Node(way[0]).Role != topology.Frontend {
		return false
	}
	for _, step := range way[1:] {
		if n := a.res.Node(step); n.Role == topology.Route {
			return n.Ref.Namespace != a.res.Node(way[0]).Ref.Namespace
		}
	}
	return false
}

// isServiceTwin reports whether a node is a Service as a parent, and the same Service is among the
// nodes as a backend.
func isServiceTwin(r *resolve.Resolution, id topology.NodeID, among []topology.NodeID) bool {
	n := r.Node(id)
	return n.Role == topology.Frontend && slices.ContainsFunc(among, func(other topology.NodeID) bool {
		return other != id && r.Node(other).Ref == n.Ref
	})
}

// MeshSuffix tells a Service as a parent of routes from the same one as a backend, where nodes are
// called by their references.
func (n *GraphNode) MeshSuffix() string {
	if n.Kind == string(topology.Frontend) {
		return " (mesh)"
	}
	return ""
}

// serviceText says how a path through a Service of the mesh reads: "Service shop/cart (mesh)". It
// is "" for any other path.
func (p Path) serviceText() string {
	switch {
	case p.Destination == "" || p.Mesh != "" || p.Dataplane != "" || p.Gateway != "":
		return ""
	case p.Direction == directionConsumer:
		return p.Destination + " (mesh, consumer)"
	}
	return p.Destination + " (mesh)"
}
