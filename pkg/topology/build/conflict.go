package build

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// judgeConflicts judges the listeners of every Gateway, and those of its ListenerSets against them.
// Where an implementation merges the Gateways of a class, these are judged together.
func (gs *gatewayBuilder) judgeConflicts() {
	sets := map[topology.NodeID][]int{}
	for i := range gs.sets {
		if s := &gs.sets[i]; s.State == topology.SetAccepted {
			sets[s.Gateway] = append(sets[s.Gateway], i)
		}
	}
	for _, group := range gs.groupByPorts() {
		c := portContest{gatewayBuilder: gs, group: group}
		c.judgeGateways()
		for _, g := range group {
			c.joined = append(c.joined, sets[g]...)
		}
		c.judgeSets()
	}
	if !gs.settings.Bool(gatewayapi.GatewayMerging) {
		gs.judgeMerged(sets)
	}
}

// groupByPorts groups the Gateways that share their ports: each by itself, or all of a class
// (switch gatewayMerging).
func (gs *gatewayBuilder) groupByPorts() [][]topology.NodeID {
	var groups [][]topology.NodeID
	of := map[string]int{}
	for i := range gs.specs {
		g := &gs.specs[i]
		if at, ok := of[g.class]; ok && g.class != "" && gs.settings.Bool(gatewayapi.GatewayMerging) {
			groups[at] = append(groups[at], g.id)
			continue
		}
		of[g.class] = len(groups)
		groups = append(groups, []topology.NodeID{g.id})
	}
	return groups
}

// socket is what listeners share: a port number, which UDP has for itself.
type socket struct {
	udp  bool
	port int32
}

// socketOf returns the socket of the listener.
func (l *listener) socketOf() socket { return socket{l.protocol == "UDP", l.port} }

// canConflict reports whether the listener takes part in conflicts.
func (l *listener) canConflict() bool {
	return !l.invalidForKinds && !l.unserved && l.port != 0 && gatewayapi.KindsByProtocol(l.protocol) != nil
}

// judgeGateways finds the listeners of one Gateway, or of several that share their ports, that
// cannot be told apart: by port and protocol, then by port and hostname.
func (c *portContest) judgeGateways() {
	byPort := map[socket][]*listener{}
	for _, g := range c.group {
		for _, l := range c.listClaimants(g) {
			byPort[l.socketOf()] = append(byPort[l.socketOf()], l)
		}
	}
	for _, ls := range byPort {
		refuseConflicting(ls)
	}
	from := ""
	if len(c.group) > 1 {
		from = " from others of the Gateways that share their ports"
	}
	for _, g := range c.group {
		c.reportConflicting(g, from)
	}
}

// reportConflicting reports the listeners of a Gateway or a ListenerSet that conflict with others
// so that none wins.
func (c *portContest) reportConflicting(owner topology.NodeID, from string) {
	var names []string
	for _, l := range c.listenersOf(owner) {
		if l.conflict != (topology.Conflict{}) && !l.gaveWay {
			names = append(names, l.ref.Section)
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	c.AddProblem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") + " cannot be told apart" + from +
			": none of them takes traffic",
		Hint: "give each a port, or a hostname, of its own"}, c.nodes.Node(owner).Object, "spec", "listeners")
}

// refuseConflicting refuses those of the listeners of one port that conflict.
func refuseConflicting(ls []*listener) {
	if !canSharePort(ls) {
		refuseAll(ls, protocolConflict, true)
		return
	}
	byHostname := map[string][]*listener{}
	for _, l := range ls {
		byHostname[l.hostname] = append(byHostname[l.hostname], l)
	}
	for _, same := range byHostname {
		refuseAll(same, hostnameConflict, true)
	}
}

// canSharePort reports whether listeners of these protocols can share a port: those of one protocol
// that has hostnames, and HTTPS with TLS.
func canSharePort(ls []*listener) bool {
	if len(ls) < 2 {
		return true
	}
	return !slices.ContainsFunc(ls, func(l *listener) bool {
		return l.needsWholePort() ||
			l.protocolFamily() != ls[0].protocolFamily()
	})
}

// protocolFamily names the protocols that can share a port with that of the listener.
func (l *listener) protocolFamily() string {
	if l.protocol == "HTTPS" {
		return "TLS"
	}
	return l.protocol
}

// needsWholePort reports whether the protocol has no hostnames, so that no other listener can have
// its port.
func (l *listener) needsWholePort() bool { return l.protocol == "TCP" || l.protocol == "UDP" }

// refuseAll refuses listeners that conflict; one by itself does not.
func refuseAll(ls []*listener, reason string, settled bool) {
	if len(ls) < 2 {
		return
	}
	for _, l := range ls {
		others := model.Tally{Count: len(ls) - 1}
		for _, o := range ls[:min(len(ls), model.NamesShown+1)] {
			if o != l && len(others.Names) < model.NamesShown {
				others.Names = append(others.Names, o.nameFor(l))
			}
		}
		l.refuseFor(reason, others.String(), settled)
	}
}

// The reasons of conflicts (gatewayapi G29).
const (
	hostnameConflict = string(gatewayv1.ListenerReasonHostnameConflict)
	protocolConflict = string(gatewayv1.ListenerReasonProtocolConflict)
)

// refuseFor notes that the listener conflicts with others.
func (l *listener) refuseFor(reason, others string, settled bool) {
	what := "the same hostname on the same port"
	if reason == protocolConflict {
		what = "an incompatible protocol on the same port"
	}
	l.conflict = topology.Conflict{Reason: reason, Message: what + " as listener " + others, Settled: settled}
	l.acceptedReason = "listener " + l.ref.Section + " accepts the route, and takes no traffic: " + l.conflict.Message
}

// nameFor names the listener where another one is spoken of: by its name alone if one object holds
// both.
func (l *listener) nameFor(other *listener) string {
	if l.ref.WithoutSection() == other.ref.WithoutSection() {
		return l.ref.Section
	}
	return l.ref.Section + " of " + l.ref.WithoutSection().String()
}
