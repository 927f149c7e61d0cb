package view

import "iter"

// Stream takes an answer apart for writers that do not want it in memory twice: head is the answer with no items, items are what belongs
// into its last field. A head's items are an empty list, never null.

// Stream is the answer without its items, and these.
func (l *EffectivePolicyList) Stream() (head any, items iter.Seq[any]) {
	rest := *l
	rest.Items = []EffectivePolicy{}
	return &rest, eachItem(l.Items)
}

// Stream is the answer without its items, and these.
func (l *Explanation) Stream() (head any, items iter.Seq[any]) {
	rest := *l
	rest.Items = []ExplainedPolicy{}
	return &rest, eachItem(l.Items)
}

// Stream is the answer without its items, and these.
func (r *PolicyReach) Stream() (head any, items iter.Seq[any]) {
	rest := *r
	rest.Items = []ReachItem{}
	return &rest, eachItem(r.Items)
}

// Stream is the answer without its items, and these.
func (l *OverriddenRuleList) Stream() (head any, items iter.Seq[any]) {
	rest := *l
	rest.Items = []OverriddenRule{}
	return &rest, eachItem(l.Items)
}

// Stream is the answer without its items, and these.
func (l *KindList) Stream() (head any, items iter.Seq[any]) {
	rest := *l
	rest.Items = []KindInfo{}
	return &rest, eachItem(l.Items)
}

// eachItem hands out the items by reference: they are large.
func eachItem[T any](items []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range items {
			if !yield(&items[i]) {
				return
			}
		}
	}
}
