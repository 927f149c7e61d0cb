package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// routeTable are listeners whose routes compete for the same requests.
type routeTable []entryListener

// findTable returns the listeners with which those that fit a request share their routes: one alone,
// unless the data plane serves several as one. The first is the most specific one for the host.
func (m *Matcher) findTable(r *Request, gateway topology.NodeID, name string, fitting []entryListener,
	s *matchSettings) routeTable {
	if r.Protocol != HTTP && r.Protocol != GRPC || len(fitting) > 0 && fitting[0].facts.Protocol == "TLS" {
		return fitting[:min(len(fitting), 1)]
	}
	var all []entryListener
	switch s.Listeners.Share {
	case routing.SharePort:
		all, _ = m.listenersOnPort(r, gateway, name)
	case routing.SharePlain:
		if r.Secure {
			return fitting[:min(len(fitting), 1)]
		}
		all, _ = m.listenersOnPort(r, gateway, name)
	case routing.ShareGateway:
		all = m.listOpenListeners(r, gateway, name)
	case routing.ShareClass:
		all = m.listOpenInClass(r, gateway, name)
	default:
		return fitting[:min(len(fitting), 1)]
	}
	return filterByHost(slices.DeleteFunc(slices.Clone(all), func(p entryListener) bool {
		return p.facts.Protocol == "TLS"
	}), r.Host)
}

// listOpenListeners returns the listeners of a Gateway that take requests as this one, whatever their
// ports are.
func (m *Matcher) listOpenListeners(r *Request, gateway topology.NodeID, name string) []entryListener {
	var out []entryListener
	for _, p := range m.listListeners(gateway) {
		if p.facts.Accepted && slices.Contains(r.listenerProtocols(), p.facts.Protocol) &&
			(name == "" || m.graph.Node(p.id).Ref.Section == name) {
			out = append(out, p)
		}
	}
	return out
}

// listOpenInClass returns the listeners that a connection can come to at a Gateway and at the others
// of its class.
func (m *Matcher) listOpenInClass(r *Request, gateway topology.NodeID, name string) []entryListener {
	var out []entryListener
	for _, other := range m.listGateways() {
		if other == gateway || m.isOfSameClass(other, gateway) {
			open, _ := m.listenersOnPort(r, other, name)
			out = append(out, open...)
		}
	}
	return out
}

func (m *Matcher) isOfSameClass(a, b topology.NodeID) bool {
	class := func(id topology.NodeID) string {
		if o := m.graph.Node(id).Object; o != nil {
			return o.Text("spec", "gatewayClassName")
		}
		return ""
	}
	return class(a) != "" && class(a) == class(b)
}

// gatewayOf returns the Gateway of a listener.
func (m *Matcher) gatewayOf(listener topology.NodeID) topology.NodeID {
	owner := m.graph.Listener(listener).Owner
	if m.graph.Node(owner).Role == topology.ListenerSet {
		return m.graph.ListenerSet(owner).Gateway
	}
	return owner
}

// isHostnameTaken reports whether the effective hostname of a candidate is dropped from its listener
// because it belongs to another one of the port.
func (m *Matcher) isHostnameTaken(c *candidate, s *matchSettings) bool {
	drop := s.Listeners.Drop
	if drop == routing.DropNone || s.Listeners.Named && !c.routeFacts.namesTheListener {
		return false
	}
	own := m.graph.Listener(c.place)
	secure := own.Protocol == "HTTPS"
	if own.Protocol != "HTTP" && !secure || secure && !s.Listeners.Secure {
		return false
	}
	r := Request{Protocol: HTTP, Secure: secure, Port: own.Port}
	others, _ := m.listenersOnPort(&r, m.gatewayOf(c.place), "")
	return slices.ContainsFunc(others, func(o entryListener) bool {
		switch {
		case o.id == c.place, o.facts.Hostname == "", s.Listeners.InObject && o.facts.Owner != own.Owner:
			return false
		case drop == routing.DropEqual:
			return o.facts.Hostname == c.host.Effective && own.Hostname != c.host.Effective
		}
		return rankHostname(o.facts.Hostname) > rankHostname(own.Hostname) &&
			gatewayapi.CoversHostname(o.facts.Hostname, c.host.Effective)
	})
}

// collectCandidates collects the matches of the routes in a table, best first.
func (t *trace) collectCandidates(table routeTable) {
	if len(table) == 0 {
		return
	}
	switch protocol := table[0].facts.Protocol; {
	case protocol == "TLS":
		t.collectFrom(table, []string{"TLSRoute"}, t.request.SNI)
		// where the implementation takes them there, they are for every name of the listener
		t.collectFrom(table, []string{"TCPRoute"}, "")
	case protocol == "TCP", protocol == "UDP":
		t.collectFrom(table, []string{protocol + "Route"}, "")
	case t.request.Protocol == TLS:
		return // the listener wants HTTP, of which nothing is known
	case t.settings.Kinds == routing.KindsTogether:
		t.collectFrom(table, []string{"HTTPRoute", "GRPCRoute"}, t.request.Host)
	case t.request.Protocol == GRPC:
		t.collectFrom(table, []string{findGRPCKind(t, table)}, t.request.Host)
	default:
		t.collectFrom(table, []string{"HTTPRoute"}, t.request.Host)
	}
	if t.settings.Commit {
		t.commitToPath()
	}
	t.sortCandidates()
}

// collectFrom collects the candidates of some kinds of routes for a host. Where the most specific
// hostname decides alone, those of wider ones are no candidates.
func (t *trace) collectFrom(table routeTable, kinds []string, host string) {
	closed := false
	eachHostname(host, func(name string) {
		if closed {
			return
		}
		for _, p := range table {
			for _, kind := range kinds {
				b := t.matcher.findIndex(p.id)[kind][name]
				if b == nil {
					continue
				}
				b.eachCandidate(t.request, t.settings, t.filterCandidates)
				if t.settings.Hosts == routing.ByRoute {
					t.ownAddresses = append(t.ownAddresses, t.matcher.findServed(b, t.settings))
				}
				if t.settings.Hosts == routing.Shadow && hasMatches(kind) {
					closed = closed || t.servesHostname(b, name)
				}
			}
		}
	})
	if closed {
		t.shadowing = true
	}
}

// servesHostname reports whether a hostname is one of a virtual host of its own: a route has it, and
// no other listener takes it. It notes if that depends on a route of which it is not known whether
// it is attached.
func (t *trace) servesHostname(b *bucket, name string) bool {
	served := t.matcher.findServed(b, t.settings)
	switch {
	case len(served.routes.List) == 0:
		return false
	case served.open == "":
		t.virtualHost = name
		return true
	case t.openHost == "":
		t.openHost = "a route for hostname " + chooseText(name == "", "*", name) + " may decide alone: " + served.open
	}
	return false
}

// commitToPath drops all candidates if none of the best path holds: that path is chosen whether the
// other conditions of its matches hold or not.
func (t *trace) commitToPath() {
	isOfPath := []routing.Criterion{routing.PathType, routing.PathLength, routing.PathText, routing.Service, routing.Call}
	compare := func(a, b *candidate) int {
		for _, c := range t.settings.matchCriteria(a) {
			if order := t.settings.compareBy(c, a, b); order != 0 && slices.Contains(isOfPath, c) {
				return order
			}
		}
		return strings.Compare(t.settings.pathText(a), t.settings.pathText(b))
	}
	var best *candidate
	for i := range t.onPath {
		if c := &t.onPath[i]; best == nil || compare(c, best) < 0 {
			best = c
		}
	}
	if best == nil {
		return
	}
	later := func(c candidate) bool { return compare(&c, best) > 0 }
	if slices.ContainsFunc(t.sure, func(c candidate) bool { return !later(c) }) || len(t.sure)+len(t.unsure) == 0 {
		return // the later ones come later anyway
	}
	t.sure, t.unsure = t.sure[:0], slices.DeleteFunc(t.unsure, later)
	t.committedTo = best.pathMatch(t.settings).formatText()
}
