package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// entryListener is a listener that a request may come to.
type entryListener struct {
	id    topology.NodeID
	facts topology.ListenerFacts
}

// name is the listener as people name it, with what it is for.
func (m *Matcher) name(p entryListener) string {
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

// protocols are those of the listeners that take a request (gatewayapi G37). What comes over TLS looks at both that end it and that do not.
func (r *Request) protocols() []string {
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

// wanted is the name that chooses the listener: the server name of a TLS connection, else the host; "" where there are no names.
func (r *Request) wanted() string {
	switch {
	case r.Protocol == TCP, r.Protocol == UDP:
		return ""
	case r.Protocol == TLS, r.Secure:
		return r.SNI
	}
	return r.Host
}

// takes reports whether a listener's hostname is for a host.
func takes(hostname, host string) bool {
	return hostname == "" || !isAddress(host) && topology.Covers(hostname, host)
}

// specificity orders hostnames: exact ones, then wildcards, each with more labels first, then none.
func specificity(hostname string) int {
	labels := strings.Count(hostname, ".") + 1
	switch {
	case hostname == "":
		return 0
	case strings.HasPrefix(hostname, "*"):
		return labels
	}
	return 1<<16 + labels
}

// listeners are all of a Gateway and of its ListenerSets.
func (m *Matcher) listeners(gateway topology.NodeID) []entryListener {
	if known, ok := m.held[gateway]; ok {
		return known
	}
	var out []entryListener
	for _, id := range m.graph.Children(topology.Traffic, gateway) {
		switch m.graph.Node(id).Role {
		case topology.Listener:
			out = append(out, entryListener{id, m.graph.Listener(id)})
		case topology.ListenerSet:
			out = append(out, m.listeners(id)...)
		}
	}
	m.held[gateway] = out
	return out
}

// door is a port of a Gateway or ListenerSet by which requests of one kind come in, to one listener if it has a name.
type door struct {
	gateway  topology.NodeID
	port     int32
	protocol Protocol
	secure   bool
	name     string
}

// behind are the listeners at a door: those that are open, and those that are refused.
type behind struct{ open, refused []entryListener }

// port are the listeners that a connection can come to: by port, protocol and, if the request names one, their own name. Those that are
// refused take no part (gatewayapi G37). The lists are not to be changed.
func (m *Matcher) port(r *Request, gateway topology.NodeID, name string) (open, refused []entryListener) {
	at := door{gateway, r.Port, r.Protocol, r.Secure, name}
	known, ok := m.doors[at]
	if !ok {
		known = at.listeners(m, r)
		m.doors[at] = known
	}
	return known.open, known.refused
}

// listeners are those at a door that take a request.
func (at door) listeners(m *Matcher, r *Request) behind {
	var out behind
	for _, p := range m.listeners(at.gateway) {
		switch {
		case p.facts.Port != at.port, !slices.Contains(r.protocols(), p.facts.Protocol):
		case at.name != "" && m.graph.Node(p.id).Ref.Section != at.name:
		case !p.facts.Accepted:
			out.refused = append(out.refused, p)
		default:
			out.open = append(out.open, p)
		}
	}
	return out
}

// arrival is which listeners a connection may come to. Many requests are asked about after each other that differ in what comes after it.
type arrival struct {
	door
	wanted string
	behind
	fit   []entryListener
	known bool
}

// at are the listeners that a connection can come to, those that are refused, and of the first those that are for the name that is wanted. The
// lists are not to be changed.
func (a *arrival) at(m *Matcher, r *Request, gateway topology.NodeID, name string) (open, refused, fit []entryListener) {
	at, wanted := door{gateway, r.Port, r.Protocol, r.Secure, name}, r.wanted()
	if !a.known || a.door != at || a.wanted != wanted {
		*a = arrival{door: at, wanted: wanted, known: true}
		a.open, a.refused = m.port(r, gateway, name)
		a.fit = fitting(a.open, wanted)
	}
	return a.open, a.refused, a.fit
}

// undecided are the fitting listeners of ListenerSets of which it is not known whether the Gateway takes them.
func (m *Matcher) undecided(r *Request, gateway topology.NodeID, name string) []entryListener {
	var out []entryListener
	for _, set := range m.graph.SetsOf(gateway) {
		if facts := m.graph.Set(set); facts.State == topology.SetUnknown && !slices.Contains(m.graph.Children(topology.Traffic, gateway), set) {
			open, _ := m.port(r, set, name)
			out = append(out, fitting(open, r.wanted())...)
		}
	}
	return out
}

// fitting are the listeners that are for a host, the most specific first.
func fitting(open []entryListener, host string) []entryListener {
	var out []entryListener
	for _, p := range open {
		if p.facts.Protocol == "TCP" || p.facts.Protocol == "UDP" || takes(p.facts.Hostname, host) { // where there are no names, a hostname means nothing
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b entryListener) int { return specificity(b.facts.Hostname) - specificity(a.facts.Hostname) })
	return out
}

// answering is the listener that answers of those that fit: the most specific one, or, of listeners that are served as one with others of
// their port, the most specific one with a route for the host.
func (m *Matcher) answering(r *Request, places []entryListener) []entryListener {
	for i, p := range places {
		if !m.graph.SharesPort(p.id) {
			break
		}
		if m.covered(p.id, r) {
			return places[i : i+1]
		}
	}
	return places[:1]
}

// AmbiguousError says that several Gateways could be meant.
type AmbiguousError struct{ Gateways []model.Ref }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d Gateways have a listener for this request", len(e.Gateways))
}

// all are the Gateways, by name.
func (m *Matcher) all() []topology.NodeID {
	if m.gates == nil {
		m.gates = []topology.NodeID{}
		for _, id := range m.graph.Order(topology.Traffic) {
			if m.graph.Node(id).Role == topology.Gateway {
				m.gates = append(m.gates, id)
			}
		}
		slices.SortFunc(m.gates, func(a, b topology.NodeID) int {
			return cmp.Compare(m.graph.Node(a).Ref.FullName(), m.graph.Node(b).Ref.FullName())
		})
	}
	return m.gates
}

// gateways are the Gateways with a listener for a request, by name.
func (m *Matcher) gateways(r *Request, listener string) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range m.all() {
		if open, _ := m.port(r, id, listener); len(fitting(open, r.wanted())) > 0 {
			out = append(out, id)
		}
	}
	return out
}

// misdirected judges a request over TLS whose host is not the server name (gatewayapi G39): by the listener that the server name led to, and
// the one that the host would have led to. It returns "" if the request may go on, else the outcome and why.
func (m *Matcher) misdirected(r *Request, chosen entryListener, open []entryListener) (Outcome, string) {
	if r.Host == r.SNI || r.Protocol == TLS || !r.Secure || chosen.facts.Protocol != "HTTPS" {
		return "", ""
	}
	own := fitting(open, r.Host)
	switch {
	case !takes(chosen.facts.Hostname, r.Host) && len(own) > 0:
		return Misdirected, fmt.Sprintf("the server name %s leads to %s, the host %s belongs to %s", r.SNI, m.name(chosen), r.Host, m.name(own[0]))
	case !takes(chosen.facts.Hostname, r.Host):
		return NoMatch, fmt.Sprintf("the server name %s leads to %s, and no listener on port %d is for host %s", r.SNI, m.name(chosen), r.Port, r.Host)
	case specificity(own[0].facts.Hostname) > specificity(chosen.facts.Hostname):
		return Misdirected, fmt.Sprintf("the server name %s leads to %s, but %s is more specific for host %s", r.SNI, m.name(chosen), m.name(own[0]), r.Host)
	}
	return "", ""
}

// nowhere says why no listener of a Gateway takes a request.
func (m *Matcher) nowhere(r *Request, gateway topology.NodeID, open, refused []entryListener) string {
	ref := m.graph.Node(gateway).Ref
	var names []string
	switch {
	case len(open) > 0:
		for _, p := range open {
			names = append(names, m.name(p))
		}
		return fmt.Sprintf("no listener of %s on port %d is for %s; there is %s", ref, r.Port, cmp.Or(r.wanted(), "this"), strings.Join(names, ", "))
	case len(refused) > 0:
		for _, p := range refused {
			names = append(names, m.name(p)+": "+cmp.Or(p.facts.Conflict.Message, p.facts.Refused.Message))
		}
		return fmt.Sprintf("the listeners of %s on port %d are refused: %s", ref, r.Port, strings.Join(names, "; "))
	}
	for _, p := range m.listeners(gateway) {
		names = append(names, fmt.Sprintf("%s (%s %d)", m.graph.Node(p.id).Ref.Section, p.facts.Protocol, p.facts.Port))
	}
	if names == nil {
		return fmt.Sprintf("%s has no listeners", ref)
	}
	return fmt.Sprintf("%s has no %s listener on port %d; it has %s", ref, strings.Join(r.protocols(), " or "), r.Port, strings.Join(names, ", "))
}
