package view

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nth tells rules of one name apart.
type nth struct {
	name string
	n    int
}

// ruleChanges lists the rules of two effective policies, either of which may be nil, that differ in value or in source; by name, those of
// ordered kinds in the order in which they are after, then before.
func ruleChanges(before, after *EffectivePolicy) []RuleChange {
	was := rulesByName(before)
	out := []RuleChange{}
	for key, r := range eachRule(after) {
		b, known := was[key]
		delete(was, key)
		switch {
		case !known:
			out = append(out, RuleChange{Name: r.Name, path: r.path, After: r.Value, SourcesBefore: []Source{}, SourcesAfter: r.Sources})
		case !merge.Equal(b.Value, r.Value) || !sameSources(b.Sources, r.Sources):
			out = append(out, RuleChange{Name: r.Name, path: r.path, Before: b.Value, After: r.Value, SourcesBefore: b.Sources, SourcesAfter: r.Sources})
		}
	}
	for key, r := range eachRule(before) {
		if _, gone := was[key]; gone {
			change := RuleChange{Name: r.Name, path: r.path, Before: r.Value, SourcesBefore: r.Sources, SourcesAfter: []Source{}}
			if l := lossOf(after, r); l != nil {
				change.Reason, change.why = l.Message, l.Why
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
func eachRule(e *EffectivePolicy) func(yield func(nth, *Rule) bool) {
	return func(yield func(nth, *Rule) bool) {
		if e == nil {
			return
		}
		seen := map[string]int{}
		for i := range e.Rules {
			r := &e.Rules[i]
			key := nth{r.Name, seen[r.Name]}
			seen[r.Name]++
			if !yield(key, r) {
				return
			}
		}
	}
}

func rulesByName(e *EffectivePolicy) map[nth]*Rule {
	out := map[nth]*Rule{}
	for key, r := range eachRule(e) {
		out[key] = r
	}
	return out
}

// lossOf is why a rule that was in force is not any more: what became of the same rule of the same policy. It is nil if that is not there.
func lossOf(after *EffectivePolicy, was *Rule) *RuleLoss {
	for i := range after.orEmpty().Lost {
		l := &after.Lost[i]
		if l.Rule == was.Name && l.Policy != nil && slices.ContainsFunc(was.Sources, func(s Source) bool { return s.Policy != nil && *s.Policy == *l.Policy }) {
			return l
		}
	}
	return nil
}

// sameSources reports whether values come from the same places, wherever these were read.
func sameSources(a, b []Source) bool {
	return slices.EqualFunc(a, b, func(a, b Source) bool {
		return samePointed(a.Policy, b.Policy) && *a.Target == *b.Target && a.Level == b.Level && a.Block == b.Block && a.Strategy == b.Strategy && a.Builtin == b.Builtin
	})
}

func samePointed(a, b *model.Ref) bool { return a == b || a != nil && b != nil && *a == *b }

// inForceBefore and inForceAfter report whether the setting was, or is, in force. A setting in force has sources.
func (r RuleChange) inForceBefore() bool { return len(r.SourcesBefore) > 0 }
func (r RuleChange) inForceAfter() bool  { return len(r.SourcesAfter) > 0 }

// valueChanges reports whether more than the sources differ.
func (r RuleChange) valueChanges() bool {
	return r.inForceBefore() != r.inForceAfter() || !merge.Equal(r.Before, r.After)
}

// reordered reports whether the rules that two ordered results share come in another order.
func reordered(before, after *EffectivePolicy) bool {
	if !before.Ordered || !after.Ordered {
		return false
	}
	shared := func(e, other *EffectivePolicy) []nth {
		there := rulesByName(other)
		var out []nth
		for key := range eachRule(e) {
			if there[key] != nil {
				out = append(out, key)
			}
		}
		return out
	}
	return !slices.Equal(shared(before, after), shared(after, before))
}
