package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// isolate takes from the routes on shared ports the hosts that a more specific listener of the port owns: these are not served through the
// less specific one. That the route is accepted there stays. Where the input does not tell whose the Gateway is, only the policies of the
// implementation mind (see settleRoute).
func (b *builder) isolate() {
	b.portmates = b.sharedPorts()
	gone := map[edge]bool{}
	for id := range NodeID(len(b.nodes)) {
		if len(b.portmates) == 0 || b.nodes[id].Role != Route {
			continue
		}
		rows := b.tables[b.nodes[id].table]
		for i := range rows {
			a := &rows[i]
			if a.State != Accepted || a.Listener == None {
				continue
			}
			group := b.portmates[a.Listener]
			if !group.sure {
				continue
			}
			kept := b.unclaimed(group.listeners, *a)
			if len(kept) == 0 {
				gone[edge{a.Listener, id}] = true
				a.Reason += ", but its hosts belong to more specific listeners on the port"
			}
			b.reportClaimed(group.listeners, id, *a, kept)
			a.Hostnames = kept
		}
	}
	if len(gone) > 0 {
		b.traffic = slices.DeleteFunc(b.traffic, func(e edge) bool { return gone[e] })
	}
}

// sharedPorts are the groups of listeners that share a port, by listener.
func (b *builder) sharedPorts() map[NodeID]owned {
	groups := map[NodeID]owned{}
	for _, s := range b.shared {
		for _, g := range b.gateways {
			c := b.controllerOfClass(g.class)
			if c != "" && !slices.Contains(s.Controllers, c) {
				continue
			}
			for _, group := range b.portGroups(g.id, s.Protocol) {
				for _, listener := range group {
					groups[listener] = owned{group, s.Controllers, c != ""}
				}
			}
		}
	}
	return groups
}

// unclaimed are the hostnames of an attachment that no more specific listener of the group owns.
func (b *builder) unclaimed(group []NodeID, a Attachment) []Hostname {
	var out []Hostname
	for _, h := range a.Hostnames {
		if b.claimant(group, a.Listener, h.Effective) == None {
			out = append(out, h)
		}
	}
	return out
}

// claimant is the most specific listener of a group for a host, None if none is more specific than the given one.
func (b *builder) claimant(group []NodeID, listener NodeID, host string) NodeID {
	name := func(id NodeID) string { return b.listeners[id-b.firstListener].hostname }
	best := listener
	for _, id := range group {
		if Covers(name(id), host) && precision(name(id)) > precision(name(best)) {
			best = id
		}
	}
	if best == listener {
		return None
	}
	return best
}

// precision orders the hostnames of listeners that cover one host: none, wildcards with more labels first, the host itself.
func precision(name string) int {
	const exact = 1 << 16
	switch {
	case name == "":
		return 0
	case strings.HasPrefix(name, "*."):
		return strings.Count(name, ".")
	}
	return exact
}

// reportClaimed reports the hostnames for which a route gets no requests because the listener that owns them does not have it.
func (b *builder) reportClaimed(group []NodeID, route NodeID, a Attachment, kept []Hostname) {
	for _, h := range a.Hostnames {
		if slices.Contains(kept, h) {
			continue
		}
		owner := b.claimant(group, a.Listener, h.Effective)
		has := func(x Attachment) bool {
			return x.Listener == owner && x.State == Accepted && slices.ContainsFunc(x.Hostnames, func(o Hostname) bool { return o.Effective == h.Effective })
		}
		if slices.ContainsFunc(b.tables[b.nodes[route].table], has) {
			continue
		}
		b.problem(model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "requests for " + h.Effective + " do not come to " + b.nodes[route].Ref.String() + " through " + b.nodes[a.Listener].Ref.String() + ": the host belongs to " +
				b.nodes[owner].Ref.String() + " on the same port, to which the route is not attached",
			Hint: "attach the route to that listener"}, b.nodes[route].Object, "spec", "hostnames")
	}
}

// SharesPort reports whether a listener is served as one with others of its port, so that each host is answered by the most specific of them
// that has a route for it.
func (g *Graph) SharesPort(listener NodeID) bool { return g.portmates[listener].sure }
