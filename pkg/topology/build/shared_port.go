package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// SharedPorts says that an implementation serves the listeners of one port and protocol as one:
// then a host belongs to the listener with the longest hostname that covers it, the first of
// several, whichever listener a route is attached to, and a route is served under the hosts alone
// that no more specific listener owns. The listeners of a Gateway come before those of its
// ListenerSets.
type SharedPorts struct {
	Controllers []string // at whose Gateways
	Protocol    string
}

// AddSharedPorts makes policies of listeners hold for the hosts that belong to them.
func (b *Builder) AddSharedPorts(s SharedPorts) { b.sharedPorts = append(b.sharedPorts, s) }

// portSharing settles whose the hosts on shared ports are.
type portSharing struct {
	*gatewayBuilder
	groups map[topology.NodeID]topology.HostOwners // listeners that share a port, by each of them
}

// findOwners finds, for the routes on shared ports, the listeners that their hosts belong to where
// these are not the ones that they are attached to.
func (ps *portSharing) findOwners() map[topology.ListenerRoute]topology.HostOwners {
	owners := map[topology.ListenerRoute]topology.HostOwners{}
	for id := range topology.NodeID(ps.nodes.Len()) {
		if len(ps.groups) == 0 || ps.nodes.Node(id).Role != topology.Route || ps.nodes.Node(id).Hop > 0 {
			continue
		}
		for _, a := range ps.tables[id] {
			if group, ok := ps.groups[a.Listener]; ok && a.State == topology.Accepted {
				ps.addOwners(group, a, topology.ListenerRoute{Listener: a.Listener, Route: id}, owners)
			}
		}
	}
	return owners
}

// addOwners notes the listeners that the hosts of an attachment belong to, if not simply its own;
// none where more specific listeners own all of them.
func (ps *portSharing) addOwners(group topology.HostOwners, a topology.Attachment, at topology.ListenerRoute,
	owners map[topology.ListenerRoute]topology.HostOwners) {
	found := []topology.NodeID{}
	for _, h := range ps.unclaimedHostnames(group.Listeners, a) {
		if id := ps.findHostOwner(group.Listeners, h.Effective); id != topology.None && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	if len(found) != 1 || found[0] != a.Listener {
		slices.Sort(found)
		owners[at] = topology.HostOwners{Listeners: found, Controllers: group.Controllers}
	}
}

// portGroups lists the listeners of a Gateway that share a port with others, by port, in their
// order.
func (ps *portSharing) portGroups(gateway topology.NodeID, protocol string) [][]topology.NodeID {
	byPort := map[int32]int{}
	var out [][]topology.NodeID
	add := func(owner topology.NodeID) {
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
		if ps.sets[i].Gateway == gateway && ps.sets[i].State == topology.SetAccepted {
			add(ps.sets[i].id)
		}
	}
	return slices.DeleteFunc(out, func(group []topology.NodeID) bool { return len(group) < 2 })
}

// findHostOwner returns the listener of a group that a host belongs to.
func (ps *portSharing) findHostOwner(group []topology.NodeID, host string) topology.NodeID {
	best, longest := topology.None, -1
	for _, id := range group {
		name := ps.listenerAt(id).hostname
		if gatewayapi.CoversHostname(name, host) && len(name) > longest {
			best, longest = id, len(name)
		}
	}
	return best
}
