package request

import (
	"fmt"
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
	text     []byte // scratch

	fate map[topology.NodeID]*shadow // of the rules that met another one with the same match
}

// shadow is a match of a rule, and the one that comes first.
type shadow struct {
	own, by candidate
	how     criterion
	aged    bool // the order is by age, as far as age decides
}

// same are the candidates of one match at one place.
type same struct {
	first candidate
	more  []candidate // with the first
}

func (s *shadows) find() []model.Problem {
	g := s.m.graph
	s.fate = map[topology.NodeID]*shadow{}
	met := map[topology.NodeID]int{} // matches by rule
	lost := map[topology.NodeID]int{}
	for _, place := range g.Order(topology.All) {
		switch g.Node(place).Role {
		case topology.Listener, topology.Frontend:
			s.at(place, met, lost)
		}
	}
	var out []model.Problem
	for rule, n := range lost {
		if n == met[rule] {
			out = append(out, s.problem(s.fate[rule]))
		}
	}
	return out
}

// at looks for rules with the same match at one place.
func (s *shadows) at(place topology.NodeID, met, lost map[topology.NodeID]int) {
	g := s.m.graph
	routes := g.Children(topology.All, place)
	byMatch := make(map[string]*same, len(routes))
	for _, route := range routes {
		n := g.Node(route)
		if n.Role != topology.Route || n.Object == nil {
			continue
		}
		space := ""
		if g.Node(place).Role == topology.Frontend {
			space = n.Ref.Namespace // consumer routes of different namespaces never meet
		}
		hosts, _ := s.m.hostnamesAt(place, route)
		for i, rule := range g.Children(topology.All, route) {
			if i > 0 && !hasMatches(n.Ref.Kind) {
				break
			}
			c := candidate{route: route, rule: rule, object: n.Object, index: g.Node(rule).Index}
			s.eachMatch(&c, func() {
				for _, c.host = range hosts {
					met[rule]++
					key := s.key(&c, space)
					if known := byMatch[string(key)]; known == nil {
						byMatch[string(key)] = &same{first: c}
					} else {
						known.more = append(known.more, c)
					}
				}
			})
		}
	}
	for _, group := range byMatch {
		if group.more != nil {
			s.judge(append(group.more, group.first), lost)
		}
	}
}

// eachMatch calls see with every match of a rule in c. Expressions are compared as texts only.
func (s *shadows) eachMatch(c *candidate, see func()) {
	n := s.m.graph.Node(c.rule)
	if !hasMatches(n.Ref.Kind) {
		see()
		return
	}
	plain := compiler{textOnly: true}
	matches, _ := plain.rule(ruleBody(n), n.Ref.Kind == "GRPCRoute")
	for i := range matches {
		c.match, c.nth = &matches[i], i
		see()
	}
}

// judge notes which of the candidates with one match come too late.
func (s *shadows) judge(group []candidate, lost map[topology.NodeID]int) {
	s.switches.sort(group)
	best := &group[0]
	for i := range group[1:] {
		c := &group[i+1]
		lost[c.rule]++
		if c.rule != best.rule && s.fate[c.rule] == nil {
			s.fate[c.rule] = &shadow{own: *c, by: *best, how: s.switches.decided(best, c, group), aged: s.switches.aged(group)}
		}
	}
}

// key tells matches at one place apart: by kind of route, hostname and predicate. A slash at the end of a prefix is no difference.
func (s *shadows) key(c *candidate, space string) []byte {
	b := append(s.text[:0], c.object.Ref.Kind...)
	add := func(texts ...string) {
		for _, t := range texts {
			b = append(strconv.AppendInt(append(b, 0), int64(len(t)), 10), ':')
			b = append(b, t...)
		}
	}
	add(space, c.host.Effective)
	if m := c.match; m != nil {
		path := m.path.value
		if m.path.form == prefix {
			path = stem(path)
		}
		b = append(b, byte(m.path.form))
		add(path, m.method)
		values := func(vs []valueMatch) {
			b = append(b, 0xff)
			for _, v := range slices.SortedFunc(slices.Values(vs), func(x, y valueMatch) int { return strings.Compare(x.name, y.name) }) {
				b = append(b, byte(v.form))
				add(v.name, v.value)
			}
		}
		values([]valueMatch{m.service})
		values([]valueMatch{m.call})
		values(m.headers)
		values(m.query)
	}
	s.text = b
	return b
}

func (s *shadows) problem(f *shadow) model.Problem {
	own, by := s.m.graph.Node(f.own.rule), s.m.graph.Node(f.by.rule)
	p := model.Problem{Severity: model.Warning, Code: model.RuleShadowed,
		Message: fmt.Sprintf("no request reaches it: %s has the same matches and comes first: %s", by.Ref, s.switches.beats(&f.by, &f.own, f.how)),
		Hint:    "remove the rule, or make its matches narrower"}.At(own.Object)
	if f.how == byName && !s.switches.ageless && !f.aged {
		p.Message = fmt.Sprintf("it or %s gets no request, whichever route is younger: they have the same matches; without creation times the one is taken that is first by name", by.Ref)
	}
	ref, origin := own.Ref, own.Object.OriginOf("spec", "rules", strconv.Itoa(own.Index))
	p.Ref, p.Origin = &ref, &origin
	return p
}
