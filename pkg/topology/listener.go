package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// Conflict says why a listener is refused: it cannot be told from others (gatewayapi G26, G27). Of
// those of one Gateway none wins; one of a ListenerSet gives way to all that come before it at the
// Gateway (G28). The zero value is no conflict.
type Conflict struct {
	Reason  string // HostnameConflict or ProtocolConflict
	Message string
	Settled bool // a listener of a Gateway is in the way, so that no ListenerSet could change it
}

// ListenerFacts is what the spec of a listener says about the traffic and the routes it takes.
type ListenerFacts struct {
	Owner        NodeID // the Gateway or the ListenerSet that holds it
	Protocol     string
	Port         int32             // 0: not given
	Hostname     string            // "": every host
	Kinds        []model.GroupKind // the route kinds that it takes (gatewayapi G13)
	OwnNamespace bool              // it takes routes of its own namespace alone
	Unsupported  bool              // the protocol is none of the Gateway API's, nor one with a domain
	InvalidKinds bool              // allowedRoutes names kinds that it cannot take
	Unreadable   bool              // a field has the wrong type: it takes no route
	// with other listeners of the Gateway, or that come before it there: it takes no traffic
	Conflict Conflict
	// it is not accepted for another reason than its protocol: it takes no traffic
	Refused Refusal
	TLSMode string               // of HTTPS and TLS: Terminate or Passthrough; "" where it is not said
	Refs    reference.Unresolved // the certificates it refers to (gatewayapi G58); zero if all are good
	// why it has no good certificate to show or to verify clients by; "": it may have one
	WithoutCertificate string
	ValidityUnknown    bool // a cluster withholds what would tell whether it is Valid
	// its protocol is supported, it is in no conflict, and nothing refuses it (gatewayapi G29)
	Accepted bool
	// it is Accepted, and its references are not known to be bad (gatewayapi G22)
	Valid bool
}

// ClientCertificate returns what became of the certificate that a Gateway shows to backends
// (gatewayapi G58), zero if it is good; false if the Gateway has none.
func (g *Graph) ClientCertificate(gateway NodeID) (reference.Unresolved, bool) {
	u, ok := g.parts.ClientCertificates[gateway]
	return u, ok
}

// Listener returns the facts of a listener.
func (g *Graph) Listener(id NodeID) ListenerFacts { return *g.parts.Listeners[id] }

// Hostname returns the hostname of a listener; "": every host.
func (g *Graph) Hostname(listener NodeID) string { return g.parts.Listeners[listener].Hostname }

// ImplementationName returns the name of the implementation whose the Gateway of a listener is, or
// a Gateway itself; "" if the input does not tell.
func (g *Graph) ImplementationName(id NodeID) string {
	if g.nodes.list[id].Role == Listener {
		id = g.parts.Listeners[id].Owner
	}
	if g.nodes.list[id].Role == ListenerSet {
		id = g.ListenerSet(id).Gateway
	}
	return g.parts.Implementations[id]
}

// SharesPort reports whether a listener is served as one with others of its port, so that each host
// is answered by the most specific of them that has a route for it.
func (g *Graph) SharesPort(listener NodeID) bool { return g.parts.SharedPorts[listener].Known }

// MergesGateways reports whether the Gateways of a class share their ports, so that a listener of
// one can conflict with those of another (switch gatewayMerging).
func (g *Graph) MergesGateways() bool { return g.parts.MergesGateways }

// ListenerRoute is an edge from a listener to a route.
type ListenerRoute struct{ Listener, Route NodeID }

// HostOwners are listeners that share a port, or that the hosts of a route there belong to, and for
// the policies of whose implementation.
type HostOwners struct {
	Listeners   []NodeID
	Controllers []string
	Known       bool // of groups: the Gateway is known to be of that implementation
}

// HostOwners lists the listeners whose policies hold for a route in the place of those of the
// listener that it is attached to: on ports that listeners share, those to which the route's hosts
// belong. It is nil where the listener's own hold, and for the policies of implementations with
// other controllers than the given ones; it is empty but not nil where nothing comes to the route
// through the listener.
func (g *Graph) HostOwners(listener, route NodeID, controllers []string) []NodeID {
	if len(g.parts.HostOwners) == 0 {
		return nil
	}
	found, ok := g.parts.HostOwners[ListenerRoute{Listener: listener, Route: route}]
	if !ok || !slices.ContainsFunc(found.Controllers, func(c string) bool { return slices.Contains(controllers, c) }) {
		return nil
	}
	return found.Listeners
}

// Refusal says why a listener has Accepted=False although its protocol is known: the condition's
// reason, and a sentence. The zero value is none; without a Reason it is not known whether there is
// one. No traffic passes a refused listener, while routes attach to it and are counted all the same
// (gatewayapi G29).
type Refusal struct{ Reason, Message string }
