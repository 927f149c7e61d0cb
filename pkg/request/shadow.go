package request

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// shadowFinder finds the rules that no request can reach: at every place where their route is
// attached, for every hostname and every match, another rule with the same match, or without
// conditions and for a wider path, comes first (gatewayapi G52, R26). A rule that only several others
// together shadow is not found.
type shadowFinder struct {
	matcher  *Matcher
	place    topology.NodeID // that is looked at
	settings *matchSettings  // of it
	seed     maphash.Seed
	routes   []topology.NodeID // that are attached somewhere
	position []int32           // by node: where in routes it is, from 1; 0: it is not
	sums     [][]matchSum      // by position in routes
	// likewise, for data planes that do not look at some conditions, by which these are
	otherSums map[string]map[int][]matchSum
	// likewise: the hostnames under which the route is attached, over all places
	hostCounts  []int
	lateMatches map[topology.NodeID]int     // by rule: the matches that come too late, over all slots
	lateHere    map[lateMatch]bool          // those of the place and the hostname that are looked at
	shadows     map[topology.NodeID]*shadow // of rules of which a match comes too late
}

// matchSum stands for a match of a rule: equal matches have equal sums.
type matchSum struct {
	rule       topology.NodeID
	matchIndex int
	sum        uint64
	form       form // of the path of an HTTPRoute's match
	late       bool // an earlier match of the same route is equal
}

// shadow is a match of a rule, and the one that comes first.
type shadow struct {
	own, by   candidate
	criterion routing.Criterion
	settings  *matchSettings
	byAge     bool  // the order is by age, as far as age decides
	wider     reach // of one that is not equal: how much of the match it takes
}

// lateMatch is a match of a rule that comes too late, under a hostname of its route.
type lateMatch struct {
	rule       topology.NodeID
	matchIndex int
	configured string
}

// compare orders what can be said of one rule. What comes first is said.
func (s *shadow) compare(o *shadow) int {
	below := func(of *shadow) string { return chooseText(of.wider == reachBelow, "", "no") }
	return cmp.Or(strings.Compare(below(s), below(o)), cmp.Compare(s.own.matchIndex, o.own.matchIndex),
		cmp.Compare(s.by.rule, o.by.rule), cmp.Compare(s.by.matchIndex, o.by.matchIndex),
		strings.Compare(s.own.host.Effective, o.own.host.Effective),
		strings.Compare(string(s.criterion), string(o.criterion)))
}

func (s *shadowFinder) findProblems() []model.Problem {
	g := s.matcher.graph
	s.readSums()
	for i, route := range s.routes {
		s.markRepeated(route, s.sums[i])
	}
	for _, place := range g.Order(topology.All) {
		switch g.Node(place).Role {
		case topology.Listener:
			s.settings = s.matcher.settingsAt(s.matcher.gatewayOf(place))
			s.compareAt(place)
		case topology.Frontend:
			s.settings = s.matcher.settingsInMesh(g.Node(place).Ref.WithoutSection())
			s.compareAt(place)
		}
	}
	for i, prints := range s.sums {
		for _, p := range prints {
			if p.late {
				s.lateMatches[p.rule] += s.hostCounts[i]
			}
		}
	}
	var out []model.Problem
	for i, prints := range s.sums {
		if !slices.ContainsFunc(prints, func(p matchSum) bool { return s.lateMatches[p.rule] > 0 }) {
			continue
		}
		met := map[topology.NodeID]int{}
		for _, p := range prints {
			met[p.rule] += s.hostCounts[i]
		}
		for rule, n := range met {
			if n > 0 && s.lateMatches[rule] == n {
				out = append(out, s.buildProblem(s.shadows[rule]))
			}
		}
	}
	return out
}

// readSums reads the matches of all routes, as many at a time as there are processors.
func (s *shadowFinder) readSums() {
	g := s.matcher.graph
	for _, id := range g.Order(topology.All) {
		if n := g.Node(id); n.Role == topology.Route && n.Hop == 0 && n.Object != nil &&
			len(g.Parents(topology.All, id)) > 0 {
			s.routes = append(s.routes, id)
		}
	}
	s.position = make([]int32, g.Len())
	for i, id := range s.routes {
		s.position[id] = int32(i) + 1
	}
	s.sums, s.hostCounts = make([][]matchSum, len(s.routes)), make([]int, len(s.routes))
	model.Parallel(len(s.routes), model.SmallBatch, func(i int) { s.sums[i] = s.sumMatches(s.routes[i], s.settings) })
	s.lateMatches, s.shadows = map[topology.NodeID]int{}, map[topology.NodeID]*shadow{}
	s.otherSums, s.lateHere = map[string]map[int][]matchSum{}, map[lateMatch]bool{}
}

func (s *shadowFinder) sumMatches(route topology.NodeID, settings *matchSettings) []matchSum {
	g, kind := s.matcher.graph, s.matcher.graph.RouteKind(route)
	var out []matchSum
	var text []byte
	for _, rule := range g.Children(topology.All, route) {
		if !hasMatches(kind) {
			text = append(text[:0], kind...)
			return append(out, matchSum{rule: rule, sum: maphash.Bytes(s.seed, text)})
		}
		plain := compiler{textOnly: true}
		matches, _ := plain.compileRule(ruleBody(g.Node(rule)), kind == "GRPCRoute")
		for i := range matches {
			text = settings.readMatch(&matches[i]).appendKey(append(text[:0], kind...))
			p := matchSum{rule: rule, matchIndex: i, sum: maphash.Bytes(s.seed, text)}
			if kind == "HTTPRoute" {
				p.form = matches[i].path.form
			}
			out = append(out, p)
		}
	}
	return out
}

// buildCandidate returns the candidate that a sum stands for.
func (s *shadowFinder) buildCandidate(route topology.NodeID, p matchSum, at attachedRoute) candidate {
	g := s.matcher.graph
	c := candidate{place: s.place, routeFacts: at.facts, route: route, rule: p.rule, object: g.Node(route).Object,
		index: g.Node(p.rule).Index, host: at.host, matchIndex: p.matchIndex}
	if hasMatches(g.RouteKind(route)) {
		plain := compiler{textOnly: true}
		matches, _ := plain.compileRule(ruleBody(g.Node(p.rule)), g.RouteKind(route) == "GRPCRoute")
		c.match = &matches[p.matchIndex]
	}
	return c
}

// markRepeated marks the matches of a route that an earlier one of the same route is equal to.
func (s *shadowFinder) markRepeated(route topology.NodeID, prints []matchSum) {
	const few = 8
	if n := len(prints); n < 2 || n <= few && !hasEqual(prints) {
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
			group = append(group, s.buildCandidate(route, prints[i], attachedRoute{facts: &routeFacts{}}))
			at[[2]int{int(prints[i].rule), prints[i].matchIndex}] = i
		}
		s.judgeGroup(group, func(c *candidate) { prints[at[[2]int{int(c.rule), c.matchIndex}]].late = true })
	}
}

// hasEqual reports whether two of few matches are equal.
func hasEqual(prints []matchSum) bool {
	for i, p := range prints {
		if slices.ContainsFunc(prints[:i], func(before matchSum) bool { return before.sum == p.sum }) {
			return true
		}
	}
	return false
}

// attachedRoute is a route at a place, by its position, with one of its hostnames there.
type attachedRoute struct {
	route int
	host  gatewayapi.Hostname
	facts *routeFacts
}

// compareAt looks for routes with the same hostname and equal matches at one place. Consumer routes
// of different namespaces never meet in the mesh.
func (s *shadowFinder) compareAt(place topology.NodeID) {
	s.place = place
	g := s.matcher.graph
	type meeting struct{ kind, namespace, host string }
	members := map[meeting][]attachedRoute{}
	for _, route := range g.Children(topology.All, place) {
		n, i := g.Node(route), int(s.position[route])-1
		if i < 0 || s.sums[i] == nil {
			continue
		}
		where := meeting{kind: g.RouteKind(route)}
		if g.Node(place).Role == topology.Frontend {
			where.namespace = n.Ref.Namespace
		}
		hosts, _ := s.matcher.hostnamesAt(place, route)
		s.hostCounts[i] += len(hosts)
		facts := s.matcher.readRouteFacts(place, route, hosts)
		for _, h := range hosts {
			where.host = h.Effective
			members[where] = append(members[where], attachedRoute{i, h, facts})
		}
	}
	for _, met := range members {
		clear(s.lateHere)
		if len(met) > 1 || s.settings.ignoresConditions() {
			s.compareRoutes(met)
		}
		s.findCovered(met, func(f *shadow) {
			if s.markLate(&f.own) {
				s.addShadow(f)
			}
		})
	}
}

// compareRoutes compares the routes of one hostname at one place.
func (s *shadowFinder) compareRoutes(met []attachedRoute) {
	equal := map[uint64][]candidate{}
	once := map[uint64]bool{}
	twice := map[uint64]bool{}
	for _, m := range met {
		for _, p := range s.sumsAt(m.route) {
			if !p.late {
				twice[p.sum] = once[p.sum]
				once[p.sum] = true
			}
		}
	}
	for _, m := range met {
		for _, p := range s.sumsAt(m.route) {
			if !p.late && twice[p.sum] {
				equal[p.sum] = append(equal[p.sum], s.buildCandidate(s.routes[m.route], p, m))
			}
		}
	}
	for _, group := range equal {
		s.judgeGroup(group, func(c *candidate) { s.markLate(c) })
	}
}

// judgeGroup tells which of several candidates with one match come too late. One that delegates to
// other routes keeps nothing from the next, since requests may be left for which none of their
// matches holds.
func (s *shadowFinder) judgeGroup(group []candidate, late func(*candidate)) {
	byKey := map[string][]candidate{} // equal sums are all but always equal matches
	for _, c := range group {
		key := ""
		if c.match != nil {
			key = string(s.settings.readMatch(c.match).appendKey(nil))
		}
		byKey[key] = append(byKey[key], c)
	}
	for _, same := range byKey {
		s.settings.sortCandidates(same)
		same = same[max(0,
			slices.IndexFunc(same, func(c candidate) bool { return !isDelegating(s.matcher.graph, c.rule) })):]
		if isDelegating(s.matcher.graph, same[0].rule) { // all do: what the routes behind one leave is the next one's
			continue
		}
		aged := s.settings.canOrderByAge(same)
		for i, how := range s.settings.decidingCriteria(same) {
			c := &same[i+1]
			if how == "" { // nothing that is known orders them
				continue
			}
			late(c)
			if c.rule == same[0].rule {
				continue
			}
			s.addShadow(&shadow{own: *c, by: same[0], criterion: how, byAge: aged, settings: s.settings})
		}
	}
}

// markLate counts a match that comes too late at the place and for the hostname that are looked at;
// false if it is counted already.
func (s *shadowFinder) markLate(c *candidate) bool {
	at := lateMatch{c.rule, c.matchIndex, c.host.Configured}
	if s.lateHere[at] {
		return false
	}
	s.lateHere[at] = true
	s.lateMatches[c.rule]++
	return true
}

// addShadow notes why a match comes too late, if that is what is to be said of its rule.
func (s *shadowFinder) addShadow(f *shadow) {
	if known := s.shadows[f.own.rule]; known == nil || f.compare(known) < 0 {
		s.shadows[f.own.rule] = f
	}
}

// appendKey appends a text that only equal matches share. A slash at the end of a prefix is no
// difference.
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
			vs = slices.SortedFunc(slices.Values(vs),
				func(x, y valueMatch) int { return strings.Compare(x.name, y.name) })
		}
		for _, v := range vs {
			b = append(b, byte(v.form))
			add(v.name, v.value)
		}
	}
	path := m.path.value
	if m.path.form == prefix {
		path = trimSlash(path)
	}
	form := m.path.form
	if m.grpc { // it has no path of its own
		form, path = anything, ""
	}
	b = append(b, byte(form))
	add(path, m.method)
	values(m.service, m.call)
	values(m.headers...)
	values(m.query...)
	return b
}

func (s *shadowFinder) buildProblem(f *shadow) model.Problem {
	own, by := s.matcher.graph.Node(f.own.rule), s.matcher.graph.Node(f.by.rule)
	p := model.Problem{Severity: model.Warning, Code: model.RuleShadowed,
		Message: f.explain(s.matcher.graph), Hint: "remove the rule, or make its matches narrower"}.At(own.Object, "spec", "rules",
		strconv.Itoa(own.Index))
	if f.criterion == routing.Name && f.settings.countsAge() && !f.byAge {
		p.Message = fmt.Sprintf(
			"the younger of it and %s gets no request: they have the same matches%s; without creation times, the first by name wins here",
			by.Ref, f.formatDifference())
	}
	ref := own.Ref
	p.Ref = &ref
	return p
}
