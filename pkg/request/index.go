package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// index finds the candidates of one place where routes are attached, a listener or a Service in the
// mesh, without looking at all of them: by kind of route, then by hostname, then by path.
type index map[string]hostTable

// hostTable holds the candidates of one kind of route, by effective hostname; "" is every host.
type hostTable map[string]*bucket

// bucket are the candidates of one hostname. Those with a path stand under it, prefixes under their
// stem.
type bucket struct {
	exact, prefix map[string][]candidate
	rest          []candidate
	patterns      []candidate // exact paths with * or ?, which are among exact as well
	hostHeaders   []string    // that matches ask for in a header Host, one after the other
}

func (t hostTable) add(c candidate) {
	b := t[c.host.Effective]
	if b == nil {
		b = &bucket{exact: map[string][]candidate{}, prefix: map[string][]candidate{}}
		t[c.host.Effective] = b
	}
	if c.match != nil {
		for _, h := range c.match.headers {
			if h.name == "host" && h.form == exact {
				b.hostHeaders = append(b.hostHeaders, h.value)
			}
		}
	}
	switch {
	case c.match != nil && !c.match.grpc && c.match.path.form == exact:
		b.exact[c.match.path.value] = append(b.exact[c.match.path.value], c)
		if c.match.path.glob != nil {
			b.patterns = append(b.patterns, c)
		}
	case c.match != nil && !c.match.grpc && c.match.path.form == prefix:
		key := trimSlash(c.match.path.value)
		b.prefix[key] = append(b.prefix[key], c)
	default:
		b.rest = append(b.rest, c)
	}
}

// eachHostname calls see for every hostname that covers a host: itself, the wildcards above it, and
// none at all.
func eachHostname(host string, see func(string)) {
	if host != "" && !isAddress(host) {
		see(host)
		for at := strings.IndexByte(host, '.'); at >= 0; {
			see("*" + host[at:])
			next := strings.IndexByte(host[at+1:], '.')
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	see("")
}

// hasHost reports whether a route of the table takes requests for the host, whatever its rules say.
func (t hostTable) hasHost(host string) bool {
	found := false
	eachHostname(host, func(h string) { found = found || t[h] != nil })
	return found
}

// hasRouteForHost reports whether a route of a kind that may take the request is for its host.
func (m *Matcher) hasRouteForHost(place topology.NodeID, r *Request) bool {
	host := r.Host
	if r.Protocol == TLS {
		host = r.SNI
	}
	return slices.ContainsFunc(r.routeKinds(), func(kind string) bool { return m.findIndex(place)[kind].hasHost(host) })
}

// eachCandidate calls see with the candidates of a hostname that may hold for a request, as far as
// the path tells.
func (b *bucket) eachCandidate(r *Request, s *matchSettings, see func([]candidate)) {
	see(b.rest)
	see(b.exact[r.Path])
	if s.Prefix == routing.PatternExact {
		see(b.patterns)
	}
	if len(b.prefix) == 0 {
		return
	}
	see(b.prefix[""])
	for at := 1; at <= len(r.Path); at++ {
		if at == len(r.Path) || r.Path[at] == '/' || s.Prefix == routing.ByCharacters {
			see(b.prefix[r.Path[:at]])
		}
	}
}

// Matcher answers requests over one graph. It keeps what it has read of routes, so that many
// requests cost little more than one. It is not safe for concurrent use.
type Matcher struct {
	graph         *topology.Graph
	settings      model.Settings
	indexes       map[topology.NodeID]index
	compiled      map[topology.NodeID][]match // by rule
	compiler      compiler
	listenerCache map[topology.NodeID][]entryListener // listeners by Gateway or ListenerSet
	portCache     map[portKey]portListeners           // those of a port
	gateways      []topology.NodeID                   // the Gateways, by name; nil: not looked for yet
	// routes by the listener at which their attachment is not known; nil: not looked for yet
	uncertainRoutes map[topology.NodeID][]topology.NodeID
	// routes that are not attached, by Gateway; nil: not looked for yet
	refusedRoutes  map[topology.NodeID][]refusedRoute
	problems       []model.Problem
	absentGateways []absentGateway                                        // nil: not looked for yet
	normalization  func(listener topology.NodeID) (normalize.Rules, bool) // nil: not known for any

	// objects that take requests and are not read, by the node that they are attached to
	unreadInputs map[topology.NodeID][]*unread.Input

	hasExpressions bool // some match that was read has a regular expression

	profiles          Profiles
	settingsByGateway map[topology.NodeID]*matchSettings
	refusals          map[portKey][]refusal
	settingsByProfile map[*routing.Profile]*matchSettings
	served            map[servedKey]servedHost
	spareTrace        *trace  // kept to use its memory again
	lastArrival       arrival // the last one
}

// NewMatcher is a Matcher over a graph, with the settings that the graph was built with.
func NewMatcher(g *topology.Graph, s model.Settings) *Matcher {
	return &Matcher{graph: g, settings: s, indexes: map[topology.NodeID]index{},
		compiled:      map[topology.NodeID][]match{},
		listenerCache: map[topology.NodeID][]entryListener{}, portCache: map[portKey]portListeners{},
		settingsByGateway: map[topology.NodeID]*matchSettings{},
		settingsByProfile: map[*routing.Profile]*matchSettings{}, served: map[servedKey]servedHost{}, refusals: map[portKey][]refusal{}}
}

// findIndex returns the index of a listener or of a Service in the mesh.
func (m *Matcher) findIndex(place topology.NodeID) index {
	if known, ok := m.indexes[place]; ok {
		return known
	}
	out := index{}
	for _, route := range slices.Concat(m.graph.Children(topology.All, place), m.findUncertainRoutes()[place]) {
		if m.graph.Node(route).Role == topology.Route {
			m.addRoute(out, place, route)
		}
	}
	m.indexes[place] = out
	return out
}

// findUncertainRoutes returns the routes of which it is not known whether they are attached, by
// listener.
func (m *Matcher) findUncertainRoutes() map[topology.NodeID][]topology.NodeID {
	if m.uncertainRoutes != nil {
		return m.uncertainRoutes
	}
	m.uncertainRoutes = map[topology.NodeID][]topology.NodeID{}
	for _, route := range m.graph.Order(topology.All) {
		for _, a := range m.graph.Attachments(route) {
			known := a.State != topology.Unknown || a.Listener == topology.None || m.isAttached(a.Listener, route)
			if !known && !slices.Contains(m.uncertainRoutes[a.Listener], route) {
				m.uncertainRoutes[a.Listener] = append(m.uncertainRoutes[a.Listener], route)
			}
		}
	}
	return m.uncertainRoutes
}

// addRoute adds the candidates of a route at one place.
func (m *Matcher) addRoute(to index, place, route topology.NodeID) {
	n, kind := m.graph.Node(route), m.graph.RouteKind(route)
	t := to[kind]
	if t == nil {
		t = hostTable{}
		to[kind] = t
	}
	hosts, open := m.hostnamesAt(place, route)
	facts := m.readRouteFacts(place, route, hosts)
	for _, rule := range m.graph.Children(topology.All, route) {
		c := candidate{place: place, route: route, rule: rule, object: n.Object, index: m.graph.Node(rule).Index,
			routeFacts: facts, openReason: open}
		matches := m.readMatches(rule)
		for _, host := range hosts {
			c.host = host
			if !hasMatches(kind) {
				t.add(c)
				continue
			}
			for i := range matches {
				c.match, c.matchIndex = &matches[i], i
				t.add(c)
			}
		}
		if !hasMatches(kind) {
			break // such routes have one rule
		}
	}
}

// readRouteFacts counts what some data planes count of a route at a place.
func (m *Matcher) readRouteFacts(place, route topology.NodeID, hosts []gatewayapi.Hostname) *routeFacts {
	out := &routeFacts{rules: len(m.graph.Children(topology.All, route))}
	for _, h := range hosts {
		out.longest = max(out.longest, len(h.Effective))
		if !strings.HasPrefix(h.Effective, "*") {
			out.longestExact = max(out.longestExact, len(h.Effective))
		}
	}
	out.namesTheListener = !slices.ContainsFunc(m.graph.Attachments(route), func(a topology.Attachment) bool {
		return a.Listener == place && a.Parent.Section == ""
	})
	return out
}

func hasMatches(kind string) bool { return kind == "HTTPRoute" || kind == "GRPCRoute" }

// hostnamesAt returns the hostnames under which a route is attached to a place, each once, and why
// that is not known.
func (m *Matcher) hostnamesAt(place, route topology.NodeID) (hosts []gatewayapi.Hostname, open string) {
	var found model.Set[gatewayapi.Hostname]
	kind := m.graph.RouteKind(route)
	everything := m.graph.Node(place).Role != topology.Listener || kind == "TCPRoute" || kind == "UDPRoute"
	for _, a := range m.graph.Attachments(route) {
		if a.Listener != place || everything {
			continue
		}
		names := a.Hostnames
		switch {
		case a.State == topology.Unknown && !m.isAttached(place, route):
			open, names = a.Reason, m.graph.HostnamesAt(route, place)
		case a.State != topology.Accepted && (a.State != topology.Unknown || len(names) == 0):
			continue
		}
		found.Add(names...)
	}
	if everything {
		return []gatewayapi.Hostname{{}}, open
	}
	return found.List, open
}

// readMatches returns the matches of a rule.
func (m *Matcher) readMatches(rule topology.NodeID) []match {
	if known, ok := m.compiled[rule]; ok {
		return known
	}
	n, kind := m.graph.Node(rule), m.graph.RouteKind(rule)
	if n.Object == nil || !hasMatches(kind) {
		return nil
	}
	body := ruleBody(n)
	out, faults := m.compiler.compileRule(body, kind == "GRPCRoute")
	for _, f := range faults {
		m.problems = append(m.problems, matchProblem(n, f))
	}
	m.hasExpressions = m.hasExpressions || slices.ContainsFunc(out, func(m match) bool { return m.hasExpression() })
	m.compiled[rule] = out
	return out
}

// isAttached reports whether a route is attached to a place.
func (m *Matcher) isAttached(place, route topology.NodeID) bool {
	_, found := slices.BinarySearch(m.graph.Children(topology.All, place), route)
	return found
}
