package request

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// checkUnsureCandidates makes the rule uncertain if a candidate of which it is not known whether it
// matches would come first.
func (t *trace) checkUnsureCandidates(best *candidate) {
	for i := range t.unsure {
		c := &t.unsure[i]
		if best != nil {
			if t.settings.findBest([]candidate{*best, *c}).rule == best.rule {
				return // the remaining ones rank lower
			}
		}
		why := c.openReason
		if why == "" {
			why = "its regular expression cannot be evaluated"
			if c.match != nil && c.match.hasRedactedValue() {
				why = "a value that it asks for is left out (redacted)"
			}
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
	described := t.settings.regexRank != ambiguousRank
	isPath := func(c *candidate, f form) bool { return c.match.path.form == f && !c.match.grpc }
	for i := range t.sure {
		c := &t.sure[i]
		across := isPath(best, prefix) && isPath(c, expression) || isPath(best, expression) && isPath(c, prefix)
		if mine, theirs := t.settings.rankCandidate(best), t.settings.rankCandidate(c); across && !described &&
			c.rule != best.rule && [2]int(mine[:]) == [2]int(theirs[:]) {
			t.answer.addCandidateDoubt(
				fmt.Sprintf("%s and %s both match; which comes first depends on the implementation",
					best.match.path.formatText(), c.match.path.formatText()))
			t.answer.addProblem(model.Info, model.NotEvaluated, best.object,
				"the rank of regular expressions among path matches depends on the implementation",
				"set it with --vendor-setting "+gatewayapi.RegexRank+"=…")
			return
		}
	}
	if best.match.hasExpression() && (!described || t.settings.foreignDialect) {
		t.answer.addCandidateDoubt("the rule matches by a regular expression (" + best.match.formatText() +
			"), whose dialect implementations choose; RE2 is assumed")
		t.answer.addProblem(model.Info, model.NotEvaluated, best.object,
			"regular expressions are evaluated as RE2, which must match the whole text", "")
	}
}

// checkOrder reports an order that only names decided, because creation times are missing
// (gatewayapi G47).
func (t *trace) checkOrder() {
	best := &t.sure[0]
	if t.settings.ignoreAge {
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
