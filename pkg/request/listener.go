package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// entryListener is a listener that a request may come to.
type entryListener struct {
	id    topology.NodeID
	facts topology.ListenerFacts
}

// listenerName names a listener for people, with what it is for.
func (m *Matcher) listenerName(p entryListener) string {
	n := m.graph.Node(p.id)
	s := "listener " + n.Ref.Section
	if n.Ref.Kind != "Gateway" {
		s += " of " + n.Ref.WithoutSection().String()
	}
	if p.facts.Hostname != "" {
		s += " (" + p.facts.Hostname + ")"
	}
	return s
}

// listenerProtocols returns the protocols of the listeners that take a request (gatewayapi G37).
// What comes over TLS may go to listeners that end it and to those that do not.
func (r *Request) listenerProtocols() []string {
	switch {
	case r.Protocol == TLS, r.Secure:
		return []string{"HTTPS", "TLS"}
	case r.Protocol == TCP:
		return []string{"TCP"}
	case r.Protocol == UDP:
		return []string{"UDP"}
	}
	return []string{"HTTP"}
}

// wantedName returns the name that chooses the listener: the server name of a TLS connection, else
// the host; "" where there are no names.
func (r *Request) wantedName() string {
	switch {
	case r.Protocol == TCP, r.Protocol == UDP:
		return ""
	case r.Protocol == TLS, r.Secure:
		return r.SNI
	}
	return r.Host
}

// isForHost reports whether a listener's hostname is for a host.
func isForHost(hostname, host string) bool {
	return hostname == "" || !isAddress(host) && gatewayapi.CoversHostname(hostname, host)
}

// rankHostname orders hostnames: exact ones, then wildcards, each with more labels first, then
// none.
func rankHostname(hostname string) int {
	labels := strings.Count(hostname, ".") + 1
	switch {
	case hostname == "":
		return 0
	case strings.HasPrefix(hostname, "*"):
		return labels
	}
	return 1<<16 + labels
}

// listListeners returns all listeners of a Gateway and of its ListenerSets.
func (m *Matcher) listListeners(gateway topology.NodeID) []entryListener {
	if known, ok := m.listenerCache[gateway]; ok {
		return known
	}
	var out []entryListener
	for _, id := range m.graph.Children(topology.Traffic, gateway) {
		switch m.graph.Node(id).Role {
		case topology.Listener:
			out = append(out, entryListener{id, m.graph.Listener(id)})
		case topology.ListenerSet:
			out = append(out, m.listListeners(id)...)
		}
	}
	m.listenerCache[gateway] = out
	return out
}

// portKey is a port of a Gateway or ListenerSet by which requests of one kind come in, to one
// listener if it has a name.
type portKey struct {
	gateway  topology.NodeID
	port     int32
	protocol Protocol
	secure   bool
	name     string
}

// portListeners holds the listeners of a port: those that are open, and those that are refused.
type portListeners struct{ open, refused []entryListener }

// listenersOnPort returns the listeners that a connection can come to: by port, protocol and, if
// the request names one, their own name. Those that are refused take no part (gatewayapi G37). The
// lists are not to be changed.
func (m *Matcher) listenersOnPort(r *Request, gateway topology.NodeID, name string) (open, refused []entryListener) {
	at := portKey{gateway, r.Port, r.Protocol, r.Secure, name}
	known, ok := m.portCache[at]
	if !ok {
		known = at.filterListeners(m, r)
		m.portCache[at] = known
	}
	return known.open, known.refused
}

// filterListeners returns the listeners of the port that take a request.
func (at portKey) filterListeners(m *Matcher, r *Request) portListeners {
	var out portListeners
	for _, p := range m.listListeners(at.gateway) {
		switch {
		case p.facts.Port != at.port, !slices.Contains(r.listenerProtocols(), p.facts.Protocol):
		case at.name != "" && m.graph.Node(p.id).Ref.Section != at.name:
		case !p.facts.Accepted:
			out.refused = append(out.refused, p)
		default:
			out.open = append(out.open, p)
		}
	}
	return out
}

// arrival holds the listeners that a connection may come to. Requests that follow each other often
// share it.
type arrival struct {
	portKey
	hostname string
	portListeners
	fitting []entryListener
	known   bool
}

// findListeners returns the listeners that a connection can come to, those that are refused, and of
// the first those that are for the wanted name. The lists are not to be changed.
func (a *arrival) findListeners(m *Matcher, r *Request, gateway topology.NodeID, name string) (open, refused,
	fit []entryListener) {
	at, wanted := portKey{gateway, r.Port, r.Protocol, r.Secure, name}, r.wantedName()
	if !a.known || a.portKey != at || a.hostname != wanted {
		*a = arrival{portKey: at, hostname: wanted, known: true}
		a.open, a.refused = m.listenersOnPort(r, gateway, name)
		a.fitting = filterByHost(a.open, wanted)
	}
	return a.open, a.refused, a.fitting
}

// undecidedListeners returns the fitting listeners of ListenerSets of which it is not known whether
// the Gateway takes them.
func (m *Matcher) undecidedListeners(r *Request, gateway topology.NodeID, name string) []entryListener {
	var out []entryListener
	for _, set := range m.graph.ListenerSetsOf(gateway) {
		if facts := m.graph.ListenerSet(set); facts.State == topology.SetUnknown &&
			!slices.Contains(m.graph.Children(topology.Traffic, gateway), set) {
			open, _ := m.listenersOnPort(r, set, name)
			out = append(out, filterByHost(open, r.wantedName())...)
		}
	}
	return out
}

// filterByHost returns the listeners that are for a host, the most specific first.
func filterByHost(open []entryListener, host string) []entryListener {
	var out []entryListener
	for _, p := range open {
		// where there are no names, a hostname means nothing
		if p.facts.Protocol == "TCP" || p.facts.Protocol == "UDP" || isForHost(p.facts.Hostname, host) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out,
		func(a, b entryListener) int { return rankHostname(b.facts.Hostname) - rankHostname(a.facts.Hostname) })
	return out
}

// AmbiguousError says that several Gateways could be meant.
type AmbiguousError struct{ Gateways []model.Ref }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d Gateways have a listener for this request", len(e.Gateways))
}

// listGateways returns the Gateways, by name.
func (m *Matcher) listGateways() []topology.NodeID {
	if m.gateways == nil {
		m.gateways = []topology.NodeID{}
		for _, id := range m.graph.Order(topology.Traffic) {
			if m.graph.Node(id).Role == topology.Gateway {
				m.gateways = append(m.gateways, id)
			}
		}
		slices.SortFunc(m.gateways, func(a, b topology.NodeID) int {
			return cmp.Compare(m.graph.Node(a).Ref.FullName(), m.graph.Node(b).Ref.FullName())
		})
	}
	return m.gateways
}

// findGateways returns the Gateways with a listener for a request, by name.
func (m *Matcher) findGateways(r *Request, listener string) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range m.listGateways() {
		if open, _ := m.listenersOnPort(r, id, listener); len(filterByHost(open, r.wantedName())) > 0 {
			out = append(out, id)
		}
	}
	return out
}

// checkMisdirected judges a request over TLS whose host is not the server name (gatewayapi G39): by
// the listener that the server name led to, and the one that the host would have led to. It returns
// "" if the request may go on, else the outcome and why.
func (m *Matcher) checkMisdirected(r *Request, chosen entryListener, open []entryListener) (Outcome, string) {
	if r.Host == r.SNI || r.Protocol == TLS || !r.Secure || chosen.facts.Protocol != "HTTPS" {
		return "", ""
	}
	own := filterByHost(open, r.Host)
	switch {
	case !isForHost(chosen.facts.Hostname, r.Host) && len(own) > 0:
		return Misdirected, fmt.Sprintf("the server name %s leads to %s, the host %s belongs to %s", r.SNI,
			m.listenerName(chosen), r.Host, m.listenerName(own[0]))
	case !isForHost(chosen.facts.Hostname, r.Host):
		return NoMatch, fmt.Sprintf("the server name %s leads to %s, and no listener on port %d is for host %s", r.SNI,
			m.listenerName(chosen), r.Port, r.Host)
	case len(own) > 0 && rankHostname(own[0].facts.Hostname) > rankHostname(chosen.facts.Hostname):
		return Misdirected, fmt.Sprintf("the server name %s leads to %s, but %s is more specific for host %s", r.SNI,
			m.listenerName(chosen), m.listenerName(own[0]), r.Host)
	}
	return "", ""
}

// explainNoListener says why no listener of a Gateway takes a request.
func (m *Matcher) explainNoListener(r *Request, gateway topology.NodeID, open, refused []entryListener) string {
	ref := m.graph.Node(gateway).Ref
	var names []string
	switch {
	case len(open) > 0:
		for _, p := range open {
			names = append(names, m.listenerName(p))
		}
		return fmt.Sprintf("no listener of %s on port %d is for %s; there is %s", ref, r.Port,
			cmp.Or(r.wantedName(), "this"), strings.Join(names, ", "))
	case len(refused) > 0:
		for _, p := range refused {
			names = append(names, m.listenerName(p)+": "+cmp.Or(p.facts.Conflict.Message, p.facts.Refused.Message))
		}
		return fmt.Sprintf("the listeners of %s on port %d are refused: %s", ref, r.Port, strings.Join(names, "; "))
	}
	for _, p := range m.listListeners(gateway) {
		names = append(names, fmt.Sprintf("%s (%s %d)", m.graph.Node(p.id).Ref.Section, p.facts.Protocol, p.facts.Port))
	}
	if names == nil {
		return fmt.Sprintf("%s has no listeners", ref)
	}
	return fmt.Sprintf("%s has no %s listener on port %d; it has %s", ref, strings.Join(r.listenerProtocols(), " or "),
		r.Port, strings.Join(names, ", "))
}
