package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// defeat is how a policy lost its place to another one.
type defeat struct {
	by       *policy.Policy
	decision merge.Decision
}

// decide says what puts one of two policies of a place before the other. What filters name stands in their order, whatever the comparator says.
func (k *Kind) decide(winner, loser policy.Attached, ageIgnored bool) merge.Decision {
	if winner.Level == policy.FilterLevel && loser.Level == policy.FilterLevel {
		return merge.Decision{Criterion: merge.CriterionPosition, Called: "the order of the filters", Last: winner.Index > loser.Index}
	}
	return k.Decide(winner, loser, ageIgnored)
}

// decider says of the losses of a verdict what decided.
type decider struct {
	*Verdict
	known map[[2]int]merge.Decision // what orders two layers
}

func (d *decider) ordered(winner, loser int) merge.Decision {
	at := [2]int{winner, loser}
	out, ok := d.known[at]
	if !ok {
		if d.known == nil {
			d.known = map[[2]int]merge.Decision{}
		}
		out = d.order(winner, loser)
		d.known[at] = out
	}
	return out
}

// decide says what decided a loss, while the layers are folded.
func (d *decider) decide(trace []merge.Step, l *merge.Loss, to merge.From) merge.Decision {
	winner, loser := &d.Layers[to.Layer], &d.Layers[l.From.Layer]
	switch l.Reason {
	case merge.MoreSpecificWins, merge.AtomicReplaced:
		if winner.Policy.Builtin == "" && loser.Policy.Builtin == "" && !loser.Policy.Kind.Leveled() {
			if by := d.ordered(to.Layer, l.From.Layer); by.Criterion != merge.CriterionOrder || by.Called != "" || winner.Level == loser.Level {
				return by
			}
		}
		if l.Reason == merge.AtomicReplaced && loser.Policy.Kind.Leveled() {
			return merge.Decision{Criterion: merge.CriterionStrategy, Winner: d.strategy(trace, to), Loser: d.strategy(trace, l.From)}
		}
		return merge.Decision{Criterion: merge.CriterionLevel, Winner: string(winner.Level), Loser: string(loser.Level)}
	case merge.LessSpecificOverrides, merge.AtomicOverridden:
		if to.Block == l.From.Block {
			return merge.Decision{Criterion: merge.CriterionLevel, Winner: string(winner.Level), Loser: string(loser.Level)}
		}
		return merge.Decision{Criterion: merge.CriterionBlock, Winner: to.Block.String(), Loser: l.From.Block.String()}
	case merge.BuiltInWins:
		return merge.Decision{Criterion: merge.CriterionBuiltin}
	case merge.SameLevelOrder, merge.Conflicted:
		return d.standing(trace, l, to, d.ordered(to.Layer, l.From.Layer))
	}
	return merge.Decision{}
}

// order says what puts one of two layers before or behind the other.
func (o *Verdict) order(winner, loser int) merge.Decision {
	w, l := &o.Layers[winner], &o.Layers[loser]
	switch {
	case l.Rejected:
		return l.decision
	case w.attached.Policy == nil || l.attached.Policy == nil || w.run != l.run: // nothing that a comparator has ordered
		return merge.Decision{Criterion: merge.CriterionOrder, Last: winner > loser}
	}
	return l.kind.decide(w.attached, l.attached, w.timeless || l.timeless)
}

// standing is what decided on one target, where d puts the winner before or behind the loser. The order of the policies does, unless the one
// overrides what the other leaves to be overridden.
func (o *Verdict) standing(trace []merge.Step, l *merge.Loss, to merge.From, d merge.Decision) merge.Decision {
	loser := &o.Layers[l.From.Layer]
	if to.Block != merge.Overrides || l.From.Block == merge.Overrides || loser.Rejected || loser.kind == nil || loser.kind.SameTarget != policy.Stacked {
		return d
	}
	if !d.Last && o.strategy(trace, l.From) == "atomic" || o.clashes(l, to) {
		return merge.Decision{Criterion: merge.CriterionBlock, Winner: to.Block.String(), Loser: l.From.Block.String()}
	}
	d.Overrides = true
	return d
}

// clashes reports whether the winner of a loss sets something of what was lost.
func (o *Verdict) clashes(l *merge.Loss, to merge.From) bool {
	lost := []merge.Unit{{Path: l.Path, Value: l.Value}}
	for _, b := range o.Layers[to.Layer].sets() {
		if b.Kind == to.Block && !merge.Disjoint(b.Units, lost, o.Layers[to.Layer].kind.Rules) {
			return true
		}
	}
	return false
}
