package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The directions of paths through a Service (gatewayapi G49): the producer's routes are for every client, a consumer's for the clients in its
// own namespace.
const (
	directionProducer = "producer"
	directionConsumer = "consumer"
)

// consumes reports whether a way leads through a Service to a route of another namespace.
func (a *survey) consumes(way resolve.Path) bool {
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

// throughService is how a path through a Service of the mesh reads: "Service shop/cart (mesh)". It is "" for any other path.
func (p Path) throughService() string {
	switch {
	case p.Destination == "" || p.Mesh != "" || p.Dataplane != "" || p.Gateway != "":
		return ""
	case p.Direction == directionConsumer:
		return p.Destination + " (mesh, consumer)"
	}
	return p.Destination + " (mesh)"
}
