package request

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// openEnds makes the answer conditional if a candidate of which it is not known whether it matches would come first.
func (t *trace) openEnds(best *candidate) {
	for i := range t.unsure {
		c := &t.unsure[i]
		if best != nil {
			if t.switches.best([]candidate{*best, *c}).rule == best.rule {
				return // the rest comes later still
			}
		}
		why := c.open
		if why == "" {
			why = "its regular expression cannot be evaluated"
			if c.match != nil && c.match.takenOut() {
				why = "a value that it asks for is left out (redacted)"
			}
		}
		ref := t.m.graph.Node(c.rule).Ref
		t.answer.rivals(ref.String() + " may come first: " + why)
		t.answer.note(model.Warning, model.NotEvaluated, c.object, "whether "+ref.String()+" takes the request is not known: "+why, "")
	}
}

// expressions makes the answer conditional if a regular expression decides (gatewayapi G48).
func (t *trace) expressions(best *candidate) {
	if best.match == nil {
		return
	}
	described := t.switches.regexRank != ambiguousRank
	isPath := func(c *candidate, f form) bool { return c.match.path.form == f && !c.match.grpc }
	for i := range t.sure {
		c := &t.sure[i]
		across := isPath(best, prefix) && isPath(c, expression) || isPath(best, expression) && isPath(c, prefix)
		if mine, theirs := t.switches.rank(best), t.switches.rank(c); across && !described && c.rule != best.rule && [2]int(mine[:]) == [2]int(theirs[:]) {
			t.answer.rivals(fmt.Sprintf("%s and %s both match; which comes first depends on the implementation", best.match.path.text(), c.match.path.text()))
			t.answer.note(model.Info, model.NotEvaluated, best.object,
				"the rank of regular expressions among path matches depends on the implementation", "set it with --vendor-setting "+topology.RegexRank+"=…")
			return
		}
	}
	if best.match.expressions() && (!described || t.switches.foreign) {
		t.answer.rivals("the rule matches by a regular expression (" + best.match.text() + "), whose dialect implementations choose; RE2 is assumed")
		t.answer.note(model.Info, model.NotEvaluated, best.object, "regular expressions are evaluated as RE2, which must match the whole text", "")
	}
}

// uncertain reports an order that only names made, for want of creation times (gatewayapi G47).
func (t *trace) uncertain() {
	best := &t.sure[0]
	if t.switches.ageless {
		return
	}
	same := t.sure[:t.switches.level(t.sure)]
	var others model.Tally
	last := best.route
	for i := range same { // those of one route follow each other
		if same[i].route != last {
			last = same[i].route
			others.Add(same[i].object.Ref.String())
		}
	}
	if others.N == 0 || t.switches.aged(same) {
		return
	}
	t.tied = true
	t.answer.note(model.Warning, model.OrderUncertain, best.object,
		fmt.Sprintf("%s comes before %s by name alone: not all of them have a creation time, and the oldest would win", best.object.Ref, others.String()),
		"ask the cluster, or add metadata.creationTimestamp")
}
