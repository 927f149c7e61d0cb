package build

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// isolateHosts takes from the routes on shared ports the hosts that a more specific listener of the
// port owns: these are not served through the less specific one. That the route is accepted there
// stays. Where the input does not tell whose the Gateway is, only the policies of the
// implementation are affected.
func (ps *portSharing) isolateHosts() {
	ps.groups = ps.groupSharedPorts()
	gone := map[topology.Edge]bool{}
	for id := range topology.NodeID(ps.nodes.Len()) {
		if len(ps.groups) == 0 || ps.nodes.Node(id).Role != topology.Route {
			continue
		}
		rows := ps.tables[id]
		for i := range rows {
			a := &rows[i]
			if a.State != topology.Accepted || a.Listener == topology.None {
				continue
			}
			group := ps.groups[a.Listener]
			if !group.Known {
				continue
			}
			kept := ps.unclaimedHostnames(group.Listeners, *a)
			if len(kept) == 0 {
				gone[topology.Edge{From: a.Listener, To: id}] = true
				a.Reason += ", but its hosts belong to more specific listeners on the port"
			}
			ps.reportClaimed(group.Listeners, id, *a, kept)
			a.Hostnames = kept
		}
	}
	if len(gone) > 0 {
		ps.traffic = slices.DeleteFunc(ps.traffic, func(e topology.Edge) bool { return gone[e] })
	}
}

// groupSharedPorts returns the groups of listeners that share a port, by listener.
func (ps *portSharing) groupSharedPorts() map[topology.NodeID]topology.HostOwners {
	groups := map[topology.NodeID]topology.HostOwners{}
	for _, s := range ps.sharedPorts {
		for _, g := range ps.specs {
			c := ps.controllerOfClass(g.class)
			if c != "" && !slices.Contains(s.Controllers, c) {
				continue
			}
			for _, group := range ps.portGroups(g.id, s.Protocol) {
				for _, listener := range group {
					groups[listener] = topology.HostOwners{Listeners: group, Controllers: s.Controllers, Known: c != ""}
				}
			}
		}
	}
	return groups
}

// unclaimedHostnames returns the hostnames of an attachment that no more specific listener of the
// group owns.
func (ps *portSharing) unclaimedHostnames(group []topology.NodeID, a topology.Attachment) []gatewayapi.Hostname {
	var out []gatewayapi.Hostname
	for _, h := range a.Hostnames {
		if ps.moreSpecificListener(group, a.Listener, h.Effective) == topology.None {
			out = append(out, h)
		}
	}
	return out
}

// moreSpecificListener returns the most specific listener of a group for a host, None if none is
// more specific than the given one.
func (ps *portSharing) moreSpecificListener(group []topology.NodeID, listener topology.NodeID,
	host string) topology.NodeID {
	name := func(id topology.NodeID) string { return ps.listenerAt(id).hostname }
	best := listener
	for _, id := range group {
		if gatewayapi.CoversHostname(name(id), host) && hostnamePrecision(name(id)) > hostnamePrecision(name(best)) {
			best = id
		}
	}
	if best == listener {
		return topology.None
	}
	return best
}

// hostnamePrecision orders the hostnames of listeners that cover one host: none, wildcards with
// more labels first, the host itself.
func hostnamePrecision(name string) int {
	const exact = 1 << 16
	switch {
	case name == "":
		return 0
	case strings.HasPrefix(name, "*."):
		return strings.Count(name, ".")
	}
	return exact
}

// reportClaimed reports the hostnames for which a route gets no requests because the listener that
// owns them does not have it.
func (ps *portSharing) reportClaimed(group []topology.NodeID, route topology.NodeID, a topology.Attachment,
	kept []gatewayapi.Hostname) {
	for _, h := range a.Hostnames {
		if slices.Contains(kept, h) {
			continue
		}
		owner := ps.moreSpecificListener(group, a.Listener, h.Effective)
		has := func(x topology.Attachment) bool {
			return x.Listener == owner && x.State == topology.Accepted &&
				slices.ContainsFunc(x.Hostnames, func(o gatewayapi.Hostname) bool { return o.Effective == h.Effective })
		}
		if slices.ContainsFunc(ps.tables[route], has) {
			continue
		}
		ps.AddProblem(model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "requests for " + h.Effective + " do not come to " + ps.nodes.Node(route).Ref.String() +
				" through " + ps.nodes.Node(a.Listener).Ref.String() + ": the host belongs to " +
				ps.nodes.Node(owner).Ref.String() + " on the same port, to which the route is not attached",
			Hint: "attach the route to that listener"}, ps.nodes.Node(route).Object, "spec", "hostnames")
	}
}
