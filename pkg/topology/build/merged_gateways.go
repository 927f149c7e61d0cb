package build

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// judgeMerged judges the listeners of Gateways of one class against each other where their
// implementation serves all of them with one proxy, after those of each Gateway were judged by
// themselves. sets are the ListenerSets that each takes.
func (gs *gatewayBuilder) judgeMerged(sets map[topology.NodeID][]int) {
	groups := map[string][]topology.NodeID{}
	var classes []string
	for i := range gs.specs {
		g := &gs.specs[i]
		if g.implementation.MergesGateways == nil || !g.implementation.MergesGateways(gs.in, g.class) {
			continue
		}
		if groups[g.class] == nil {
			classes = append(classes, g.class)
		}
		groups[g.class] = append(groups[g.class], g.id)
	}
	for _, class := range classes {
		group := groups[class]
		m := mergedContest{gatewayBuilder: gs, refused: map[topology.NodeID][]string{}}
		gs.sortNodesByAge(group)
		for _, g := range group {
			m.addClaimants(g)
			var ids []topology.NodeID
			for _, i := range sets[g] {
				ids = append(ids, gs.sets[i].id)
			}
			gs.sortNodesByAge(ids)
			for _, id := range ids {
				m.addClaimants(id)
			}
		}
		m.judgeProtocols()
		m.judgeHostnames()
		m.reportRefused(group)
	}
}

// sortNodesByAge sorts Gateways or ListenerSets by age, then by namespace and name.
func (gs *gatewayBuilder) sortNodesByAge(ids []topology.NodeID) {
	slices.SortStableFunc(ids, func(a, b topology.NodeID) int {
		x, y := gs.nodes.Node(a).Object, gs.nodes.Node(b).Object
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Ref.Namespace, y.Ref.Namespace),
			cmp.Compare(x.Ref.Name, y.Ref.Name))
	})
}

// mergedContest decides who has the ports of the one proxy of several Gateways.
type mergedContest struct {
	*gatewayBuilder
	all     []*listener                  // in the order in which they come first
	refused map[topology.NodeID][]string // by who holds them: those that lost here
}

func (m *mergedContest) addClaimants(owner topology.NodeID) {
	own := m.listenersOf(owner)
	for i := range own {
		if own[i].canConflict() {
			m.all = append(m.all, &own[i])
		}
	}
}

// refuse notes that a listener lost against another one.
func (m *mergedContest) refuse(l *listener, reason string, to *listener) {
	if l.conflict == (topology.Conflict{}) {
		m.refused[l.owner] = append(m.refused[l.owner], l.ref.Section)
	}
	l.refuseFor(reason, to.nameFor(l), true)
}

// judgeProtocols refuses the listeners of ports for which there are several protocols. If
// listeners of Gateways disagree, all lose; else those of ListenerSets that have another protocol
// than the Gateways', or than the first of them. A set that disagrees with itself has nobody who
// wins.
func (m *mergedContest) judgeProtocols() {
	byPort := map[int32][]*listener{}
	for _, l := range m.all {
		if l.protocol != "UDP" {
			byPort[l.port] = append(byPort[l.port], l)
		}
	}
	for _, ls := range byPort {
		var first *listener // whose protocol wins
		disagree := false
		mixed, families := map[topology.NodeID]bool{}, map[topology.NodeID]string{}
		for _, l := range ls {
			if gatewayapi.IsListenerSet(l.ref.GroupKind()) {
				mixed[l.owner] = mixed[l.owner] || families[l.owner] != "" && families[l.owner] != l.protocolFamily()
				families[l.owner] = l.protocolFamily()
				continue
			}
			disagree = disagree || first != nil && first.protocolFamily() != l.protocolFamily()
			first = cmp.Or(first, l)
		}
		bySets := first == nil
		for _, l := range ls {
			switch inSet := gatewayapi.IsListenerSet(l.ref.GroupKind()); {
			case disagree || bySets && inSet && mixed[l.owner]:
				if rival := otherProtocol(ls, l); rival != nil {
					m.refuse(l, protocolConflict, rival)
				}
			case first == nil:
				first = l
			case l.protocolFamily() != first.protocolFamily():
				m.refuse(l, protocolConflict, first)
			}
		}
	}
}

// otherProtocol is a listener with another protocol, nil if there is none.
func otherProtocol(ls []*listener, than *listener) *listener {
	at := slices.IndexFunc(ls, func(l *listener) bool { return l.protocolFamily() != than.protocolFamily() })
	if at < 0 {
		return nil
	}
	return ls[at]
}

// judgeHostnames refuses those that come after another one with their protocol, hostname and port,
// even if that one lost itself.
func (m *mergedContest) judgeHostnames() {
	type claim struct {
		protocol, hostname string
		port               int32
	}
	taken := map[claim]*listener{}
	for _, l := range m.all {
		c := claim{l.protocol, l.hostname, l.port}
		if first := taken[c]; first != nil {
			m.refuse(l, hostnameConflict, first)
		} else {
			taken[c] = l
		}
	}
}

// reportRefused reports the listeners that lost to those of other Gateways. Where it is not known
// how old the Gateways are, another one may win.
func (m *mergedContest) reportRefused(group []topology.NodeID) {
	aged := !slices.ContainsFunc(group, func(g topology.NodeID) bool { return m.nodes.Node(g).Object.Created.IsZero() })
	uncertain := false
	for _, l := range m.all {
		names := m.refused[l.owner]
		if len(names) == 0 {
			continue
		}
		delete(m.refused, l.owner)
		slices.Sort(names)
		o := m.nodes.Node(l.owner).Object
		m.AddProblem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
			Message: fmt.Sprintf("listeners %s take no traffic: the Gateways of the class share one proxy, and listeners of others conflict with them",
				strings.Join(names, ", ")),
			Hint: "give each a port, or a hostname, of its own"}, o, "spec", "listeners")
		if !aged && !uncertain {
			uncertain = true
			m.AddProblem(model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
				Message: "of the Gateways that share one proxy the first by name comes first: no creation time of every one is known; by age another one may win",
				Hint:    "read the objects from a cluster, or write metadata.creationTimestamp"}, o)
		}
	}
}
