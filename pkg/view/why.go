package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// why says in one plain sentence why a unit lost, and to whom.
func (w writer) why(l merge.Loss) string {
	switch l.Reason {
	case merge.MoreSpecificWins:
		if len(l.To) == 0 {
			return fmt.Sprintf("set again by %s, which is more specific", w.winners(l))
		}
		return "set again by " + w.strength(l)
	case merge.LessSpecificOverrides:
		return fmt.Sprintf("overridden by %s", w.winners(l))
	case merge.AtomicReplaced:
		if len(l.To) > 0 && l.To[0].Layer < l.From.Layer {
			return fmt.Sprintf("a set without rules gives way: that of %s is adopted", w.winners(l))
		}
		if len(l.To) > 0 && !w.outcome.Layers[l.From.Layer].Policy.Kind.Leveled() {
			return fmt.Sprintf("an atomic default gives way as a whole to %s", w.strength(l))
		}
		return fmt.Sprintf("an atomic default gives way as a whole: %s is already in force", w.winners(l))
	case merge.AtomicOverridden:
		return fmt.Sprintf("replaced with everything else by the atomic override of %s", w.winners(l))
	case merge.SameLevelOrder:
		return w.order(l)
	case merge.Unset:
		return fmt.Sprintf("deactivated by %s", w.winners(l))
	case merge.ConditionFalse:
		return w.condition(l)
	case merge.Conflicted:
		return w.rejection(l)
	case merge.NoEffect:
		if len(l.To) > 0 {
			return fmt.Sprintf("it is as good as not set, and %s has a value", w.winners(l))
		}
		return "there is nothing that it could change"
	case merge.Invalid:
		switch {
		case w.outcome.Void != "" && len(l.To) > 0 && l.To[0].Layer != l.From.Layer:
			return fmt.Sprintf("nothing is in force here: %s", w.outcome.Void)
		case w.outcome.Void != "" && w.outcome.Layers[l.From.Layer].Policy.Fault == "":
			return fmt.Sprintf("nothing is in force here: %s", w.outcome.Void)
		case w.outcome.Layers[l.From.Layer].Fault != "":
			return fmt.Sprintf("the policy is in error on this way: %s", w.outcome.Layers[l.From.Layer].Fault)
		}
		return "the policy is in error, and what is in error is in force nowhere"
	case merge.BuiltInWins:
		if len(l.To) > 0 {
			winner := w.outcome.Layers[l.To[0].Layer]
			return fmt.Sprintf("%s of %s beats policies", winner.Policy.Builtin, w.res.Node(winner.Node).Ref)
		}
	case merge.NotEvaluated:
		return fmt.Sprintf("whether it is in force beside that of %s is not known", w.winners(l))
	case merge.Shadowed:
		return fmt.Sprintf("never reached: %s decides before", w.winners(l))
	case merge.Ignored:
		return "nothing of the policy's kind is read at this place"
	}
	return string(l.Reason)
}

// rejection says which policy keeps the loser out as a whole.
func (w writer) rejection(l merge.Loss) string {
	loser := w.outcome.Layers[l.From.Layer]
	shares := loser.Policy.Kind.SameTarget == policy.Disjoint
	standing := func(to merge.From) string { return w.outcome.Standing(l, to) }
	switch {
	case len(l.To) == 0 && loser.By == nil:
		return "rejected"
	case len(l.To) == 0 && loser.By != nil:
		return fmt.Sprintf("rejected everywhere: %s %s keeps it out of another target", loser.By.Ref().Kind, loser.By.Ref().FullName())
	case shares:
		return "rejected as a whole: " + w.grouped(l, "%s sets something of the same on the same object and %s", standing)
	}
	return "rejected: " + w.grouped(l, "%s targets the same object and %s", standing)
}

// condition says which condition of the block was not met.
func (w writer) condition(l merge.Loss) string {
	if l.Step >= 0 && l.Step < len(w.outcome.Result.Trace) {
		if when, ok := w.outcome.Result.Trace[l.Step].When.(*expression.Condition); ok {
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
		if part := layer.Policy.Part; part != "" {
			name = fmt.Sprintf("%s %s %s (%s)", ref.Kind, ref.FullName(), part, w.res.Node(layer.Node).Ref)
		}
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

// order names the winners among policies of one target, each with what decided.
func (w writer) order(l merge.Loss) string {
	if len(l.To) == 0 {
		return w.winners(l) + " comes before it in the order"
	}
	return w.grouped(l, "%s targets the same object and %s", func(to merge.From) string { return w.outcome.Standing(l, to) })
}

// strength names the winners that come later on the path, or in an order that does not know levels, each with what puts it there.
func (w writer) strength(l merge.Loss) string {
	return w.grouped(l, "%s, which is %s", func(to merge.From) string { return w.outcome.Strength(l, to) })
}

// grouped puts winners into a sentence, those with the same reason together.
func (w writer) grouped(l merge.Loss, format string, reason func(to merge.From) string) string {
	var reasons []string
	by := map[string][]merge.From{}
	for _, to := range l.To {
		how := reason(to)
		if by[how] == nil {
			reasons = append(reasons, how)
		}
		by[how] = append(by[how], to)
	}
	var parts []string
	for _, how := range reasons {
		alike := l
		alike.To = by[how]
		parts = append(parts, fmt.Sprintf(format, w.winners(alike), how))
	}
	return strings.Join(parts, "; ")
}
