package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// defeat is how a policy lost its place to another one.
type defeat struct {
	by       *policy.Policy
	decision policy.Decision
}

// decide says what puts one of two policies of a place before the other. What filters name stands in their order, whatever the comparator says.
func (k *Kind) decide(winner, loser policy.Attached, ageIgnored bool) policy.Decision {
	if winner.Level == policy.FilterLevel && loser.Level == policy.FilterLevel {
		return policy.Decision{Last: winner.Index > loser.Index, Named: "by the order of the filters"}
	}
	return k.Decide(winner, loser, ageIgnored)
}

// Decision says what put the winner of a loss before or behind the loser, both layers of the outcome.
func (o *Outcome) Decision(winner, loser int) policy.Decision {
	w, l := o.Layers[winner], o.Layers[loser]
	switch {
	case l.Rejected:
		return l.decision
	case w.attached.Policy == nil || l.attached.Policy == nil || w.run != l.run: // nothing that a comparator has ordered
		return policy.Decision{Last: winner > loser}
	}
	return l.kind.decide(w.attached, l.attached, w.timeless || l.timeless)
}

// Standing says what became of one of the winners of a loss on one target, as what follows its name. The order of the policies decides, unless
// the one overrides what the other leaves to be overridden.
func (o *Outcome) Standing(l merge.Loss, to merge.From) string {
	d := o.Decision(to.Layer, l.From.Layer)
	loser := o.Layers[l.From.Layer]
	if to.Block == merge.Overrides && l.From.Block != merge.Overrides && !loser.Rejected && loser.kind != nil && loser.kind.SameTarget == policy.Stacked {
		if !d.Last && o.Strategy(l.From) == "atomic" || o.clashes(l, to) {
			return "overrides it"
		}
		return d.Place() + "; its overrides beat defaults"
	}
	return d.Words()
}

// clashes reports whether the winner of a loss sets something of what was lost.
func (o *Outcome) clashes(l merge.Loss, to merge.From) bool {
	lost := []merge.Unit{{Path: l.Path, Value: l.Value}}
	for _, b := range o.Layers[to.Layer].sets() {
		if b.Kind == to.Block && !merge.Disjoint(b.Units, lost, o.Layers[to.Layer].kind.Rules) {
			return true
		}
	}
	return false
}

// Strength says what lets a winner of a loss set again what something less specific, or weaker in an order that knows no levels, had set.
func (o *Outcome) Strength(l merge.Loss, to merge.From) string {
	winner, loser := o.Layers[to.Layer], o.Layers[l.From.Layer]
	if winner.Policy.Builtin != "" || loser.Policy.Builtin != "" || loser.Policy.Kind.Leveled() {
		return "more specific"
	}
	d := o.Decision(to.Layer, l.From.Layer)
	if d.Key == nil && winner.Level != loser.Level {
		return "more specific"
	}
	return "stronger in the order of the kind" + d.Brackets()
}
