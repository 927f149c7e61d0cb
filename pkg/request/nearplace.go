package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// unattached are the rules that match, of routes that a listener that answers does not take.
func (n nearby) unattached(answering []entryListener) []NearMiss {
	kind, host := n.kindAt(answering[0])
	var out []NearMiss
	parents := []topology.NodeID{n.answer.Gateway}
	for _, p := range answering { // which a ListenerSet may have
		for _, id := range n.m.graph.Parents(topology.Traffic, p.id) {
			if !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
	}
	var refused []refusal
	for _, id := range parents {
		refused = append(refused, n.refused()[id]...)
	}
	for _, u := range refused {
		route := n.m.graph.Node(u.route)
		here := u.listener == topology.None || slices.ContainsFunc(answering, func(p entryListener) bool { return p.id == u.listener })
		if n.m.graph.RouteKind(u.route) != kind || !here || !forOne(hostsOf(route), host) {
			continue
		}
		for _, rule := range n.m.graph.Children(topology.All, u.route) {
			holds := !hasMatches(kind)
			for _, m := range n.m.matches(rule) {
				holds = holds || m.holds(n.r, !n.switches.loose) == yes
			}
			if holds {
				out = append(out, NearMiss{Part: OfAttachment, Listener: answering[0].id, Rule: rule, Why: "is not attached: " + u.why})
				break
			}
		}
	}
	return out
}

// refusal is a route that wants to be attached to a Gateway and is not, at a listener or at none.
type refusal struct {
	route, listener topology.NodeID
	why             string
}

// refused are the refused routes by Gateway.
func (n nearby) refused() map[topology.NodeID][]refusal {
	m := n.m
	if m.refused != nil {
		return m.refused
	}
	m.refused = map[topology.NodeID][]refusal{}
	for _, route := range m.graph.Order(topology.All) {
		if m.graph.Node(route).Role != topology.Route {
			continue
		}
		for _, a := range m.graph.Attachments(route) {
			if a.State == topology.Accepted || a.State == topology.Unknown || a.Listener != topology.None && m.below(a.Listener, route) {
				continue
			}
			for _, gateway := range m.graph.Lookup(a.Parent.WithoutSection()) {
				m.refused[gateway] = append(m.refused[gateway], refusal{route, a.Listener, a.Reason})
			}
		}
	}
	return m.refused
}

// hostsOf are the hostnames of a route.
func hostsOf(n *topology.Node) []string {
	if n.Object == nil {
		return nil
	}
	var out []string
	for _, h := range n.Object.Body.At("spec", "hostnames").Items {
		out = append(out, h.Text())
	}
	return out
}

// forOne reports whether one of the hostnames, or none being given, is for a host.
func forOne(names []string, host string) bool {
	return len(names) == 0 || host == "" || slices.ContainsFunc(names, func(h string) bool { return takes(h, host) })
}

// listeners are the listeners that only the hostname, the port or the protocol keeps from taking the request; of those on another port
// the rule that would. Gateways are all, or the one that is asked about.
func (n nearby) listeners() []NearMiss {
	m, r, w := n.m, n.r, n.where
	gateways := m.all()
	if w.Gateway != topology.None {
		gateways = []topology.NodeID{w.Gateway}
	}
	var out []NearMiss
	for _, gateway := range gateways {
		for _, p := range m.listeners(gateway) {
			if w.Listener != "" && m.graph.Node(p.id).Ref.Section != w.Listener || !p.facts.Accepted {
				continue
			}
			miss := NearMiss{Listener: p.id, Rule: topology.None}
			port, protocol := p.facts.Port == r.Port, slices.Contains(r.protocols(), p.facts.Protocol)
			host := len(fitting([]entryListener{p}, r.wanted())) > 0
			switch {
			case port && protocol && !host && alikeHosts(p.facts.Hostname, r.wanted()):
				miss.Part, miss.alike = OfHost, likeness(p.facts.Hostname, r.wanted())
				miss.Why = "is for host " + p.facts.Hostname + "; the request has " + r.wanted()
			case !port && protocol && host && p.facts.Port != 0:
				miss.Part, miss.Rule = OfPort, n.ruleAt(gateway, w.Listener, p.facts.Port)
				miss.Why = fmt.Sprintf("is on port %d; the request goes to %d", p.facts.Port, r.Port)
				switch {
				case miss.Rule != topology.None:
					miss.alike = 1
					miss.Why = fmt.Sprintf("takes it on port %d of %s; the request goes to %d", p.facts.Port, m.graph.Node(gateway).Ref, r.Port)
				case p.facts.Hostname == "": // it says nothing about this host
					continue
				}
			case port && !protocol && takes(p.facts.Hostname, r.wanted()):
				miss.Part, miss.Why = OfProtocol, "speaks "+p.facts.Protocol+"; the request wants "+strings.Join(r.protocols(), " or ")
			default:
				continue
			}
			out = append(out, miss)
		}
	}
	return out
}

// ruleAt is the rule that takes the request at another port of a Gateway.
func (n nearby) ruleAt(gateway topology.NodeID, listener string, port int32) topology.NodeID {
	r := *n.r
	r.Port = port
	other, err := n.m.trace(&r, Where{Gateway: gateway, Listener: listener}, n.switches)
	if err != nil {
		return topology.None
	}
	return other.answer.Rule
}
