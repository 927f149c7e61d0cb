package attach

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ManagesGateway reports whether a kind's vendor manages a Gateway, or the Gateway of a
// ListenerSet, or the input does not tell whose it is.
func ManagesGateway(k *policy.Kind, g *topology.Graph, id topology.NodeID) bool {
	if g.Node(id).Role == topology.ListenerSet {
		if id = g.ListenerSet(id).Gateway; id == topology.None {
			return true
		}
	}
	return k.Controllers == nil || !slices.ContainsFunc(g.Parents(topology.Traffic, id),
		func(class topology.NodeID) bool { return ForeignController(k, g, class) != "" })
}

// ForeignController returns the controller of a class if it is none of the kind's vendor, "" if it
// is one or is not known.
func ForeignController(k *policy.Kind, g *topology.Graph, class topology.NodeID) string {
	o := g.Node(class).Object
	if o == nil || k.Controllers == nil {
		return ""
	}
	if name := o.Text("spec", "controllerName"); !slices.Contains(k.Controllers, name) {
		return name
	}
	return ""
}
