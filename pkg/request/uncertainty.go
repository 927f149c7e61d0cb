package request

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// checkUnsureCandidates makes the rule uncertain if a candidate of which it is not known whether it
// matches would come first.
func (t *trace) checkUnsureCandidates(best *candidate) {
	for i := range t.unsure {
		c := &t.unsure[i]
		if best != nil {
			if c.rule == best.rule {
				continue
			}
			if t.settings.findBest([]candidate{*best, *c}).rule == best.rule {
				return // the remaining ones rank lower
			}
		}
		why := c.openReason
		if why == "" {
			why = c.doubt
		}
		ref := t.matcher.graph.Node(c.rule).Ref
		t.answer.addCandidateDoubt(ref.String() + " may come first: " + why)
		t.answer.addProblem(model.Warning, model.NotEvaluated, c.object, "cannot tell whether "+ref.String()+
			" takes the request: "+why, "")
	}
}

// checkExpressions makes the rule uncertain if a regular expression decides (gatewayapi G48).
func (t *trace) checkExpressions(best *candidate) {
	if best.match == nil {
		return
	}
	unknown := t.settings.hasUnknownRank()
	ranksPaths := slices.Contains(t.settings.matchCriteria(best), routing.PathType)
	isPath := func(c *candidate, f form) bool {
		if !t.settings.asksForPath(c.match) || t.settings.isLast(c) || c.isPathItself {
			return false
		}
		path := c.pathMatch(t.settings)
		return path.form == f && !path.asRoot || path.asRoot && f == prefix
	}
	above := func(c *candidate) []int { // what goes before the path
		var out []int
		for _, by := range t.settings.matchCriteria(c) {
			if by == routing.PathType {
				break
			}
			out = append(out, t.settings.measure(by, c))
		}
		return out
	}
	for i := range t.sure {
		c := &t.sure[i]
		across := isPath(best, prefix) && isPath(c, expression) || isPath(best, expression) && isPath(c, prefix)
		if across && unknown && ranksPaths && slices.Equal(above(best), above(c)) {
			if c.rule == best.rule {
				break // the best of its form, so that the rule is the same either way
			}
			t.answer.addCandidateDoubt(
				fmt.Sprintf("%s and %s both match; which comes first depends on the implementation",
					best.pathMatch(t.settings).formatText(), c.pathMatch(t.settings).formatText()))
			t.answer.addProblem(model.Info, model.NotEvaluated, best.object,
				"the rank of regular expressions among path matches depends on the implementation",
				"set it with --vendor-setting "+gatewayapi.RegexRank+"=…")
			return
		}
	}
	if (unknown || t.settings.foreignDialect) && t.settings.hasExpression(best.match) {
		t.answer.addCandidateDoubt("the rule matches by a regular expression (" + best.match.formatText() +
			"), whose dialect implementations choose; RE2 is assumed")
		t.answer.addProblem(model.Info, model.NotEvaluated, best.object,
			"regular expressions are evaluated as RE2, which must match the whole text", "")
	}
}

// checkAddresses makes the rule uncertain if several routes are for the host and each has an address
// of its own, so that those without a rule for the request may answer it as well.
func (t *trace) checkAddresses() {
	if len(t.ownAddresses) == 0 {
		return
	}
	routes := t.ownAddresses[0].routes.List
	for _, served := range t.ownAddresses[1:] {
		routes = append(slices.Clone(routes), served.routes.List...)
	}
	if len(t.ownAddresses) > 1 {
		slices.Sort(routes)
		routes = slices.Compact(routes)
	}
	if len(routes) > 1 {
		t.answer.makeRuleUncertain(fmt.Sprintf("%s gives each route an address of its own, and %d routes are for %s",
			t.settings.Name, len(routes), t.request.Host))
	}
}

// withoutIgnored returns what the data plane reads of a match.
func (s *matchSettings) withoutIgnored(m *match) match {
	read := *m
	if read.query = s.queryOf(m); s.Ignores(routing.IgnoredQuery) {
		read.query = nil
	}
	if s.Ignores(routing.IgnoredMethod) {
		read.method = ""
	}
	return read
}

// hasExpression reports whether a regular expression is part of what the data plane reads of a match.
func (s *matchSettings) hasExpression(m *match) bool {
	read := s.withoutIgnored(m)
	return read.hasExpression()
}

// checkUndecided makes the rule uncertain if nothing that is known of the data plane puts the best
// candidate before another one.
func (t *trace) checkUndecided() {
	best := &t.sure[0]
	for i := range t.sure[1:] {
		c := &t.sure[i+1]
		why := t.explainUndecided(best, c)
		if why == "" || t.settings.isBehindItsGroup(t.sure, i+1) {
			continue
		}
		a, b := t.matcher.graph.Node(best.rule).Ref, t.matcher.graph.Node(c.rule).Ref
		t.answer.addCandidateDoubt(fmt.Sprintf("%s and %s both match; %s", a, b, why))
		t.answer.addProblem(model.Warning, model.NotEvaluated, best.object,
			fmt.Sprintf("cannot tell which of %s and %s takes the request: %s", a, b, why), "")
		return
	}
}

// explainUndecided says why it is not known which of two candidates that hold comes first; "" if it
// is. The first one is the best.
func (t *trace) explainUndecided(best, c *candidate) string {
	s := t.settings
	if c.rule == best.rule || !s.described || c.match == nil {
		return ""
	}
	order, _ := s.compare(best, c)
	tie := order
	if order == 0 {
		tie, _ = s.breakTie(best, c, s.countsAge())
	}
	switch {
	case s.HostGroups == routing.GroupsUnsorted && !isOneGroup(best, c):
		if s.isCatchAll(best) != s.isCatchAll(c) {
			return ""
		}
		return fmt.Sprintf("their routes have different listeners or hostnames (%s, %s), which %s does not order",
			cmp.Or(best.host.Configured, "none"), cmp.Or(c.host.Configured, "none"), s.Name)
	case s.mayWeighMore(c, best):
		return "annotation " + s.WeightAnnotation + " counts only where a setting of " + s.Name + " says so"
	case order == 0 && c.route != best.route && s.SameMatch == routing.SameUnknown && s.isOneMatch(best, c),
		tie == 0 && s.SameMatch != routing.SameJoinBackends:
		return "which comes first is not known of " + s.Name
	case tie == 0:
		return s.Name + " joins the backends of rules with one match, or orders them in a way that is not known"
	}
	return ""
}

// mayWeighMore reports whether the number in an annotation puts a candidate before another one, if
// it counts.
func (s *matchSettings) mayWeighMore(c, than *candidate) bool {
	if s.WeightAnnotation == "" {
		return false
	}
	weight := func(c *candidate) int {
		n, _ := strconv.Atoi(c.object.Text("metadata", "annotations", s.WeightAnnotation))
		return n
	}
	return weight(c) > weight(than)
}

// isOneMatch reports whether two candidates ask for the same of requests to the same hosts.
func (s *matchSettings) isOneMatch(a, b *candidate) bool {
	ofA, ofB := s.withoutIgnored(a.match), s.withoutIgnored(b.match)
	return a.host.Effective == b.host.Effective && a.match.grpc == b.match.grpc &&
		bytes.Equal(ofA.appendKey(nil), ofB.appendKey(nil))
}

// checkOrder reports an order that only names decided, because creation times are missing
// (gatewayapi G47).
func (t *trace) checkOrder() {
	best := &t.sure[0]
	if !t.settings.countsAge() {
		return
	}
	same := t.sure[:t.settings.countEqual(t.sure)]
	var others model.Tally
	last := best.route
	for i := range same { // those of one route follow each other
		if same[i].route != last {
			last = same[i].route
			others.Add(same[i].object.Ref.String())
		}
	}
	if others.Count == 0 || t.settings.canOrderByAge(same) {
		return
	}
	t.orderUncertain = true
	t.answer.addProblem(model.Warning, model.OrderUncertain, best.object,
		fmt.Sprintf("%s comes before %s by name alone: not all of them have a creation time, and the oldest would win",
			best.object.Ref, others.String()),
		"ask the cluster, or add metadata.creationTimestamp")
}
