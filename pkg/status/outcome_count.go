package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// outcomeCount is an outcome while it is counted.
type outcomeCount struct {
	outcome                                 *PolicyOutcome
	lostTo, overriders, holders, rejectedBy model.Set[model.Ref]
	affected                                model.Set[model.Ref]
	conflicts                               model.Set[Conflict]
	lost                                    lossesByRule
}

// addShare adds the policies to which a share of one more stack lost.
func (t *outcomeCount) addShare(sh *policyShare) {
	t.lostTo.Add(sh.lostTo.List...)
	t.overriders.Add(sh.overriders.List...)
	t.holders.Add(sh.holders.List...)
	if len(sh.conflicts.List) > 0 {
		t.rejectedBy.Add(sh.holders.List...)
		t.conflicts.Add(sh.conflicts.List...)
	}
}

// buildOutcome writes down what was counted.
func (t *outcomeCount) buildOutcome() *PolicyOutcome {
	f := t.outcome
	f.LostTo, f.Overriders, f.Holders, f.RejectedBy = sortedRefs(t.lostTo), sortedRefs(t.overriders), sortedRefs(
		t.holders), sortedRefs(t.rejectedBy)
	f.Conflicts, f.Lost, f.Affected = t.conflicts.List, t.lost.toLostRules(), sortedRefs(t.affected)
	return f
}

// sortedRefs returns the members of a set in order.
func sortedRefs(s model.Set[model.Ref]) []model.Ref {
	slices.SortFunc(s.List, model.Ref.Compare)
	return s.List
}
