package topology

// The facts of nodes that a plan may ask for: what a path is, beside its nodes.
const (
	Protocol   = "protocol"   // of a listener
	RouteKind  = "routeKind"  // of a route
	Controller = "controller" // of a GatewayClass: its controllerName
)

// PathFacts are the names of the facts, sorted.
func PathFacts() []string { return []string{Controller, Protocol, RouteKind} }

// PathFact is what a node says of the paths through it, "" if that is not its business.
func (g *Graph) PathFact(id NodeID, name string) string {
	n := &g.nodes[id]
	switch {
	case name == Protocol && n.Role == Listener:
		return g.listeners[id-g.firstListener].protocol
	case name == RouteKind && n.Role == Route:
		return n.Ref.Kind
	case name == Controller && n.Role == GatewayClass && n.Object != nil:
		return n.Object.Text("spec", "controllerName")
	}
	return ""
}
