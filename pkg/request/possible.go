package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// addCandidateDoubt makes the rule uncertain because it is not known which of the candidates takes
// the request.
func (a *Answer) addCandidateDoubt(why string) {
	a.makeRuleUncertain(why)
	a.candidateDoubts++
}

// IsAmongCandidates reports whether only known candidates may take the request, if it is not known
// which of them does.
func (a *Answer) IsAmongCandidates() bool { return a.doubts == a.candidateDoubts }

// listPossible returns what becomes of the request by each rule that may take it, the likeliest
// first, where it is not known which one does. The last one has no rule if it may be none. nil: it
// is known, or others may take it.
func (t *trace) listPossible() []*Answer {
	a := t.answer
	if !a.RuleUncertain && !t.orderUncertain || !a.IsAmongCandidates() || len(t.answeringTables) == 0 {
		return nil
	}
	if a.RewrittenByListener {
		return t.listRewritten()
	}
	first := max(0, slices.IndexFunc(t.answeringTables, func(table routeTable) bool {
		return slices.ContainsFunc(table, func(p entryListener) bool { return p.id == a.Listener })
	}))
	var out []*Answer
	for _, table := range t.answeringTables[first:] {
		at := trace{matcher: t.matcher, request: t.request, settings: t.settings, answer: &Answer{Listener: table[0].id}}
		at.collectCandidates(table)
		if open := func(c candidate) bool { return c.openReason != "" }; slices.ContainsFunc(at.unsure, open) &&
			(t.request.Protocol == GRPC || len(table) > 1 || t.settings.Hosts == routing.Shadow) {
			return nil // which kind of routes, or which hostname, decides depends on what is attached
		}
		chain, certain := at.findFirstCandidates()
		for i := range chain {
			c := &chain[i]
			if isDelegating(t.matcher.graph, c.rule) {
				return nil // a rule of another route may take it, or one that comes later
			}
			if !slices.ContainsFunc(out, func(o *Answer) bool { return o.Rule == c.rule && o.Listener == c.place }) {
				out = append(out, assumeCandidate(t, c, c.place))
			}
		}
		if certain {
			return out
		}
	}
	return append(out, assumeCandidate(t, nil, a.Listener))
}

// findFirstCandidates returns the candidates that may come first, and whether one of them does for
// certain: all up to the first that is sure to hold, and those that may be before that one because
// nothing tells which is older.
func (t *trace) findFirstCandidates() (out []candidate, certain bool) {
	all := slices.Concat(t.sure, t.unsure)
	t.settings.sortCandidates(all)
	if t.settings.HostGroups == routing.GroupsUnsorted {
		all = t.settings.mergeGroups(all)
	}
	for i := range all {
		out = append(out, all[i])
		if !isCertain(t, &all[i]) {
			continue
		}
		last := i + t.settings.countEqual(all[i:])
		if t.settings.countsAge() && !t.settings.canOrderByAge(all[i:last]) {
			out = append(out, all[i+1:last]...)
		}
		for j := range all[i+1:] {
			o := all[i+1+j]
			if t.explainUndecided(&all[i], &o) != "" && !t.settings.isBehindItsGroup(all, i+1+j) {
				out = append(out, o)
			}
		}
		return out, true
	}
	return out, false
}

// isCertain reports whether a candidate is sure to hold and to have its rank. An expression is
// certain where it is known how it is read and ranked.
func isCertain(t *trace, c *candidate) bool {
	switch {
	case c.openReason != "":
		return false
	case c.match == nil:
		return true
	case t.settings.isUncertain(c.match):
		return false
	}
	own := *c
	holds, _ := t.settings.matchCandidate(&own, t.request)
	return holds == yes
}

// isUncertain reports whether a match has an expression of which it is not known how it is read, or
// where it ranks.
func (s *matchSettings) isUncertain(m *match) bool {
	return m != nil && (s.hasUnknownRank() || s.foreignDialect) && s.hasExpression(m)
}

// isDelegating reports whether a rule delegates to other routes, whose rules are no candidates.
func isDelegating(g *topology.Graph, rule topology.NodeID) bool {
	n := g.Node(rule)
	if n.Delegates || n.Object == nil {
		return n.Delegates
	}
	for _, b := range ruleBody(n).Field("backendRefs").Items {
		if strings.HasSuffix(b.Text("kind"), "Route") {
			return true
		}
	}
	return false
}

// assumeCandidate returns what becomes of the request if a candidate takes it; nil: if none does.
func assumeCandidate(t *trace, c *candidate, listener topology.NodeID) *Answer {
	a := &Answer{Request: t.answer.Request, Outcome: NoMatch, Gateway: t.answer.Gateway, Listener: listener,
		Route: topology.None, Rule: topology.None}
	if c == nil {
		return a
	}
	a.Route, a.Rule = c.route, c.rule
	one := trace{matcher: t.matcher, request: t.request, settings: t.settings, answer: a, sure: []candidate{*c}}
	one.applyRule()
	one.checkAssumedFilters()
	return a
}

// AssumeMatch returns what becomes of a request if a competing match takes it; nil: if none does.
func (m Competition) AssumeMatch(a *Answer, c *Competitor) *Answer {
	t := trace{matcher: m.Matcher, request: &a.Request, settings: m.settingsAt(a.Gateway), answer: a}
	if c == nil {
		return assumeCandidate(&t, nil, a.Listener)
	}
	return assumeCandidate(&t, c.candidate, c.listener)
}
