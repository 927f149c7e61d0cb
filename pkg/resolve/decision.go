package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
)

// lossDecider says of the losses of a verdict what decided.
type lossDecider struct {
	*Verdict
	known map[[2]int]merge.Decision // what orders two layers
}

func (d *lossDecider) orderOf(winner, loser int) merge.Decision {
	at := [2]int{winner, loser}
	out, ok := d.known[at]
	if !ok {
		if d.known == nil {
			d.known = map[[2]int]merge.Decision{}
		}
		out = d.orderDecision(winner, loser)
		d.known[at] = out
	}
	return out
}

// decideLoss says what decided a loss, while the layers are folded.
func (d *lossDecider) decideLoss(trace []merge.Step, l *merge.Loss, to merge.Source) merge.Decision {
	winner, loser := &d.Layers[to.Layer], &d.Layers[l.From.Layer]
	switch l.Reason {
	case merge.MoreSpecificWins, merge.AtomicReplaced:
		if winner.Policy.Builtin == "" && loser.Policy.Builtin == "" && !loser.Policy.Kind.IsByLevel() {
			if by := d.orderOf(to.Layer, l.From.Layer); by.Criterion != merge.CriterionOrder || by.KeyName != "" ||
				winner.Level == loser.Level {
				return by
			}
		}
		if l.Reason == merge.AtomicReplaced && loser.Policy.Kind.IsByLevel() {
			return merge.Decision{Criterion: merge.CriterionStrategy, Winner: d.strategyInTrace(trace, to),
				Loser: d.strategyInTrace(trace, l.From)}
		}
		return merge.Decision{Criterion: merge.CriterionLevel, Winner: string(winner.Level), Loser: string(loser.Level)}
	case merge.LessSpecificOverrides, merge.AtomicOverridden:
		if to.Block == l.From.Block {
			return merge.Decision{Criterion: merge.CriterionLevel, Winner: string(winner.Level),
				Loser: string(loser.Level)}
		}
		return merge.Decision{Criterion: merge.CriterionBlock, Winner: to.Block.String(), Loser: l.From.Block.String()}
	case merge.BuiltInWins:
		return merge.Decision{Criterion: merge.CriterionBuiltin}
	case merge.SameLevelOrder, merge.Conflicted:
		return d.targetDecision(trace, l, to, d.orderOf(to.Layer, l.From.Layer))
	}
	return merge.Decision{}
}

// orderDecision says what puts one of two layers before or behind the other.
func (o *Verdict) orderDecision(winner, loser int) merge.Decision {
	w, l := &o.Layers[winner], &o.Layers[loser]
	switch {
	case l.Rejected:
		return l.decision
	// nothing that a comparator has ordered
	case w.attached.Policy == nil || l.attached.Policy == nil || w.run != l.run:
		return merge.Decision{Criterion: merge.CriterionOrder, Last: winner > loser}
	}
	return attach.DecisionBetween(l.kind.Kind, w.attached, l.attached, w.ageIgnored || l.ageIgnored)
}

// targetDecision says what decided on one target, where d puts the winner before or behind the
// loser. The order of the policies does, unless the one overrides what the other leaves to be
// overridden.
func (o *Verdict) targetDecision(trace []merge.Step, l *merge.Loss, to merge.Source, d merge.Decision) merge.Decision {
	loser := &o.Layers[l.From.Layer]
	if to.Block != merge.Overrides || l.From.Block == merge.Overrides || loser.Rejected || loser.kind == nil ||
		loser.kind.SameTarget != policy.Stacked {
		return d
	}
	if !d.Last && o.strategyInTrace(trace, l.From) == "atomic" || o.setsLost(l, to) {
		return merge.Decision{Criterion: merge.CriterionBlock, Winner: to.Block.String(), Loser: l.From.Block.String()}
	}
	d.Overrides = true
	return d
}

// setsLost reports whether the winner of a loss sets something of what was lost.
func (o *Verdict) setsLost(l *merge.Loss, to merge.Source) bool {
	lost := []merge.Unit{{Path: l.Path, Value: l.Value}}
	for _, b := range o.Layers[to.Layer].blocksAtPlace() {
		if b.Kind == to.Block && !merge.IsDisjoint(b.Units, lost, o.Layers[to.Layer].kind.Rules) {
			return true
		}
	}
	return false
}
