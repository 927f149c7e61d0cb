package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request/spelling"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// listUnattachedMisses returns the rules that match, of routes that a listener that answers does
// not take.
func (n nearMissFinder) listUnattachedMisses(answering []entryListener) []NearMiss {
	kind, host := n.kindAt(answering[0])
	var out []NearMiss
	parents := []topology.NodeID{n.answer.Gateway}
	for _, p := range answering { // which a ListenerSet may have
		for _, id := range n.matcher.graph.Parents(topology.Traffic, p.id) {
			if !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
	}
	var refused []refusedRoute
	for _, id := range parents {
		refused = append(refused, n.findRefusedRoutes()[id]...)
	}
	for _, u := range refused {
		route := n.matcher.graph.Node(u.route)
		here := u.listener == topology.None ||
			slices.ContainsFunc(answering, func(p entryListener) bool { return p.id == u.listener })
		if n.matcher.graph.RouteKind(u.route) != kind || !here || !isForAnyHostname(readHostnames(route), host) {
			continue
		}
		for _, rule := range n.matcher.graph.Children(topology.All, u.route) {
			holds := !hasMatches(kind)
			matches := n.matcher.readMatches(rule)
			for i := range matches {
				one, _ := n.settings.matchCandidate(&candidate{match: &matches[i]}, n.request)
				holds = holds || one == yes
			}
			if holds {
				out = append(out, NearMiss{Part: PartAttachment, Listener: answering[0].id, Rule: rule,
					Why: "is not attached: " + u.why})
				break
			}
		}
	}
	return out
}

// refusedRoute is a route that wants to be attached to a Gateway and is not, at a listener or at
// none.
type refusedRoute struct {
	route, listener topology.NodeID
	why             string
}

// findRefusedRoutes returns the refused routes by Gateway.
func (n nearMissFinder) findRefusedRoutes() map[topology.NodeID][]refusedRoute {
	m := n.matcher
	if m.refusedRoutes != nil {
		return m.refusedRoutes
	}
	m.refusedRoutes = map[topology.NodeID][]refusedRoute{}
	for _, route := range m.graph.Order(topology.All) {
		if m.graph.Node(route).Role != topology.Route {
			continue
		}
		for _, a := range m.graph.Attachments(route) {
			if a.State == topology.Accepted || a.State == topology.Unknown || a.Listener != topology.None &&
				m.isAttached(a.Listener, route) {
				continue
			}
			for _, gateway := range m.graph.Lookup(a.Parent.WithoutSection()) {
				m.refusedRoutes[gateway] = append(m.refusedRoutes[gateway], refusedRoute{route, a.Listener, a.Reason})
			}
		}
	}
	return m.refusedRoutes
}

// readHostnames returns the hostnames of a route.
func readHostnames(n *topology.Node) []string {
	if n.Object == nil {
		return nil
	}
	var out []string
	for _, h := range n.Object.Body.At("spec", "hostnames").Items {
		out = append(out, h.Text())
	}
	return out
}

// isForAnyHostname reports whether one of the hostnames is for a host, or there are none.
func isForAnyHostname(names []string, host string) bool {
	return len(names) == 0 || host == "" ||
		slices.ContainsFunc(names, func(h string) bool { return isForHost(h, host) })
}

// listListenerMisses returns the listeners that only the hostname, the port or the protocol keeps
// from taking the request; of those on another port the rule that would. It looks at all Gateways,
// or at the one that is asked about.
func (n nearMissFinder) listListenerMisses() []NearMiss {
	m, r, w := n.matcher, n.request, n.destination
	gateways := m.listGateways()
	if w.Gateway != topology.None {
		gateways = []topology.NodeID{w.Gateway}
	}
	var out []NearMiss
	for _, gateway := range gateways {
		for _, p := range m.listListeners(gateway) {
			if w.Listener != "" && m.graph.Node(p.id).Ref.Section != w.Listener || !p.facts.Accepted {
				continue
			}
			miss := NearMiss{Listener: p.id, Rule: topology.None}
			port, protocol := p.facts.Port == r.Port, slices.Contains(r.listenerProtocols(), p.facts.Protocol)
			host := len(filterByHost([]entryListener{p}, r.wantedName())) > 0
			switch {
			case port && protocol && !host && spelling.IsSimilarHost(p.facts.Hostname, r.wantedName()):
				miss.Part, miss.similarity = PartHost, spelling.CountSimilar(p.facts.Hostname, r.wantedName())
				miss.Why = "is for host " + p.facts.Hostname + "; the request has " + r.wantedName()
			case !port && protocol && host && p.facts.Port != 0:
				miss.Part, miss.Rule = PartPort, n.findRuleOnPort(gateway, w.Listener, p.facts.Port)
				miss.Why = fmt.Sprintf("is on port %d; the request goes to %d", p.facts.Port, r.Port)
				switch {
				case miss.Rule != topology.None:
					miss.similarity = 1
					miss.Why = fmt.Sprintf("takes it on port %d of %s; the request goes to %d", p.facts.Port,
						m.graph.Node(gateway).Ref, r.Port)
				case p.facts.Hostname == "": // it says nothing about this host
					continue
				}
			case port && !protocol && isForHost(p.facts.Hostname, r.wantedName()):
				miss.Part, miss.Why = PartProtocol, "speaks "+p.facts.Protocol+"; the request wants "+
					strings.Join(r.listenerProtocols(), " or ")
			default:
				continue
			}
			out = append(out, miss)
		}
	}
	return out
}

// findRuleOnPort returns the rule that takes the request at another port of a Gateway.
func (n nearMissFinder) findRuleOnPort(gateway topology.NodeID, listener string, port int32) topology.NodeID {
	r := *n.request
	r.Port = port
	other, err := n.matcher.traceRequest(&r, Destination{Gateway: gateway, Listener: listener}, n.settings)
	if err != nil {
		return topology.None
	}
	return other.answer.Rule
}
