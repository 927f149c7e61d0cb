package diff

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ruleKey tells rules of one name apart.
type ruleKey struct {
	name string
	n    int
}

// findRuleChanges lists the rules of two effective policies, either of which may be nil, that
// differ in value or in source: by name, or for ordered kinds in the order that they have after,
// then before.
func findRuleChanges(before, after *view.EffectivePolicy) []RuleChange {
	was := indexRules(before)
	out := []RuleChange{}
	for key, r := range eachRule(after) {
		b, known := was[key]
		delete(was, key)
		switch {
		case !known:
			out = append(out, RuleChange{Name: r.Name, path: r.Path, After: r.Value, SourcesBefore: []view.Source{},
				SourcesAfter: r.Sources})
		case !merge.Equal(b.Value, r.Value) || !sameSources(b.Sources, r.Sources):
			out = append(out, RuleChange{Name: r.Name, path: r.Path, Before: b.Value, After: r.Value,
				SourcesBefore: b.Sources, SourcesAfter: r.Sources})
		}
	}
	for key, r := range eachRule(before) {
		if _, gone := was[key]; gone {
			change := RuleChange{Name: r.Name, path: r.Path, Before: r.Value, SourcesBefore: r.Sources,
				SourcesAfter: []view.Source{}}
			if l := findLoss(after, r); l != nil {
				change.Reason, change.shortReason = l.Message, l.Why
			}
			out = append(out, change)
		}
	}
	if before == nil || !before.Ordered {
		slices.SortStableFunc(out, func(a, b RuleChange) int { return cmp.Compare(a.Name, b.Name) })
	}
	return out
}

// eachRule iterates over the rules of an effective policy, which may be nil.
func eachRule(e *view.EffectivePolicy) func(yield func(ruleKey, *view.Rule) bool) {
	return func(yield func(ruleKey, *view.Rule) bool) {
		if e == nil {
			return
		}
		seen := map[string]int{}
		for i := range e.Rules {
			r := &e.Rules[i]
			key := ruleKey{r.Name, seen[r.Name]}
			seen[r.Name]++
			if !yield(key, r) {
				return
			}
		}
	}
}

func indexRules(e *view.EffectivePolicy) map[ruleKey]*view.Rule {
	out := map[ruleKey]*view.Rule{}
	for key, r := range eachRule(e) {
		out[key] = r
	}
	return out
}

// findLoss returns why a rule that was in force is not any more: the loss of the same rule of the
// same policy; nil if there is none.
func findLoss(after *view.EffectivePolicy, was *view.Rule) *view.RuleLoss {
	for i := range policyOrEmpty(after).Lost {
		l := &after.Lost[i]
		if l.Rule == was.Name && l.Policy != nil &&
			slices.ContainsFunc(was.Sources, func(s view.Source) bool {
				return s.Policy != nil &&
					*s.Policy == *l.Policy
			}) {
			return l
		}
	}
	return nil
}

// sameSources reports whether values come from the same places, wherever these were read.
func sameSources(a, b []view.Source) bool {
	return slices.EqualFunc(a, b, func(a, b view.Source) bool {
		return equalRefs(a.Policy, b.Policy) && *a.Target == *b.Target && a.Level == b.Level && a.Block == b.Block &&
			a.Strategy == b.Strategy && a.Builtin == b.Builtin
	})
}

func equalRefs(a, b *model.Ref) bool { return a == b || a != nil && b != nil && *a == *b }

// inForceBefore and inForceAfter report whether the setting was, or is, in force. A setting in
// force has sources.
func (r RuleChange) inForceBefore() bool { return len(r.SourcesBefore) > 0 }
func (r RuleChange) inForceAfter() bool  { return len(r.SourcesAfter) > 0 }

// hasValueChange reports whether more than the sources differ.
func (r RuleChange) hasValueChange() bool {
	return r.inForceBefore() != r.inForceAfter() || !merge.Equal(r.Before, r.After)
}

// isReordered reports whether the rules that two ordered results share come in another order.
func isReordered(before, after *view.EffectivePolicy) bool {
	if !before.Ordered || !after.Ordered {
		return false
	}
	shared := func(e, other *view.EffectivePolicy) []ruleKey {
		there := indexRules(other)
		var out []ruleKey
		for key := range eachRule(e) {
			if there[key] != nil {
				out = append(out, key)
			}
		}
		return out
	}
	return !slices.Equal(shared(before, after), shared(after, before))
}
