package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
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
	Aspect Aspect
	Name   string // of a header, in lower case, or of a query parameter
	Form   Form
	Value  string // of a Prefix without the slash at its end, which does not count
	Text   string // of an Expression: as it is configured
}

// Competitor is one match of a rule that competes for the requests to a host.
type Competitor struct {
	Rule              topology.NodeID
	Tests             []Test // all have to hold; each part at most once
	AttachmentUnknown bool   // it is not known whether its route is attached
	ExpressionUnknown bool   // it has an expression of which it is not known how it is read, or where it ranks

	listenerRank int // of the listener, where several may answer: less specific ones come later
	matchIndex   int // of the match in its rule
	candidate    *candidate
	listener     topology.NodeID // the listener
	settings     *matchSettings
}

// Compare tells which of two competitors comes first by what their specs say: less than 0 if c
// does. Where it is 0, the age and the name of the routes decide, and their decision depends on all
// that are equal.
func (c *Competitor) Compare(o *Competitor) int {
	if c.listenerRank != o.listenerRank {
		return cmp.Compare(c.listenerRank, o.listenerRank)
	}
	order, _ := c.settings.compare(c.candidate, o.candidate)
	return order
}

// Competition tells which rules compete for requests, where a Matcher answers one request.
type Competition struct{ *Matcher }

// Entries returns where HTTP requests come to the Gateways, or to one of them, by the Gateways'
// names, then by port. With a listener's name, only listeners of that name count.
func (m Competition) Entries(w Destination) []Entry {
	var out []Entry
	for _, gateway := range m.listGateways() {
		if w.Gateway != topology.None && w.Gateway != gateway {
			continue
		}
		first := len(out)
		for _, p := range m.possibleListeners(gateway) {
			e := Entry{Gateway: gateway, Port: p.facts.Port, Secure: p.facts.Protocol != "HTTP"}
			speaks := slices.Contains([]string{"HTTP", "HTTPS", "TLS"}, p.facts.Protocol)
			if speaks && p.facts.Accepted && (w.Listener == "" || m.graph.Node(p.id).Ref.Section == w.Listener) &&
				!slices.Contains(out[first:], e) {
				out = append(out, e)
			}
		}
		slices.SortFunc(out[first:], func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Port, b.Port), strings.Compare(chooseText(a.Secure, "s", ""),
				chooseText(b.Secure, "s", "")))
		})
	}
	return out
}

// possibleListeners returns the listeners of a Gateway, with those of the ListenerSets of which it
// is not known whether it takes them.
func (m Competition) possibleListeners(gateway topology.NodeID) []entryListener {
	out := slices.Clone(m.listListeners(gateway))
	for _, set := range m.graph.ListenerSetsOf(gateway) {
		if m.graph.ListenerSet(set).State == topology.SetUnknown &&
			!slices.Contains(m.graph.Children(topology.Traffic, gateway), set) {
			out = append(out, m.listListeners(set)...)
		}
	}
	return out
}

// UnsupportedListeners returns the listeners of the Gateways for which requests are not told apart:
// connections of which nothing is known, and protocols of implementations.
func (m Competition) UnsupportedListeners(w Destination) []topology.NodeID {
	var out []topology.NodeID
	for _, gateway := range m.listGateways() {
		for _, p := range m.possibleListeners(gateway) {
			if (w.Gateway == topology.None || w.Gateway == gateway) && p.facts.Accepted &&
				!slices.Contains([]string{"HTTP", "HTTPS", "TLS"}, p.facts.Protocol) &&
				(w.Listener == "" || m.graph.Node(p.id).Ref.Section == w.Listener) {
				out = append(out, p.id)
			}
		}
	}
	return out
}

// Rules returns the rules of the routes that are attached where HTTP requests come to the Gateways,
// or to one of them, by their names. With a listener's name, only listeners of that name count.
func (m Competition) Rules(w Destination) []topology.NodeID {
	seen := map[topology.NodeID]bool{}
	for _, gateway := range m.listGateways() {
		if w.Gateway != topology.None && w.Gateway != gateway {
			continue
		}
		for _, p := range m.listListeners(gateway) {
			speaks := slices.Contains([]string{"HTTP", "HTTPS", "TLS"}, p.facts.Protocol)
			if !speaks || !p.facts.Accepted || w.Listener != "" && m.graph.Node(p.id).Ref.Section != w.Listener {
				continue
			}
			for _, t := range m.findIndex(p.id) {
				for _, b := range t {
					for _, c := range b.listCandidates() {
						seen[c.rule] = seen[c.rule] || c.openReason == ""
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

// Hostnames returns the hostnames that tell hosts apart at an entry, exact ones and wildcards,
// sorted. Addresses are left out, since no hostname matches them.
func (m Competition) Hostnames(e Entry) []string {
	seen := map[string]bool{}
	add := func(name string) {
		if name = strings.ToLower(name); name != "" && name != "*" && !isAddress(name) {
			seen[name] = true
		}
	}
	for _, p := range m.listSharingListeners(e) {
		add(p.facts.Hostname)
		for _, t := range m.findIndex(p.id) {
			for name, b := range t {
				add(name)
				for _, value := range b.hostHeaders {
					add(value)
				}
			}
		}
	}
	for _, spots := range m.unreadInputs {
		for _, s := range spots {
			for _, name := range s.Hostnames {
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

// listSharingListeners returns the listeners whose hostnames tell hosts apart at an entry: those of
// its port, and those that share their routes with them.
func (m Competition) listSharingListeners(e Entry) []entryListener {
	share := m.settingsAt(e.Gateway).Listeners.Share
	var out []entryListener
	for _, gateway := range m.listGateways() {
		if gateway != e.Gateway && (share != routing.ShareClass || !m.isOfSameClass(gateway, e.Gateway)) {
			continue
		}
		for _, p := range m.possibleListeners(gateway) {
			if p.facts.Port == e.Port || share == routing.ShareGateway {
				out = append(out, p)
			}
		}
	}
	return out
}

// NewRequest returns a plain request to a host that comes to the entry.
func (e Entry) NewRequest(host string, protocol Protocol) Request {
	r := Request{Protocol: protocol, Secure: e.Secure, Address: host, Port: e.Port, Host: host, SNI: host,
		Method: "GET", Path: "/"}
	if protocol == GRPC {
		r.Method = "POST"
	}
	return r
}

// Competitors returns the matches that compete for the requests of a protocol, HTTP or GRPC, to a
// host, the best first. GRPC has none where only HTTPRoutes decide.
func (m Competition) Competitors(e Entry, w Destination, host string, protocol Protocol) []Competitor {
	r, s := e.NewRequest(host, protocol), m.settingsAt(e.Gateway)
	var out []Competitor
	tables := m.findTables(&r, e.Gateway, w.Listener, s)
	hasCalls := func(table routeTable) bool {
		return slices.ContainsFunc(table,
			func(p entryListener) bool { return m.findIndex(p.id)["GRPCRoute"].hasHost(host) })
	}
	calls := slices.ContainsFunc(tables, hasCalls)
	for i, table := range tables {
		kinds := []string{"HTTPRoute"}
		switch {
		case table[0].facts.Protocol == "TLS" && protocol == GRPC:
			continue
		case table[0].facts.Protocol == "TLS":
			kinds = []string{"TLSRoute", "TCPRoute"}
		case s.Kinds == routing.KindsTogether:
			if protocol == GRPC {
				return nil // they are HTTP requests to the rules
			}
			kinds = []string{"HTTPRoute", "GRPCRoute"}
		case protocol == GRPC && !calls:
			return nil
		case protocol == GRPC && hasCalls(table):
			kinds = []string{"GRPCRoute"}
		}
		for _, kind := range kinds {
			for _, p := range table {
				eachHostname(chooseText(kind == "TCPRoute", "", host), func(name string) {
					if b := m.findIndex(p.id)[kind][name]; b != nil {
						out = m.addCompetitors(out, b.listCandidates(), s, i)
					}
				})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Competitor) int {
		return cmp.Or(a.Compare(&b), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.matchIndex, b.matchIndex))
	})
	return out
}

// findTables returns the tables that may answer the requests to a host, the first with a rule for a
// request does.
func (m Competition) findTables(r *Request, gateway topology.NodeID, listener string, s *matchSettings) []routeTable {
	open, _ := m.listenersOnPort(r, gateway, listener)
	fitting := filterByHost(open, r.wantedName())
	var out []routeTable
	if s.sharedListeners || m.mayDiffer(gateway) && (r.Protocol == HTTP || r.Protocol == GRPC) {
		for i := range fitting {
			out = append(out, fitting[i:i+1])
		}
		return out
	}
	if table := m.findTable(r, gateway, listener, fitting, s); len(open) > 0 && len(table) > 0 {
		out = append(out, table)
	}
	return out
}

// addCompetitors adds what candidates ask for. A prefix that is an exact path of its own is two
// competitors.
func (m Competition) addCompetitors(to []Competitor, candidates []candidate, s *matchSettings, rank int) []Competitor {
	for j := range candidates {
		c := &candidates[j]
		if m.isHostnameTaken(c, s) {
			continue
		}
		one := Competitor{Rule: c.rule, Tests: s.toTests(c), AttachmentUnknown: c.openReason != "",
			ExpressionUnknown: s.isUncertain(c.match), listenerRank: rank, matchIndex: c.matchIndex, candidate: c,
			listener: c.place, settings: s}
		to = append(to, one)
		if c.match == nil || s.Prefix != routing.OwnExact || c.match.path.form != prefix ||
			strings.HasSuffix(c.match.path.value, "/") {
			continue
		}
		itself := *c
		itself.isPathItself = true
		one.candidate, one.Tests = &itself, slices.Clone(one.Tests)
		one.Tests[0] = Test{Aspect: AspectPath, Form: Exact, Value: c.match.path.value}
		to = append(to, one)
	}
	return to
}

// FindRule tells where a request goes, as Find does, but without comparisons, near misses and the
// settings that would matter.
func (m *Matcher) FindRule(r Request, w Destination) (*Answer, error) {
	r.Text = r.formatText()
	t, err := m.traceRequest(&r, w, nil)
	if err != nil {
		return nil, err
	}
	m.checkNormalization(t, w)
	m.checkForbidden(t.answer)
	t.checkUnreadInputs()
	t.checkForeignListeners(w)
	a := t.answer
	a.Possible = t.listPossible()
	m.addDifferent(t, w)
	*t = trace{sure: t.sure[:0], unsure: t.unsure[:0]} // its memory is used again
	m.spareTrace = t
	return a, nil
}

// IsDelegating reports whether the rule of a match delegates to other routes, whose rules are not
// known to compete.
func (m Competition) IsDelegating(c *Competitor) bool { return isDelegating(m.graph, c.Rule) }

// MeshServices returns the Services, and ports of Services, at which routes take requests in the
// mesh.
func (m Competition) MeshServices() []topology.NodeID {
	var out []topology.NodeID
	for _, id := range m.graph.Order(topology.All) {
		route := func(c topology.NodeID) bool { return m.graph.Node(c).Role == topology.Route }
		if m.graph.Node(id).Role == topology.Frontend &&
			slices.ContainsFunc(m.graph.Children(topology.All, id), route) {
			out = append(out, id)
		}
	}
	return out
}
