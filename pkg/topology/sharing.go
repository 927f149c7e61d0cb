package topology

import "slices"

// SharedPorts says that an implementation serves the listeners of one port and protocol as one: then a host belongs to the listener with the
// longest hostname that covers it, the first of several, whichever listener a route is attached to. The listeners of a Gateway come before
// those of its ListenerSets.
type SharedPorts struct {
	Controllers []string // at whose Gateways
	Protocol    string
}

// SharePorts makes policies of listeners hold for the hosts that belong to them.
func (b *Builder) SharePorts(s SharedPorts) { b.b.shared = append(b.b.shared, s) }

// step is an edge from a listener to a route.
type step struct{ listener, route NodeID }

// settleHosts finds, for the routes on shared ports, the listeners that their hosts belong to where these are not the ones that they are
// attached to.
func (b *builder) settleHosts() map[step][]NodeID {
	groups := map[NodeID][]NodeID{} // by listener: those of its port
	for _, s := range b.shared {
		for _, g := range b.gateways {
			if c := b.controllerOfClass(g.class); c != "" && !slices.Contains(s.Controllers, c) {
				continue
			}
			for _, group := range b.portGroups(g.id, s.Protocol) {
				for _, listener := range group {
					groups[listener] = group
				}
			}
		}
	}
	owners := map[step][]NodeID{}
	for id := range NodeID(len(b.nodes)) {
		if len(groups) == 0 || b.nodes[id].Role != Route || b.nodes[id].Hop > 0 {
			continue
		}
		for _, a := range b.tables[b.nodes[id].table] {
			if group := groups[a.Listener]; a.State == Accepted && group != nil {
				b.settleRoute(group, a, step{a.Listener, id}, owners)
			}
		}
	}
	return owners
}

// settleRoute notes the listeners that the hosts of an attachment belong to, if not simply its own.
func (b *builder) settleRoute(group []NodeID, a Attachment, at step, owners map[step][]NodeID) {
	var found []NodeID
	for _, h := range a.Hostnames {
		if id := b.hostOwner(group, h.Effective); id != None && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	if len(found) > 1 || len(found) == 1 && found[0] != a.Listener {
		slices.Sort(found)
		owners[at] = found
	}
}

// portGroups lists the listeners of a Gateway that share a port with others, by port, in their order.
func (b *builder) portGroups(gateway NodeID, protocol string) [][]NodeID {
	byPort := map[int32]int{}
	var out [][]NodeID
	add := func(owner NodeID) {
		parts := b.nodes[owner].parts
		for i := range parts.n {
			id := parts.first + NodeID(i)
			l := &b.listeners[id-b.firstListener]
			if l.protocol != protocol || l.refused() {
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
	for i := range b.sets {
		if b.sets[i].Gateway == gateway && b.sets[i].State == SetAccepted {
			add(b.sets[i].id)
		}
	}
	return slices.DeleteFunc(out, func(group []NodeID) bool { return len(group) < 2 })
}

// hostOwner is the listener of a group that a host belongs to.
func (b *builder) hostOwner(group []NodeID, host string) NodeID {
	best, longest := None, -1
	for _, id := range group {
		name := b.listeners[id-b.firstListener].hostname
		if Covers(name, host) && len(name) > longest {
			best, longest = id, len(name)
		}
	}
	return best
}

// Owners lists the listeners whose policies hold for a route that is attached to the given one: that one, but on ports that listeners share
// those to which the route's hosts belong.
func (g *Graph) Owners(listener, route NodeID) []NodeID {
	if found, ok := g.owners[step{listener, route}]; ok {
		return found
	}
	return []NodeID{listener}
}

// Detours reports whether the policies of a listener do not simply hold for a route that is attached to it.
func (g *Graph) Detours(listener, route NodeID) bool {
	_, ok := g.owners[step{listener, route}]
	return ok
}
