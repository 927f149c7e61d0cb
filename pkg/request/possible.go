package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rivals notes that what is not known is only which of the candidates takes the request.
func (a *Answer) rivals(why string) {
	a.conditional(why)
	a.amongRivals++
}

// Closed reports whether nothing but the candidates that are known may take the request, if it is not known which of them does.
func (a *Answer) Closed() bool { return a.doubts == a.amongRivals }

// possible is what becomes of the request by each rule that may take it, the likeliest first, where it is not known which one does. The last one
// has no rule if it may be none. nil: it is known, or others may take it.
func (t *trace) possible() []*Answer {
	a := t.answer
	if !a.Unsettled && !t.tied || !a.Closed() || len(t.answering) == 0 {
		return nil
	}
	first := max(0, slices.IndexFunc(t.answering, func(p entryListener) bool { return p.id == a.Listener }))
	var out []*Answer
	for _, p := range t.answering[first:] {
		at := trace{m: t.m, r: t.r, switches: t.switches, answer: &Answer{Listener: p.id}}
		at.candidates(p)
		if open := func(c candidate) bool { return c.open != "" }; slices.ContainsFunc(at.unsure, open) && (t.r.Protocol == GRPC || t.m.graph.SharesPort(p.id)) {
			return nil // which kind of routes, or which listener, answers depends on what is attached
		}
		chain, certain := at.chain()
		for i := range chain {
			c := &chain[i]
			if handsOver(t.m.graph, c.rule) {
				return nil // a rule of another route may take it, or one that comes later
			}
			if !slices.ContainsFunc(out, func(o *Answer) bool { return o.Rule == c.rule && o.Listener == p.id }) {
				out = append(out, supposed(t, c, p.id))
			}
		}
		if certain {
			return out
		}
	}
	return append(out, supposed(t, nil, a.Listener))
}

// chain are the candidates that may come first, and whether one of them does for certain: all up to the first that is sure to hold, and those
// that may be before that one, because nothing tells which is older.
func (t *trace) chain() (out []candidate, certain bool) {
	all := slices.Concat(t.sure, t.unsure)
	t.switches.sort(all)
	for i := range all {
		out = append(out, all[i])
		if !solid(t, &all[i]) {
			continue
		}
		last := i + t.switches.level(all[i:])
		if !t.switches.ageless && !t.switches.aged(all[i:last]) {
			out = append(out, all[i+1:last]...)
		}
		return out, true
	}
	return out, false
}

// solid reports whether a candidate is sure to hold and to stand where it is ranked. Expressions are where it is known how they are read and ranked.
func solid(t *trace, c *candidate) bool {
	switch {
	case c.open != "":
		return false
	case c.match == nil:
		return true
	case t.switches.vague(c.match):
		return false
	}
	return c.match.holds(t.r, !t.switches.loose) == yes
}

// vague reports whether a match has an expression of which it is not known how it is read, or where it ranks.
func (s *switches) vague(m *match) bool {
	return m != nil && m.expressions() && (s.regexRank == ambiguousRank || s.foreign)
}

// handsOver reports whether a rule delegates to other routes, whose rules are no candidates.
func handsOver(g *topology.Graph, rule topology.NodeID) bool {
	n := g.Node(rule)
	if n.Transit || n.Object == nil {
		return n.Transit
	}
	for _, b := range ruleBody(n).Field("backendRefs").Items {
		if strings.HasSuffix(b.Text("kind"), "Route") {
			return true
		}
	}
	return false
}

// supposed is what becomes of the request if a candidate takes it; nil: if none does.
func supposed(t *trace, c *candidate, listener topology.NodeID) *Answer {
	a := &Answer{Request: t.answer.Request, Outcome: NoMatch, Gateway: t.answer.Gateway, Listener: listener, Route: topology.None, Rule: topology.None}
	if c == nil {
		return a
	}
	a.Route, a.Rule = c.route, c.rule
	one := trace{m: t.m, r: t.r, switches: t.switches, answer: a, sure: []candidate{*c}}
	one.rule()
	one.listenerFilters()
	return a
}

// Suppose is what becomes of a request if a match takes it that competes for it; nil: if none does.
func (m Competition) Suppose(a *Answer, c *Competitor) *Answer {
	s := readSwitches(m.settings)
	t := trace{m: m.Matcher, r: &a.Request, switches: &s, answer: a}
	if c == nil {
		return supposed(&t, nil, a.Listener)
	}
	return supposed(&t, c.of, c.at)
}
