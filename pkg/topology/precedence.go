package topology

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// contest is about the ports of Gateways that share them: between their listeners, then between those of ListenerSets about what is left.
type contest struct {
	*gateways
	group     []NodeID               // Gateways that share their ports
	joined    []int                  // the ListenerSets that they take
	protocols map[socket][]*listener // the first of each family that has the port
	hostnames map[host]*listener
	to        map[NodeID]model.Ref // by set: the first other set that one of its listeners gave way to
}

// host is what one listener alone can have: a hostname, or none, on a port.
type host struct {
	socket
	name string
}

func (l *listener) host() host { return host{l.socket(), l.hostname} }

// across judges the listeners of ListenerSets against those that come before them: the first one wins, later ones are refused
// (gatewayapi G23, G28). All of the Gateway's own come first, also those that are refused inside it: nobody wins there, and a set that
// got the hostname because the Gateway's owner wrote it twice would lose it again when that is mended. Of the sets only listeners
// that were not refused are in the way of others. A set that conflicts with itself is judged in the order of its document, unless the
// implementation lets none of its listeners win.
func (c *contest) across() {
	if len(c.joined) == 0 {
		return
	}
	c.protocols, c.hostnames, c.to = map[socket][]*listener{}, map[host]*listener{}, map[NodeID]model.Ref{}
	for _, g := range c.group {
		for _, l := range c.claimants(g) {
			c.admit(protocolConflict, l)
			c.admit(hostnameConflict, l)
		}
	}
	c.joined = slices.DeleteFunc(c.joined, func(i int) bool { return c.quarrels(&c.sets[i]) })
	aged := c.bySeniority()
	var all []*listener
	for _, i := range c.joined {
		all = append(all, c.claimants(c.sets[i].id)...)
	}
	for _, reason := range []string{protocolConflict, hostnameConflict} {
		if c.implementation(c.group[0]).NoneWinsInSet {
			for _, ls := range c.divided(reason, all) {
				mark(ls, reason, reason == protocolConflict)
			}
		}
		c.refuse(reason, all)
	}
	for _, i := range c.joined {
		c.reportDivided(c.sets[i].id, "")
		c.reportRefused(&c.sets[i], c.to[c.sets[i].id], aged)
	}
}

// claimants are the listeners of an owner that take part in conflicts.
func (c *contest) claimants(owner NodeID) []*listener {
	var out []*listener
	own := c.listenersOf(owner)
	for i := range own {
		if own[i].claims() {
			out = append(out, &own[i])
		}
	}
	return out
}

// rival is the listener for which another one is refused for the reason, nil if there is none.
func (c *contest) rival(reason string, l *listener) *listener {
	if reason == hostnameConflict {
		return c.hostnames[l.host()]
	}
	for _, first := range c.protocols[l.socket()] {
		if first.family() != l.family() || l.alone() {
			return first
		}
	}
	return nil
}

// admit lets a listener be in the way of others for the reason.
func (c *contest) admit(reason string, l *listener) {
	at := l.socket()
	switch {
	case reason == protocolConflict && !slices.ContainsFunc(c.protocols[at], func(o *listener) bool { return o.family() == l.family() }):
		c.protocols[at] = append(c.protocols[at], l)
	case reason == hostnameConflict && c.hostnames[l.host()] == nil:
		c.hostnames[l.host()] = l
	}
}

// refuse refuses listeners for the reason, unless they are refused already.
func (c *contest) refuse(reason string, all []*listener) {
	for _, l := range all {
		if l.conflict != (Conflict{}) {
			continue
		}
		first := c.rival(reason, l)
		if first == nil {
			c.admit(reason, l)
			continue
		}
		inSet := IsListenerSet(first.ref.GroupKind())
		l.refuse(reason, first.seenFrom(l), !inSet)
		l.outdone = true
		if _, known := c.to[l.owner]; !known && inSet && first.owner != l.owner {
			c.to[l.owner] = first.ref.WithoutSection()
		}
	}
}

// divided groups listeners that want what no Gateway has, and what one set wants twice: a port for protocols that cannot share it, of which
// it concerns that set alone, or a hostname.
func (c *contest) divided(reason string, wanting []*listener) [][]*listener {
	type want struct {
		host
		set NodeID
	}
	by := map[want][]*listener{}
	for _, l := range wanting {
		w, free := want{l.host(), None}, c.hostnames[l.host()] == nil && !l.alone()
		if reason == protocolConflict {
			w, free = want{host{socket: l.socket()}, l.owner}, len(c.protocols[l.socket()]) == 0
		}
		if free && l.conflict == (Conflict{}) {
			by[w] = append(by[w], l)
		}
	}
	maps.DeleteFunc(by, func(_ want, ls []*listener) bool {
		if reason == protocolConflict {
			return !slices.ContainsFunc(ls, func(l *listener) bool { return l.family() != ls[0].family() })
		}
		owners := map[NodeID]bool{}
		for _, l := range ls {
			owners[l.owner] = true
		}
		return len(owners) == len(ls)
	})
	return slices.Collect(maps.Values(by))
}

// quarrels makes it unknown what becomes of a set that conflicts with itself, where its Gateway may be one of an implementation that lets none of
// its listeners win.
func (c *contest) quarrels(s *listenerSet) bool {
	own := c.claimants(s.id)
	if !c.mayBe(s.id, func(i Implementation) bool { return i.NoneWinsInSet }) || len(c.divided(protocolConflict, own))+len(c.divided(hostnameConflict, own)) == 0 {
		return false
	}
	s.State, s.Reason = SetUnknown, "its listeners conflict with each other, and whether one of them wins depends on the implementation, whose class may not be read"
	return true
}

// bySeniority sorts ListenerSets by age and then by name (gatewayapi G23), and reports whether their ages counted: if any has none they are
// sorted by name alone, because comparing pair by pair would make the winner depend on the order of the input (G47).
func (c *contest) bySeniority() bool {
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

// reportRefused reports the listeners of a set that gave way. Where one gave way to another set for its name, another order of the sets
// would change who wins.
func (c *contest) reportRefused(set *listenerSet, to model.Ref, aged bool) {
	var names []string
	for _, l := range c.listenersOf(set.id) {
		if l.outdone {
			names = append(names, l.ref.Section)
		}
	}
	if len(names) == 0 {
		return
	}
	c.problem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") + " take no traffic: listeners that come before them at " + c.nodes[set.Gateway].Ref.String() + " conflict with them",
		Hint:    "give each a port, or a hostname, of its own"}, set.object, "spec", "listeners")
	if to != (model.Ref{}) && !aged {
		c.problem(model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
			Message: "listeners of " + to.String() + " come first by name: no creation time of every listener set of the Gateway is known; by age another one may win",
			Hint:    "read the objects from a cluster, or write metadata.creationTimestamp"}, set.object)
	}
}
