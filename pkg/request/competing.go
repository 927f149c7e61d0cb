package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Entry is where HTTP requests come to a Gateway: a port, with TLS or without.
type Entry struct {
	Gateway topology.NodeID
	Port    int32
	Secure  bool
}

// Aspect is a part of a request that a rule may ask about.
type Aspect uint8

// The aspects. Of headers and query parameters each name is one of its own.
const (
	AspectPath Aspect = iota
	AspectMethod
	AspectHeader
	AspectQuery
	AspectService
	AspectCall
)

// Form is how a value is compared.
type Form uint8

// The forms. Prefix is that of paths, element by element.
const (
	Exact Form = iota
	Prefix
	Expression
)

// Test is what a match asks of one part of a request.
type Test struct {
	Of    Aspect
	Name  string // of a header, in lower case, or of a query parameter
	Form  Form
	Value string // of a Prefix without the slash at its end, which does not count
}

// Competitor is one match of a rule that competes for the requests to a host.
type Competitor struct {
	Rule  topology.NodeID
	Tests []Test // all have to hold; each part at most once
	Open  bool   // it is not known whether its route is attached
	Vague bool   // it has an expression of which it is not known how it is read, or where it ranks

	place int // of the listener, where several may answer: less specific ones come later
	nth   int // of the match in its rule
	of    *candidate
	at    topology.NodeID // the listener
	rank  rank
}

// Compare tells which of two comes first by what their specs say: less than 0 if c does. Where it is 0, the age and the name of the routes decide,
// and what they decide depends on all that are equal.
func (c *Competitor) Compare(o *Competitor) int {
	return cmp.Or(cmp.Compare(c.place, o.place), slices.Compare(o.rank[:], c.rank[:]))
}

// Competition tells what competes for requests, where a Matcher answers one of them.
type Competition struct{ *Matcher }

// Entries are where HTTP requests come to the Gateways, or to one of them, by the Gateways' names, then by port. With a name, only listeners of that
// name count.
func (m Competition) Entries(w Where) []Entry {
	var out []Entry
	for _, gateway := range m.all() {
		if w.Gateway != topology.None && w.Gateway != gateway {
			continue
		}
		first := len(out)
		for _, p := range m.mayListen(gateway) {
			e := Entry{Gateway: gateway, Port: p.facts.Port, Secure: p.facts.Protocol != "HTTP"}
			speaks := slices.Contains([]string{"HTTP", "HTTPS", "TLS"}, p.facts.Protocol)
			if speaks && p.facts.Accepted && (w.Listener == "" || m.graph.Node(p.id).Ref.Section == w.Listener) && !slices.Contains(out[first:], e) {
				out = append(out, e)
			}
		}
		slices.SortFunc(out[first:], func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Port, b.Port), strings.Compare(either(a.Secure, "s", ""), either(b.Secure, "s", "")))
		})
	}
	return out
}

// mayListen are the listeners of a Gateway, with those of the ListenerSets of which it is not known whether it takes them.
func (m Competition) mayListen(gateway topology.NodeID) []entryListener {
	out := slices.Clone(m.listeners(gateway))
	for _, set := range m.graph.SetsOf(gateway) {
		if m.graph.Set(set).State == topology.SetUnknown && !slices.Contains(m.graph.Children(topology.Traffic, gateway), set) {
			out = append(out, m.listeners(set)...)
		}
	}
	return out
}

// Unspoken are the listeners of the Gateways for which requests are not told apart: connections of which nothing is known, and protocols of
// implementations.
func (m Competition) Unspoken(w Where) []topology.NodeID {
	var out []topology.NodeID
	for _, gateway := range m.all() {
		for _, p := range m.mayListen(gateway) {
			if (w.Gateway == topology.None || w.Gateway == gateway) && p.facts.Accepted && !slices.Contains([]string{"HTTP", "HTTPS", "TLS"}, p.facts.Protocol) &&
				(w.Listener == "" || m.graph.Node(p.id).Ref.Section == w.Listener) {
				out = append(out, p.id)
			}
		}
	}
	return out
}

// Rules are the rules of the routes that are attached where HTTP requests come to the Gateways, or to one of them, by their names. With a name, only
// listeners of that name count.
func (m Competition) Rules(w Where) []topology.NodeID {
	seen := map[topology.NodeID]bool{}
	for _, gateway := range m.all() {
		if w.Gateway != topology.None && w.Gateway != gateway {
			continue
		}
		for _, p := range m.listeners(gateway) {
			speaks := slices.Contains([]string{"HTTP", "HTTPS", "TLS"}, p.facts.Protocol)
			if !speaks || !p.facts.Accepted || w.Listener != "" && m.graph.Node(p.id).Ref.Section != w.Listener {
				continue
			}
			for _, t := range m.at(p.id) {
				for _, b := range t {
					for _, c := range b.all() {
						seen[c.rule] = seen[c.rule] || c.open == ""
					}
				}
			}
		}
	}
	var out []topology.NodeID
	for rule, attached := range seen {
		if attached {
			out = append(out, rule)
		}
	}
	slices.SortFunc(out, func(a, b topology.NodeID) int { return m.graph.Node(a).Ref.Compare(m.graph.Node(b).Ref) })
	return out
}

// Names are the hostnames that tell hosts apart at an entry, exact ones and wildcards, sorted. Addresses are none: no hostname matches them.
func (m Competition) Names(e Entry) []string {
	seen := map[string]bool{}
	add := func(name string) {
		if name = strings.ToLower(name); name != "" && name != "*" && !isAddress(name) {
			seen[name] = true
		}
	}
	for _, p := range m.mayListen(e.Gateway) {
		if p.facts.Port != e.Port {
			continue
		}
		add(p.facts.Hostname)
		for _, t := range m.at(p.id) {
			for name, b := range t {
				add(name)
				for _, value := range b.hosts {
					add(value)
				}
			}
		}
	}
	for _, spots := range m.strangers {
		for _, s := range spots {
			for _, name := range s.Hosts {
				add(name)
			}
		}
	}
	out := make([]string, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// At is a request to a host that comes to an entry, without more.
func (e Entry) At(host string, protocol Protocol) Request {
	r := Request{Protocol: protocol, Secure: e.Secure, Address: host, Port: e.Port, Host: host, SNI: host, Method: "GET", Path: "/"}
	if protocol == GRPC {
		r.Method = "POST"
	}
	return r
}

// Competing are the matches that compete for the requests of a protocol, HTTP or GRPC, to a host, the best first. GRPC has none where only HTTPRoutes
// decide about it.
func (m Competition) Competing(e Entry, w Where, host string, protocol Protocol) []Competitor {
	r, s := e.At(host, protocol), readSwitches(m.settings)
	open, _ := m.port(&r, e.Gateway, w.Listener)
	places := fitting(open, r.wanted())
	if len(places) > 0 && !s.shared {
		places = m.answering(&r, places)
	}
	var out []Competitor
	calls := slices.ContainsFunc(places, func(p entryListener) bool { return m.at(p.id)["GRPCRoute"].covers(host) })
	for i, p := range places {
		kinds := []string{"HTTPRoute"}
		switch {
		case p.facts.Protocol == "TLS" && protocol == GRPC:
			continue
		case p.facts.Protocol == "TLS":
			kinds = []string{"TLSRoute", "TCPRoute"}
		case protocol == GRPC && !calls:
			return nil
		case protocol == GRPC && m.at(p.id)["GRPCRoute"].covers(host):
			kinds = []string{"GRPCRoute"}
		}
		for _, kind := range kinds {
			hostnames(either(kind == "TCPRoute", "", host), func(name string) {
				if b := m.at(p.id)[kind][name]; b != nil {
					all := b.all()
					for j := range all {
						c := &all[j]
						out = append(out, Competitor{Rule: c.rule, Tests: c.match.tests(), Open: c.open != "", Vague: s.vague(c.match), place: i, nth: c.nth, of: c, at: p.id, rank: s.rank(c)})
					}
				}
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Competitor) int {
		return cmp.Or(a.Compare(&b), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.nth, b.nth))
	})
	return out
}

// tests are what a match asks for, that of the path first.
func (m *match) tests() []Test {
	if m == nil {
		return nil
	}
	var out []Test
	add := func(of Aspect, v valueMatch) {
		if v.form != anything {
			how := Exact
			if v.form == expression {
				how = Expression
			}
			out = append(out, Test{of, v.name, how, v.value})
		}
	}
	switch {
	case m.grpc:
		add(AspectService, m.service)
		add(AspectCall, m.call)
	case m.path.form == prefix:
		if s := stem(m.path.value); s != "" {
			out = append(out, Test{Of: AspectPath, Form: Prefix, Value: s})
		}
	default:
		add(AspectPath, valueMatch{form: m.path.form, value: m.path.value})
	}
	if m.method != "" && !m.grpc {
		out = append(out, Test{Of: AspectMethod, Value: m.method})
	}
	for _, h := range m.headers {
		add(AspectHeader, h)
	}
	for _, q := range m.query {
		add(AspectQuery, q)
	}
	return out
}

// Unanchored reports whether expressions may match a part of a text.
func (m Competition) Unanchored() bool { return m.settings.Off(topology.RegexAnchored) }

// Take tells where a request goes, as Find does, without what it is compared to, what nearly takes it and which settings would matter.
func (m *Matcher) Take(r Request, w Where) (*Answer, error) {
	if m.switches == nil {
		s := readSwitches(m.settings)
		m.switches = &s
	}
	r.Text = r.text()
	t, err := m.trace(&r, w, m.switches)
	if err != nil {
		return nil, err
	}
	m.untidy(t, w)
	m.withheld(t.answer)
	t.beside()
	t.foreignListeners(w)
	a := t.answer
	a.Possible = t.possible()
	*t = trace{sure: t.sure[:0], unsure: t.unsure[:0]} // its memory is used again
	m.spare = t
	return a, nil
}

// HandsOver reports whether the rule of a match delegates to other routes, whose rules are not known to compete.
func (m Competition) HandsOver(c *Competitor) bool { return handsOver(m.graph, c.Rule) }

// MeshServices are the Services, and ports of Services, at which routes take requests in the mesh.
func (m Competition) MeshServices() []topology.NodeID {
	var out []topology.NodeID
	for _, id := range m.graph.Order(topology.All) {
		route := func(c topology.NodeID) bool { return m.graph.Node(c).Role == topology.Route }
		if m.graph.Node(id).Role == topology.Frontend && slices.ContainsFunc(m.graph.Children(topology.All, id), route) {
			out = append(out, id)
		}
	}
	return out
}
