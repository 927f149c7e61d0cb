package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// serviceBinding is a parentRef to a Service that waits for the verdict on all of them (gatewayapi
// G51).
type serviceBinding struct {
	service   model.Ref // whole
	namespace string    // of the route
	kind      model.GroupKind
	route     topology.NodeID
	row       int                   // in the route's attachment table
	port      *manifest.ServicePort // nil: all ports
	decided   bool                  // an implementation accepted the route, whatever else is there
}

// meshOrder has the kinds of routes of which only the first that is there gets a port (gatewayapi
// G51). UDP has ports of its own.
var meshOrder = [...]model.GroupKind{gatewayapi.GRPCRouteKind, gatewayapi.HTTPRouteKind, gatewayapi.TLSRouteKind,
	gatewayapi.TCPRouteKind}

// serviceClient is a Service and whose requests to it are meant: those that the routes of one
// namespace are for. Routes of consumers and the producer's never mix (gatewayapi G49), so that
// only routes of one namespace compete for a port.
type serviceClient struct {
	service   model.Ref
	namespace string
}

// portHolders are the bindings of the most preferred kinds, by port; allPorts is that of those for
// all ports.
type portHolders struct {
	allPorts *serviceBinding
	byPort   map[int32]*serviceBinding
}

// serviceBindings are the parentRefs to Services, and the nodes of these as parents.
type serviceBindings struct {
	*draft
	all []serviceBinding
}

// connectAll finds which routes lose a Service to routes of another kind, and connects the others
// to it.
func (bs *serviceBindings) connectAll() {
	held := map[serviceClient]*portHolders{}
	for i := range bs.all {
		x := &bs.all[i]
		at := serviceClient{x.service, x.namespace}
		if held[at] == nil {
			held[at] = &portHolders{byPort: map[int32]*serviceBinding{}}
		}
		held[at].addBinding(x)
	}
	for i := range bs.all {
		x := &bs.all[i]
		row := &bs.tables[x.route][x.row]
		by, unread := bs.findWinner(x, held[serviceClient{x.service, x.namespace}]), bs.unreadKindBefore(x)
		switch {
		case x.decided:
		case unread != "": // whoever has the port by what is known keeps it, and answers are marked
			row.State, row.Hostnames = topology.Unknown, nil
			row.Reason = "routes of kind " + unread + " in namespace " + x.namespace +
				" are forbidden, and go before " + x.kind.Kind
		case by != nil:
			row.State, row.Hostnames = topology.Conflicted, nil
			row.Reason = bs.nodes.Node(by.route).Ref.String() + " has the same port, and kind " + by.kind.Kind +
				" goes before " + x.kind.Kind
		}
		if by != nil {
			continue
		}
		at := bs.frontendNode(x.service)
		if x.port != nil {
			at = bs.frontendPortNode(at, x.port.Section)
		}
		bs.addMesh(at, x.route)
	}
}

// unreadKindBefore names a kind that x would lose a port to and whose objects may not be read.
func (bs *serviceBindings) unreadKindBefore(x *serviceBinding) string {
	for i := range max(0, x.kindRank()) {
		if bs.in.Cluster.IsUnread(meshOrder[i], x.namespace) {
			return meshOrder[i].Kind
		}
	}
	return ""
}

// addBinding notes a binding that goes before those met so far.
func (h *portHolders) addBinding(x *serviceBinding) {
	switch {
	case x.kindRank() < 0:
	case x.port == nil && (h.allPorts == nil || x.kindRank() < h.allPorts.kindRank()):
		h.allPorts = x
	case x.port != nil && (h.byPort[x.port.Number] == nil || x.kindRank() < h.byPort[x.port.Number].kindRank()):
		h.byPort[x.port.Number] = x
	}
}

// kindRank returns the place of the binding's kind, -1 for one that competes with no other.
func (x *serviceBinding) kindRank() int { return slices.Index(meshOrder[:], x.kind) }

// findWinner returns a binding that x loses a port to, nil where a port is left for x: then it is
// accepted as a route is by one of several listeners (gatewayapi G11).
func (bs *serviceBindings) findWinner(x *serviceBinding, h *portHolders) *serviceBinding {
	if x.kindRank() < 0 {
		return nil
	}
	var by *serviceBinding
	for _, number := range bs.tcpPortNumbers(x) {
		by = h.allPorts
		if own := h.byPort[number]; own != nil && (by == nil || own.kindRank() < by.kindRank()) {
			by = own
		}
		if by == nil || by.kindRank() >= x.kindRank() {
			return nil
		}
	}
	return by
}

// tcpPortNumbers returns the numbers of the ports that a binding is for; 0 stands for one that the
// Service does not tell.
func (bs *serviceBindings) tcpPortNumbers(x *serviceBinding) []int32 {
	if x.port != nil {
		return []int32{x.port.Number}
	}
	var out []int32
	for _, p := range manifest.ReadServicePorts(bs.in.Get(x.service)) {
		if !p.UDP {
			out = append(out, p.Number)
		}
	}
	if out == nil {
		return []int32{0}
	}
	return out
}
