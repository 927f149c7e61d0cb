package request

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// shadows finds the rules that no request can reach: at every place where their route is attached, for every hostname and every match,
// another rule with the same match comes first (gatewayapi G52). A rule that only several others together shadow is not found.
type shadows struct {
	m        *Matcher
	switches switches
	seed     maphash.Seed
	routes   []topology.NodeID           // that are attached somewhere
	position []int32                     // by node: where in routes it is, from 1; 0: it is not
	prints   [][]print                   // by position in routes
	slots    []int                       // likewise: the hostnames under which the route is attached, over all places
	lost     map[topology.NodeID]int     // by rule: the matches that come too late, over all slots
	fate     map[topology.NodeID]*shadow // of rules of which a match comes too late
}

// print stands for a match of a rule: equal matches have equal sums.
type print struct {
	rule topology.NodeID
	nth  int
	sum  uint64
	late bool // an earlier match of the same route is equal
}

// shadow is a match of a rule, and the one that comes first.
type shadow struct {
	own, by candidate
	how     criterion
	aged    bool // the order is by age, as far as age decides
}

// compare orders what can be said of one rule; what comes first is said.
func (f *shadow) compare(o *shadow) int {
	return cmp.Or(cmp.Compare(f.own.nth, o.own.nth), cmp.Compare(f.by.rule, o.by.rule), cmp.Compare(f.by.nth, o.by.nth),
		strings.Compare(f.own.host.Effective, o.own.host.Effective), cmp.Compare(f.how, o.how))
}

func (s *shadows) find() []model.Problem {
	g := s.m.graph
	s.readPrints()
	for i, route := range s.routes {
		s.within(route, s.prints[i])
	}
	for _, place := range g.Order(topology.All) {
		switch g.Node(place).Role {
		case topology.Listener, topology.Frontend:
			s.at(place)
		}
	}
	for i, prints := range s.prints {
		for _, p := range prints {
			if p.late {
				s.lost[p.rule] += s.slots[i]
			}
		}
	}
	var out []model.Problem
	for i, prints := range s.prints {
		if !slices.ContainsFunc(prints, func(p print) bool { return s.lost[p.rule] > 0 }) {
			continue
		}
		met := map[topology.NodeID]int{}
		for _, p := range prints {
			met[p.rule] += s.slots[i]
		}
		for rule, n := range met {
			if n > 0 && s.lost[rule] == n {
				out = append(out, s.problem(s.fate[rule]))
			}
		}
	}
	return out
}

// readPrints reads the matches of all routes, as many at a time as there are processors.
func (s *shadows) readPrints() {
	g := s.m.graph
	for _, id := range g.Order(topology.All) {
		if n := g.Node(id); n.Role == topology.Route && n.Hop == 0 && n.Object != nil && len(g.Parents(topology.All, id)) > 0 {
			s.routes = append(s.routes, id)
		}
	}
	s.position = make([]int32, g.Len())
	for i, id := range s.routes {
		s.position[id] = int32(i) + 1
	}
	s.prints, s.slots = make([][]print, len(s.routes)), make([]int, len(s.routes))
	model.SideBySide(len(s.routes), model.Few, func(i int) { s.prints[i] = s.printsOf(s.routes[i]) })
	s.lost, s.fate = map[topology.NodeID]int{}, map[topology.NodeID]*shadow{}
}

func (s *shadows) printsOf(route topology.NodeID) []print {
	g, kind := s.m.graph, s.m.graph.RouteKind(route)
	var out []print
	var text []byte
	for _, rule := range g.Children(topology.All, route) {
		if !hasMatches(kind) {
			text = append(text[:0], kind...)
			return append(out, print{rule: rule, sum: maphash.Bytes(s.seed, text)})
		}
		plain := compiler{textOnly: true}
		matches, _ := plain.rule(ruleBody(g.Node(rule)), kind == "GRPCRoute")
		for i := range matches {
			text = matches[i].appendKey(append(text[:0], kind...))
			out = append(out, print{rule: rule, nth: i, sum: maphash.Bytes(s.seed, text)})
		}
	}
	return out
}

// candidate is the candidate that a print stands for.
func (s *shadows) candidate(route topology.NodeID, p print, host topology.Hostname) candidate {
	g := s.m.graph
	c := candidate{route: route, rule: p.rule, object: g.Node(route).Object, index: g.Node(p.rule).Index, host: host, nth: p.nth}
	if hasMatches(g.RouteKind(route)) {
		plain := compiler{textOnly: true}
		matches, _ := plain.rule(ruleBody(g.Node(p.rule)), g.RouteKind(route) == "GRPCRoute")
		c.match = &matches[p.nth]
	}
	return c
}

// within marks the matches of a route that an earlier one of the same route is equal to.
func (s *shadows) within(route topology.NodeID, prints []print) {
	const few = 8
	if n := len(prints); n < 2 || n <= few && !anyEqual(prints) {
		return
	}
	first := make(map[uint64][]int, len(prints))
	for i, p := range prints {
		first[p.sum] = append(first[p.sum], i)
	}
	for _, equal := range first {
		if len(equal) < 2 {
			continue
		}
		var group []candidate
		at := map[[2]int]int{} // by rule and match
		for _, i := range equal {
			group = append(group, s.candidate(route, prints[i], topology.Hostname{}))
			at[[2]int{int(prints[i].rule), prints[i].nth}] = i
		}
		s.judge(group, func(c *candidate) { prints[at[[2]int{int(c.rule), c.nth}]].late = true })
	}
}

// anyEqual reports whether two of few matches are equal.
func anyEqual(prints []print) bool {
	for i, p := range prints {
		if slices.ContainsFunc(prints[:i], func(before print) bool { return before.sum == p.sum }) {
			return true
		}
	}
	return false
}

// member is a route at a place, by its position, with one of its hostnames there.
type member struct {
	route int
	host  topology.Hostname
}

// at looks for routes with the same hostname and equal matches at one place. Consumer routes of different namespaces never meet in the mesh.
func (s *shadows) at(place topology.NodeID) {
	g := s.m.graph
	type meeting struct{ kind, namespace, host string }
	members := map[meeting][]member{}
	for _, route := range g.Children(topology.All, place) {
		n, i := g.Node(route), int(s.position[route])-1
		if i < 0 || s.prints[i] == nil {
			continue
		}
		where := meeting{kind: g.RouteKind(route)}
		if g.Node(place).Role == topology.Frontend {
			where.namespace = n.Ref.Namespace
		}
		hosts, _ := s.m.hostnamesAt(place, route)
		s.slots[i] += len(hosts)
		for _, h := range hosts {
			where.host = h.Effective
			members[where] = append(members[where], member{i, h})
		}
	}
	for _, met := range members {
		if len(met) > 1 {
			s.compare(met)
		}
	}
}

// compare compares the routes of one hostname at one place.
func (s *shadows) compare(met []member) {
	equal := map[uint64][]candidate{}
	once := map[uint64]bool{}
	twice := map[uint64]bool{}
	for _, m := range met {
		for _, p := range s.prints[m.route] {
			if !p.late {
				twice[p.sum] = once[p.sum]
				once[p.sum] = true
			}
		}
	}
	for _, m := range met {
		for _, p := range s.prints[m.route] {
			if !p.late && twice[p.sum] {
				equal[p.sum] = append(equal[p.sum], s.candidate(s.routes[m.route], p, m.host))
			}
		}
	}
	for _, group := range equal {
		s.judge(group, func(c *candidate) { s.lost[c.rule]++ })
	}
}

// judge tells which of several candidates with one match come too late. One that delegates to other routes keeps nothing from the next: requests that
// none of their matches holds for may be left.
func (s *shadows) judge(group []candidate, late func(*candidate)) {
	byKey := map[string][]candidate{} // equal sums are all but always equal matches
	for _, c := range group {
		key := ""
		if c.match != nil {
			key = string(c.match.appendKey(nil))
		}
		byKey[key] = append(byKey[key], c)
	}
	for _, same := range byKey {
		s.switches.sort(same)
		same = same[max(0, slices.IndexFunc(same, func(c candidate) bool { return !handsOver(s.m.graph, c.rule) })):]
		if handsOver(s.m.graph, same[0].rule) { // all do: what the routes behind one leave is the next one's
			continue
		}
		aged := s.switches.aged(same)
		for i, how := range s.switches.whyFirst(same) {
			c := &same[i+1]
			late(c)
			if c.rule == same[0].rule {
				continue
			}
			f := &shadow{own: *c, by: same[0], how: how, aged: aged}
			if known := s.fate[c.rule]; known == nil || f.compare(known) < 0 {
				s.fate[c.rule] = f
			}
		}
	}
}

// appendKey appends a text that only equal matches share. A slash at the end of a prefix is no difference.
func (m *match) appendKey(b []byte) []byte {
	add := func(texts ...string) {
		for _, t := range texts {
			b = append(strconv.AppendInt(append(b, 0), int64(len(t)), 10), ':')
			b = append(b, t...)
		}
	}
	values := func(vs ...valueMatch) {
		b = append(b, 0xff)
		if len(vs) > 1 {
			vs = slices.SortedFunc(slices.Values(vs), func(x, y valueMatch) int { return strings.Compare(x.name, y.name) })
		}
		for _, v := range vs {
			b = append(b, byte(v.form))
			add(v.name, v.value)
		}
	}
	path := m.path.value
	if m.path.form == prefix {
		path = stem(path)
	}
	b = append(b, byte(m.path.form))
	add(path, m.method)
	values(m.service, m.call)
	values(m.headers...)
	values(m.query...)
	return b
}

func (s *shadows) problem(f *shadow) model.Problem {
	own, by := s.m.graph.Node(f.own.rule), s.m.graph.Node(f.by.rule)
	p := model.Problem{Severity: model.Warning, Code: model.RuleShadowed,
		Message: fmt.Sprintf("no request reaches it: %s has the same matches and comes first: %s", by.Ref, s.switches.beats(&f.by, &f.own, f.how)),
		Hint:    "remove the rule, or make its matches narrower"}.At(own.Object, "spec", "rules", strconv.Itoa(own.Index))
	if f.how == byName && !s.switches.ageless && !f.aged {
		p.Message = fmt.Sprintf("the younger of it and %s gets no request: they have the same matches; without creation times, the first by name wins here", by.Ref)
	}
	ref := own.Ref
	p.Ref = &ref
	return p
}
