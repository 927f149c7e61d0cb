package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// why says in one plain sentence why a unit lost, and to whom.
func (w writer) why(l merge.Loss) string {
	switch l.Reason {
	case merge.MoreSpecificWins:
		return fmt.Sprintf("set again by %s, which is more specific", w.winners(l))
	case merge.LessSpecificOverrides:
		return fmt.Sprintf("overridden by %s", w.winners(l))
	case merge.AtomicReplaced:
		if len(l.To) > 0 && l.To[0].Layer < l.From.Layer {
			return fmt.Sprintf("a set without rules gives way: that of %s is adopted", w.winners(l))
		}
		return fmt.Sprintf("an atomic default gives way as a whole: %s is already in force", w.winners(l))
	case merge.AtomicOverridden:
		return fmt.Sprintf("replaced with everything else by the atomic override of %s", w.winners(l))
	case merge.SameLevelOrder:
		return fmt.Sprintf("%s targets the same object and comes first %s", w.winners(l), w.order(l))
	case merge.Unset:
		return fmt.Sprintf("deactivated by %s", w.winners(l))
	case merge.ConditionFalse:
		return w.condition(l)
	case merge.Conflicted:
		return fmt.Sprintf("rejected: %s targets the same object and comes first %s", w.winners(l), w.order(l))
	case merge.NoEffect:
		return "there is nothing that it could change"
	case merge.Ignored:
		return "nothing of the policy's kind is read at this place"
	}
	return string(l.Reason)
}

// condition says which condition of the block was not met.
func (w writer) condition(l merge.Loss) string {
	if l.Step >= 0 && l.Step < len(w.outcome.Result.Trace) {
		if when, ok := w.outcome.Result.Trace[l.Step].When.(*policy.Condition); ok {
			return fmt.Sprintf("its condition is not met: %s", when.Text)
		}
	}
	return "its condition is not met"
}

// winners names the policies that won, up to three.
func (w writer) winners(l merge.Loss) string {
	const most = 3
	var names []string
	for _, to := range l.To {
		layer := w.outcome.Layers[to.Layer]
		ref := layer.Policy.Ref()
		name := fmt.Sprintf("%s %s (%s)", ref.Kind, ref.FullName(), w.res.Node(layer.Node).Ref)
		if to.Layer == l.From.Layer {
			name = "the policy's own " + to.Block.String() + " set"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the set below it"
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// order says what put the winner first among policies of one target.
func (w writer) order(l merge.Loss) string {
	loser := w.outcome.Layers[l.From.Layer]
	if loser.ByName() {
		return "by name: no creation time"
	}
	if len(l.To) == 0 {
		return ""
	}
	winner := w.outcome.Layers[l.To[0].Layer].Policy.Object.Created
	switch winner.Compare(loser.Policy.Object.Created) {
	case 0:
		return "by name: created in the same second"
	case 1:
		return "as the newer"
	}
	return "as the older"
}
