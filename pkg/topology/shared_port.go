package topology

import "slices"

// SharedPorts says that an implementation serves the listeners of one port and protocol as one: then a host belongs to the listener with the
// longest hostname that covers it, the first of several, whichever listener a route is attached to, and a route is served under the hosts
// alone that no more specific listener owns. The listeners of a Gateway come before those of its ListenerSets.
type SharedPorts struct {
	Controllers []string // at whose Gateways
	Protocol    string
}

// AddSharedPorts makes policies of listeners hold for the hosts that belong to them.
func (b *Builder) AddSharedPorts(s SharedPorts) { b.sharedPorts = append(b.sharedPorts, s) }

// portSharing settles whose the hosts on shared ports are.
type portSharing struct {
	*gatewayBuilder
	groups map[NodeID]hostOwners // listeners that share a port, by each of them
}

// listenerRoute is an edge from a listener to a route.
type listenerRoute struct{ listener, route NodeID }

// hostOwners are listeners that share a port, or that the hosts of a route there belong to, and for
// the policies of whose implementation.
type hostOwners struct {
	listeners   []NodeID
	controllers []string
	known       bool // of groups: the Gateway is known to be of that implementation
}

// findOwners finds, for the routes on shared ports, the listeners that their hosts belong to where these are not the ones that they are
// attached to.
func (ps *portSharing) findOwners() map[listenerRoute]hostOwners {
	owners := map[listenerRoute]hostOwners{}
	for id := range NodeID(ps.nodes.Len()) {
		if len(ps.groups) == 0 || ps.nodes.Node(id).Role != Route || ps.nodes.Node(id).Hop > 0 {
			continue
		}
		for _, a := range ps.tables[id] {
			if group, ok := ps.groups[a.Listener]; ok && a.State == Accepted {
				ps.addOwners(group, a, listenerRoute{listener: a.Listener, route: id}, owners)
			}
		}
	}
	return owners
}

// addOwners notes the listeners that the hosts of an attachment belong to, if not simply its own;
// none where more specific listeners own all of them.
func (ps *portSharing) addOwners(group hostOwners, a Attachment, at listenerRoute, owners map[listenerRoute]hostOwners) {
	found := []NodeID{}
	for _, h := range ps.unclaimedHostnames(group.listeners, a) {
		if id := ps.findHostOwner(group.listeners, h.Effective); id != None && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	if len(found) != 1 || found[0] != a.Listener {
		slices.Sort(found)
		owners[at] = hostOwners{listeners: found, controllers: group.controllers}
	}
}

// portGroups lists the listeners of a Gateway that share a port with others, by port, in their order.
func (ps *portSharing) portGroups(gateway NodeID, protocol string) [][]NodeID {
	byPort := map[int32]int{}
	var out [][]NodeID
	add := func(owner NodeID) {
		for id := range ps.nodes.Node(owner).EachPart {
			l := ps.listenerAt(id)
			if l.protocol != protocol || l.isRefused() {
				continue
			}
			at, ok := byPort[l.port]
			if !ok {
				at = len(out)
				byPort[l.port] = at
				out = append(out, nil)
			}
			out[at] = append(out[at], id)
		}
	}
	add(gateway)
	for i := range ps.sets {
		if ps.sets[i].Gateway == gateway && ps.sets[i].State == SetAccepted {
			add(ps.sets[i].id)
		}
	}
	return slices.DeleteFunc(out, func(group []NodeID) bool { return len(group) < 2 })
}

// findHostOwner returns the listener of a group that a host belongs to.
func (ps *portSharing) findHostOwner(group []NodeID, host string) NodeID {
	best, longest := None, -1
	for _, id := range group {
		name := ps.listenerAt(id).hostname
		if CoversHostname(name, host) && len(name) > longest {
			best, longest = id, len(name)
		}
	}
	return best
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
	found, ok := g.parts.HostOwners[listenerRoute{listener: listener, route: route}]
	if !ok || !slices.ContainsFunc(found.controllers, func(c string) bool { return slices.Contains(controllers, c) }) {
		return nil
	}
	return found.listeners
}
