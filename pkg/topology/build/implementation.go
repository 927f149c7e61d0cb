package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// Implementation says what an implementation does at its Gateways where the Gateway API leaves that
// to implementations, or otherwise than it says.
type Implementation struct {
	Name        string
	Controllers []string // at whose Gateways
	// of its own kinds: of a Gateway whose class is not in the input, objects of this group and of
	// no other implementation's tell whose it is
	Group string

	// a hostname that another listener on the port has itself is taken from the routes at this one
	ExclusiveHostnames bool
	// a hostname that another listener of the same object has itself on the port is not served at
	// this one, although it accepts the routes; unless their parentRefs name the port alone
	IsolatesHostnames bool
	TCPOverTLS        bool // listeners that end TLS take TCPRoutes
	// a listener that names a kind of routes which it cannot have is not valid, and conflicts with
	// no other
	RefusesWrongKinds bool
	TakesSetsAlways   bool // a Gateway takes ListenerSets also if no listener of its own is valid
	NoStatusOnSets    bool // it says nothing about routes at a ListenerSet that the Gateway does not take

	// a listener that has none of its certificates takes no traffic and conflicts with no other, and is
	// not accepted if it may not refer to them; what is accepted is all that Gateways and ListenerSets
	// ask of listeners
	NeedsCertificates bool

	NoneWinsInSet bool // of listeners of one ListenerSet that conflict with each other none wins

	// whether the Gateways of a class are served by one proxy, as the input says: then their listeners
	// conflict with each other, and the oldest Gateway's come first; nil: they never are
	MergesGateways func(in *model.Snapshot, class string) bool

	// kinds beside those of the Gateway API that its routes may send to; what becomes of the
	// traffic is not followed
	Backends []model.GroupKind

	Refs gatewayapi.RefReading // how its routes and Gateways read what they refer to

	// prepares what finds backendRefs that the implementation cannot use, of rules all of whose Gateways
	// are its own, although the Gateway API has nothing against them; nil: there are none
	JudgesBackends func(in *model.Snapshot) topology.BackendJudge

	// prepares what says what the implementation's own filters do; nil: that is left open
	ReadsFilters func(in *model.Snapshot) topology.FilterReader
}

// AddImplementation makes the Gateways of an implementation work as it has them.
func (b *Builder) AddImplementation(i Implementation) {
	b.implementations = append(b.implementations, i)
}

// unfollowedKinds returns the kinds that routes may send to at a Gateway of the input, or at one of
// which the class may not be read, and whose objects are no backends anywhere else.
func (d *draft) unfollowedKinds() []model.GroupKind {
	var out []model.GroupKind
	for _, impl := range d.implementations {
		if impl.Backends != nil && (d.in.Cluster.HasUnread(gatewayapi.GatewayClassKind) ||
			d.guessImplementation().Name == impl.Name || slices.ContainsFunc(d.in.OfKind(gatewayapi.GatewayClassKind),
			func(class *model.Object) bool {
				return slices.Contains(impl.Controllers, class.Text("spec", "controllerName"))
			})) {
			out = append(out, impl.Backends...)
		}
	}
	return out
}

// Setting returns the text of a setting, by its full name.
func (b *Builder) Setting(name string) string { return b.settings.Text(name) }

// guessImplementation returns whose Gateways are of which the input does not tell the controller:
// the zero value if several could be meant, or none.
func (d *draft) guessImplementation() Implementation {
	groups := map[string]bool{}
	for _, gk := range d.in.Kinds() {
		groups[gk.Group] = true
	}
	var found []Implementation
	for _, impl := range d.implementations {
		if impl.Group != "" && groups[impl.Group] {
			found = append(found, impl)
		}
	}
	if len(found) != 1 {
		return Implementation{}
	}
	return found[0]
}

// implementationOfClass returns whose the Gateways of a class are; the zero value is nobody's in
// particular.
func (gs *gatewayBuilder) implementationOfClass(class string) Implementation {
	controller := gs.controllerOfClass(class)
	if controller == "" {
		return gs.unknownImplementation
	}
	for _, impl := range gs.implementations {
		if slices.Contains(impl.Controllers, controller) {
			return impl
		}
	}
	return Implementation{}
}

// implementationAt returns whose the Gateway is that has a listener, by the object that holds it.
func (gs *gatewayBuilder) implementationAt(owner topology.NodeID) Implementation {
	if i, ok := gs.gatewayOf[gs.owningGateway(owner)]; ok {
		return gs.specs[i].implementation
	}
	return Implementation{}
}

// owningGateway returns a Gateway itself, or the one that a ListenerSet names.
func (gs *gatewayBuilder) owningGateway(owner topology.NodeID) topology.NodeID {
	if gs.nodes.Node(owner).Role != topology.ListenerSet {
		return owner
	}
	if i := int(owner - gs.firstSet); i >= 0 && i < len(gs.sets) {
		return gs.sets[i].Gateway
	}
	return topology.None
}

// routeKindsFor returns the route kinds that a listener takes by its protocol (gatewayapi G13);
// mode is that of its TLS.
func (i Implementation) routeKindsFor(protocol, mode string) []model.GroupKind {
	if protocol == "TLS" && mode != modePassthrough && i.TCPOverTLS {
		return []model.GroupKind{gatewayapi.TCPRouteKind, gatewayapi.TLSRouteKind}
	}
	return gatewayapi.KindsByProtocol(protocol)
}

// mayTakeTCP reports whether a listener takes TCPRoutes over TLS with some implementations, where
// whose it is may not be read.
func (gs *gatewayBuilder) mayTakeTCP(owner topology.NodeID, protocol, mode string) bool {
	return protocol == "TLS" && mode != modePassthrough &&
		gs.mayBelongTo(owner, func(i Implementation) bool { return i.TCPOverTLS })
}

// mayBelongTo reports whether the Gateway that has a listener, by the object that holds it, may be
// one of some implementation that is meant: whose it is may not be read.
func (gs *gatewayBuilder) mayBelongTo(owner topology.NodeID, meant func(Implementation) bool) bool {
	if gs.in.Cluster == nil || gs.implementationAt(owner).Name != "" {
		return false
	}
	i, known := gs.gatewayOf[gs.owningGateway(owner)]
	withheld := !known || gs.in.Cluster.IsUnreadRef(model.Ref{Group: gatewayapi.GatewayClassKind.Group,
		Kind: gatewayapi.GatewayClassKind.Kind, Name: gs.specs[i].class}) &&
		gs.controllerOfClass(gs.specs[i].class) == ""
	return withheld && slices.ContainsFunc(gs.implementations, meant)
}

// mayTakeKind reports whether it is not known if the listener takes routes of a kind.
func (l *listener) mayTakeKind(gk model.GroupKind) bool { return slices.Contains(l.uncertainKinds, gk) }

// mayOmitStatus reports whether some implementation says nothing about routes at a ListenerSet that
// its Gateway does not take.
func (w *routeAttacher) mayOmitStatus() bool {
	return slices.ContainsFunc(w.implementations, func(i Implementation) bool { return i.NoStatusOnSets })
}

// mayLoseHosts reports whether listeners that may not be read could take the hostnames of a route
// from the one that accepts it.
func (w *routeAttacher) mayLoseHosts(r *routeDraft, l *listener) bool {
	if w.in.Cluster == nil || len(w.hosts) == 0 || gatewayapi.IgnoresHostnames(r.kind) ||
		!w.implementationAt(l.owner).ExclusiveHostnames {
		return false
	}
	from := w.nodes.Node(w.owningGateway(l.owner)).Object.Text("spec", "allowedListeners", "namespaces", "from")
	return from != "" && from != "None" && slices.ContainsFunc(gatewayapi.ListenerSetKinds(), w.in.Cluster.HasUnread)
}

// hostCounts counts the listeners of a Gateway and of the ListenerSets that it takes by the
// hostname that they have on a port.
type hostCounts map[int32]map[string]int

// countHosts returns the counts of a Gateway. What lost its hostname to another listener does not
// count.
func (w *routeAttacher) countHosts(gateway topology.NodeID) hostCounts {
	if known, ok := w.hostCounts[gateway]; ok {
		return known
	}
	out := hostCounts{}
	for _, owner := range w.listenerOwners(gateway) {
		for _, l := range w.listenersOf(owner) {
			if !l.ownsHostname() {
				continue
			}
			if out[l.port] == nil {
				out[l.port] = map[string]int{}
			}
			out[l.port][l.hostname]++
		}
	}
	w.hostCounts[gateway] = out
	return out
}

// listenerOwners returns a Gateway and the ListenerSets that it takes, whatever becomes of their
// listeners.
func (gs *gatewayBuilder) listenerOwners(gateway topology.NodeID) []topology.NodeID {
	out := []topology.NodeID{gateway}
	for i := range gs.sets {
		if s := &gs.sets[i]; s.Gateway == gateway && (s.State == topology.SetAccepted ||
			s.State == topology.SetListenersNotValid) {
			out = append(out, s.id)
		}
	}
	return out
}

// ownsHostname reports whether a listener keeps others from its hostname.
func (l *listener) ownsHostname() bool {
	return l.hostname != "" && (!l.gaveWay || l.conflict.Reason != hostnameConflict)
}

// dropOwnedHostnames leaves out the hostnames that other listeners on the port have themselves.
func (w *routeAttacher) dropOwnedHostnames(at *topology.Attachment) {
	l := w.listenerAt(at.Listener)
	if !w.implementationAt(l.owner).ExclusiveHostnames {
		return
	}
	hosts := w.countHosts(w.owningGateway(l.owner))[l.port]
	taken := ""
	left := slices.DeleteFunc(slices.Clone(at.Hostnames), func(h gatewayapi.Hostname) bool {
		others := hosts[h.Effective]
		if h.Effective == l.hostname && l.ownsHostname() {
			others--
		}
		if others > 0 {
			taken = h.Effective
		}
		return others > 0
	})
	if taken != "" && len(left) == 0 {
		at.Reason = "hostname " + taken + " belongs to another listener on port " + manifest.FormatInt(int(l.port)) +
			", and no other one is left at listener " + l.ref.Section
	}
	at.Hostnames = left
}

// dropIsolatedHostnames leaves out the hostnames that other listeners of the same object have
// themselves on the port. The route stays accepted.
func (w *routeAttacher) dropIsolatedHostnames(at *topology.Attachment) {
	l := w.listenerAt(at.Listener)
	if at.State != topology.Accepted || at.Parent.Section == "" && at.Port != 0 ||
		!w.implementationAt(l.owner).IsolatesHostnames {
		return
	}
	own := w.listenersOf(l.owner)
	left := slices.DeleteFunc(slices.Clone(at.Hostnames), func(h gatewayapi.Hostname) bool {
		return slices.ContainsFunc(own, func(o listener) bool {
			return o.ref != l.ref && o.port == l.port && o.hostname != "" && o.hostname == h.Effective
		})
	})
	if len(left) == 0 {
		at.Reason += ", but its hosts belong to other listeners on the port"
	}
	at.Hostnames = left
}
