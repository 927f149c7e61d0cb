package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// lossCause is one sort of reason why a setting is not in force; several are a set of bits.
type lossCause uint16

const (
	overriddenAbove lossCause = 1 << iota // something less specific overrides it
	givesWayBelow                         // a default that gives way to something more specific
	sameTarget                            // another policy of the same target comes first
	setInOwnBlock                         // another part of the policy itself has it
	beatenByBuiltin                       // a setting that no policy wrote and none may beat
	conditionFalse                        // the condition of the block is not met
	deactivated                           // something more specific deactivates the default
	notRead                               // nothing of the sort is read at this place
	shadowed                              // something earlier in a list always decides
)

// causeByReason is the cause behind a reason. Conflicts and errors have none: findings of their own
// tell of them.
var causeByReason = map[merge.Reason]lossCause{
	merge.LessSpecificOverrides: overriddenAbove, merge.AtomicOverridden: overriddenAbove,
	merge.MoreSpecificWins: givesWayBelow, merge.AtomicReplaced: givesWayBelow,
	merge.SameLevelOrder: sameTarget, merge.BuiltInWins: beatenByBuiltin, merge.Unset: deactivated,
	merge.ConditionFalse: conditionFalse,
	merge.NoEffect:       notRead, merge.Ignored: notRead, merge.Shadowed: shadowed,
}

// expectedCauses are the causes for which nobody is to blame: defaults are there to give way, and
// conditions to be met one day.
const expectedCauses = givesWayBelow | conditionFalse | deactivated

// lossCauses are why a setting is nowhere in force, with what is said of each, and whether
// something else tells more: a loss that another finding explains, or whose reason is not known.
type lossCauses struct {
	bits              lossCause
	losses            map[lossCause]*explain.LossReasons
	reportedElsewhere bool // another finding says so, or nobody knows
	unknown           bool // it may be in force
}

// lossesOf is what is said of one cause.
func (c *lossCauses) lossesOf(bit lossCause) *explain.LossReasons {
	if c.losses == nil {
		c.losses = map[lossCause]*explain.LossReasons{}
	}
	if c.losses[bit] == nil {
		c.losses[bit] = &explain.LossReasons{}
	}
	c.bits |= bit
	return c.losses[bit]
}

func (c *lossCauses) merge(o lossCauses) {
	c.reportedElsewhere, c.unknown = c.reportedElsewhere || o.reportedElsewhere, c.unknown || o.unknown
	for bit := overriddenAbove; bit <= shadowed; bit <<= 1 {
		if o.bits&bit != 0 {
			c.lossesOf(bit).AddAll(*o.losses[bit])
		}
	}
}

// removeReported takes out the causes that another finding reports.
func (c *lossCauses) removeReported(told func(lossCause) bool) {
	for bit := overriddenAbove; bit <= shadowed; bit <<= 1 {
		if c.bits&bit != 0 && told(bit) {
			c.bits &^= bit
			c.reportedElsewhere = true
		}
	}
}

// findingSeverity is that of a finding with these causes.
func (c *lossCauses) findingSeverity() model.Severity {
	if c.bits&^expectedCauses == 0 {
		return model.Info
	}
	return model.Warning
}

// formatCauses says why, in one clause after a colon.
func (c *lossCauses) formatCauses() string {
	var parts []string
	for bit := overriddenAbove; bit <= shadowed; bit <<= 1 {
		if c.bits&bit != 0 {
			parts = append(parts, c.losses[bit].String())
		}
	}
	return strings.Join(parts, "; ")
}

// addLoss adds the cause of one loss.
func (c *lossCauses) addLoss(r *resolve.Resolution, o *resolve.Verdict, l *merge.Loss) {
	own := o.Layers[l.From.Layer].Policy.Base()
	bit := causeByReason[l.Reason]
	switch {
	case l.Reason == merge.NotEvaluated:
		c.unknown = true
		return
	case bit == 0 || bit == conditionFalse && isUnjudgedCondition(o, l):
		c.reportedElsewhere = true
		return
	case bit == shadowed:
	case len(l.To) > 0 &&
		!slices.ContainsFunc(l.To, func(w merge.Winner) bool { return o.Layers[w.Layer].Policy.Base() != own }):
		bit = setInOwnBlock
	case l.Reason == merge.NoEffect && len(l.To) > 0: // it counts as not set
		bit = givesWayBelow
	}
	c.lossesOf(bit).Add(r, o, l)
}

// isUnjudgedCondition reports whether the condition that was not met cannot be judged, which is a
// finding of its own.
func isUnjudgedCondition(o *resolve.Verdict, l *merge.Loss) bool {
	when, ok := l.When.(*expression.Condition)
	return ok && when.Err() != nil || l.Step >= 0 && o.Result.Trace[l.Step].Err != nil
}

// compareRules sorts losses by block and rule.
func compareRules(a, b lostSetting) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.block, b.block), strings.Compare(a.rule, b.rule))
}
