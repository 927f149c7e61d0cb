package collect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// isConsumerPath reports whether a path leads through a Service to a route of another namespace.
func (a *Collector) isConsumerPath(way resolve.Path) bool {
	if len(way) == 0 || a.Resolution.Node(way[0]).Role != topology.Frontend {
		return false
	}
	for _, step := range way[1:] {
		if n := a.Resolution.Node(step); n.Role == topology.Route {
			return n.Ref.Namespace != a.Resolution.Node(way[0]).Ref.Namespace
		}
	}
	return false
}

// IsServiceTwin reports whether a node is a Service as a parent, and the same Service is among the
// nodes as a backend.
func IsServiceTwin(r *resolve.Resolution, id topology.NodeID, among []topology.NodeID) bool {
	n := r.Node(id)
	return n.Role == topology.Frontend && slices.ContainsFunc(among, func(other topology.NodeID) bool {
		return other != id && r.Node(other).Ref == n.Ref
	})
}
