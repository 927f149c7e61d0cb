package build

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// portContest decides who has the ports of Gateways that share them: between their listeners, then
// between those of ListenerSets about what is left.
type portContest struct {
	*gatewayBuilder
	group     []topology.NodeID      // Gateways that share their ports
	joined    []int                  // the ListenerSets that they take
	protocols map[socket][]*listener // the first of each family that has the port
	hostnames map[portHost]*listener
	gaveWayTo map[topology.NodeID]model.Ref // by set: the first other set that one of its listeners gave way to
}

// portHost is what one listener alone can have: a hostname, or none, on a port.
type portHost struct {
	socket
	name string
}

func (l *listener) portHostOf() portHost { return portHost{l.socketOf(), l.hostname} }

// judgeSets judges the listeners of ListenerSets against those that come before them: the first one
// wins, later ones are refused (gatewayapi G23, G28). All of the Gateway's own come first, also
// those that are refused inside it: nobody wins there, and a set that got the hostname because the
// Gateway's owner wrote it twice would lose it again when that is mended. Of the sets only
// listeners that were not refused are in the way of others. A set that conflicts with itself is
// judged in the order of its document, unless the implementation lets none of its listeners win.
func (c *portContest) judgeSets() {
	if len(c.joined) == 0 {
		return
	}
	c.protocols, c.hostnames, c.gaveWayTo = map[socket][]*listener{}, map[portHost]*listener{},
		map[topology.NodeID]model.Ref{}
	for _, g := range c.group {
		for _, l := range c.listClaimants(g) {
			c.addHolder(protocolConflict, l)
			c.addHolder(hostnameConflict, l)
		}
	}
	c.joined = slices.DeleteFunc(c.joined, func(i int) bool { return c.leaveSetOpen(&c.sets[i]) })
	aged := c.sortByAge()
	var all []*listener
	for _, i := range c.joined {
		all = append(all, c.listClaimants(c.sets[i].id)...)
	}
	for _, reason := range []string{protocolConflict, hostnameConflict} {
		if c.implementationAt(c.group[0]).NoneWinsInSet {
			for _, ls := range c.groupConflicting(reason, all) {
				refuseAll(ls, reason, reason == protocolConflict)
			}
		}
		c.refuseLater(reason, all)
	}
	for _, i := range c.joined {
		c.reportConflicting(c.sets[i].id, "")
		c.reportRefused(&c.sets[i], c.gaveWayTo[c.sets[i].id], aged)
	}
}

// listClaimants returns the listeners of an owner that take part in conflicts.
func (c *portContest) listClaimants(owner topology.NodeID) []*listener {
	var out []*listener
	own := c.listenersOf(owner)
	for i := range own {
		if own[i].canConflict() {
			out = append(out, &own[i])
		}
	}
	return out
}

// findRival returns the listener for which another one is refused for the reason, nil if there is
// none.
func (c *portContest) findRival(reason string, l *listener) *listener {
	if reason == hostnameConflict {
		return c.hostnames[l.portHostOf()]
	}
	for _, first := range c.protocols[l.socketOf()] {
		if first.protocolFamily() != l.protocolFamily() || l.needsWholePort() {
			return first
		}
	}
	return nil
}

// addHolder lets a listener be in the way of others for the reason.
func (c *portContest) addHolder(reason string, l *listener) {
	at := l.socketOf()
	switch {
	case reason == protocolConflict && !slices.ContainsFunc(c.protocols[at],
		func(o *listener) bool { return o.protocolFamily() == l.protocolFamily() }):
		c.protocols[at] = append(c.protocols[at], l)
	case reason == hostnameConflict && c.hostnames[l.portHostOf()] == nil:
		c.hostnames[l.portHostOf()] = l
	}
}

// refuseLater refuses listeners for the reason, unless they are refused already.
func (c *portContest) refuseLater(reason string, all []*listener) {
	for _, l := range all {
		if l.conflict != (topology.Conflict{}) {
			continue
		}
		first := c.findRival(reason, l)
		if first == nil {
			c.addHolder(reason, l)
			continue
		}
		inSet := gatewayapi.IsListenerSet(first.ref.GroupKind())
		l.refuseFor(reason, first.nameFor(l), !inSet)
		l.gaveWay = true
		if _, known := c.gaveWayTo[l.owner]; !known && inSet && first.owner != l.owner {
			c.gaveWayTo[l.owner] = first.ref.WithoutSection()
		}
	}
}

// groupConflicting groups listeners that want what no Gateway has, and what one set wants twice: a
// port for protocols that cannot share it, of which it concerns that set alone, or a hostname.
func (c *portContest) groupConflicting(reason string, wanting []*listener) [][]*listener {
	type want struct {
		portHost
		set topology.NodeID
	}
	by := map[want][]*listener{}
	for _, l := range wanting {
		w, free := want{l.portHostOf(), topology.None}, c.hostnames[l.portHostOf()] == nil && !l.needsWholePort()
		if reason == protocolConflict {
			w, free = want{portHost{socket: l.socketOf()}, l.owner}, len(c.protocols[l.socketOf()]) == 0
		}
		if free && l.conflict == (topology.Conflict{}) {
			by[w] = append(by[w], l)
		}
	}
	maps.DeleteFunc(by, func(_ want, ls []*listener) bool {
		if reason == protocolConflict {
			return !slices.ContainsFunc(ls,
				func(l *listener) bool { return l.protocolFamily() != ls[0].protocolFamily() })
		}
		owners := map[topology.NodeID]bool{}
		for _, l := range ls {
			owners[l.owner] = true
		}
		return len(owners) == len(ls)
	})
	return slices.Collect(maps.Values(by))
}

// leaveSetOpen makes it unknown what becomes of a set that conflicts with itself, where its Gateway
// may be one of an implementation that lets none of its listeners win. It reports whether it did.
func (c *portContest) leaveSetOpen(s *listenerSet) bool {
	own := c.listClaimants(s.id)
	if !c.mayBelongTo(s.id, func(i Implementation) bool { return i.NoneWinsInSet }) ||
		len(c.groupConflicting(protocolConflict, own))+len(c.groupConflicting(hostnameConflict, own)) == 0 {
		return false
	}
	s.State, s.Reason = topology.SetUnknown,
		"its listeners conflict with each other, and whether one of them wins depends on the implementation, whose class is forbidden"
	return true
}

// sortByAge sorts ListenerSets by age and then by name (gatewayapi G23), and reports whether their
// ages counted: if any has none they are sorted by name alone, because comparing pair by pair would
// make the winner depend on the order of the input (G47).
func (c *portContest) sortByAge() bool {
	aged := !slices.ContainsFunc(c.joined, func(i int) bool { return c.sets[i].object.Created.IsZero() })
	slices.SortFunc(c.joined, func(x, y int) int {
		a, o := c.sets[x].object, c.sets[y].object
		age := 0
		if aged {
			age = a.Created.Compare(o.Created)
		}
		return cmp.Or(age, cmp.Compare(a.Ref.FullName(), o.Ref.FullName()), a.Ref.Compare(o.Ref))
	})
	return aged
}

// reportRefused reports the listeners of a set that gave way. Where one gave way to another set for
// its name, another order of the sets would change who wins.
func (c *portContest) reportRefused(set *listenerSet, to model.Ref, aged bool) {
	var names []string
	for _, l := range c.listenersOf(set.id) {
		if l.gaveWay {
			names = append(names, l.ref.Section)
		}
	}
	if len(names) == 0 {
		return
	}
	c.AddProblem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") + " take no traffic: listeners that come before them at " +
			c.nodes.Node(set.Gateway).Ref.String() + " conflict with them",
		Hint: "give each a port, or a hostname, of its own"}, set.object, "spec", "listeners")
	if to != (model.Ref{}) && !aged {
		c.AddProblem(model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
			Message: "listeners of " + to.String() +
				" come first by name: no creation time of every listener set of the Gateway is known; by age another one may win",
			Hint: "read the objects from a cluster, or write metadata.creationTimestamp"}, set.object)
	}
}
