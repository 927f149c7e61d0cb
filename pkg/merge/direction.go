package merge

import (
	"slices"
)

// OrderSensitive folds s from the top as well, as GEP-713's provisional process reads to the letter: the two upper policies are
// merged by the higher one's strategy, and the result carries the lower one's from then on. It returns that result, and whether it
// says something else than Fold does (gep713 P25-P27). Only plans of one fold can differ, and only stacks that hold a pair of
// strategies for which the direction matters; for all others it returns false without folding.
func OrderSensitive(plans []Plan, rules Shape, s Stack) (Result, bool) {
	if len(plans) != 1 || !plans[0].simple() || plans[0].Strategy != nil || plans[0].SameTarget != Stacked {
		return Result{}, false
	}
	s = s.taking()
	if !directionMatters(s.established()) {
		return Result{}, false
	}
	bottomUp := Fold(plans, rules, s)
	left := s.without(bottomUp.Trace)
	blocks := left.established()
	if policies := slices.DeleteFunc(left.Layers, func(l Layer) bool { return len(l.Blocks) == 0 }); len(policies) < 3 || !directionMatters(blocks) {
		return Result{}, false
	}
	f := newFolder(rules, s)
	p := &plans[0]
	top := accumulator{units: f.signed(p, blocks[0])}
	for i := 1; i < len(blocks); i++ {
		upper := top.units
		top = accumulator{units: f.signed(p, blocks[i])}
		st := Step{Layer: blocks[i-1].at, Block: blocks[i-1].Kind, Strategy: blocks[i-1].Strategy}
		f.merge(p, &top, upper, &st)
	}
	topDown := f.finish(top.units)
	return topDown, !sameRules(topDown, bottomUp)
}

// taking is the stack less the layers that take no part.
func (s Stack) taking() Stack {
	s.Layers, s.Void, s.Decide = slices.DeleteFunc(slices.Clone(s.Layers), func(l Layer) bool { return l.Rejected != nil }), nil, nil
	return s
}

// without is the stack less what a fold left out for reasons that have nothing to do with its direction: blocks whose condition was not
// met, and deactivated rules.
func (s Stack) without(trace []Step) Stack {
	out := Stack{Name: s.Name, Layers: slices.Clone(s.Layers), Hops: s.Hops}
	for _, st := range trace {
		if st.Layer < 0 {
			continue
		}
		gone := map[string]bool{}
		for _, e := range st.Effects {
			if e.Reason == Unset || e.Reason == ConditionFalse {
				gone[e.Path.code()] = true
			}
		}
		if len(gone) == 0 {
			continue
		}
		l := &out.Layers[st.Layer]
		l.Blocks = slices.Clone(l.Blocks)
		for i, b := range l.Blocks {
			if b.Kind != st.Block {
				continue
			}
			if b.Strategy.Cut == Leaves {
				b.Units = Recut(b.Units, leaves)
			}
			l.Blocks[i].Units = slices.DeleteFunc(slices.Clone(b.Units), func(u Unit) bool { return gone[u.Path.code()] })
		}
		l.Blocks = slices.DeleteFunc(l.Blocks, func(b Block) bool { return st.Skipped != "" && b.Kind == st.Block })
	}
	return out
}

// established lists the blocks of a stack, the one that is merged last first.
func (s Stack) established() []incoming {
	var out []incoming
	for i, l := range s.Layers {
		for _, b := range slices.Backward(l.Blocks) {
			out = append(out, incoming{i, b})
		}
	}
	return out
}

// directionMatters reports whether a pair of strategies of gep713 P26 occurs above the lowest block: the upper one of patch or merge,
// or an atomic override, over anything but an atomic override; atomic defaults never matter.
func directionMatters(blocks []incoming) bool {
	for i := 0; i+2 < len(blocks); i++ {
		a := blocks[i].Strategy
		if a.Cut == Whole && a.Wins == Lower {
			continue
		}
		for _, b := range blocks[i+1 : len(blocks)-1] {
			if b.Strategy.Cut != Whole || b.Strategy.Wins == Lower {
				return true
			}
		}
	}
	return false
}

func sameRules(a, b Result) bool {
	return slices.EqualFunc(a.Rules, b.Rules, func(x, y Rule) bool {
		return x.Name == y.Name && slices.Equal(x.From, y.From) && Equal(x.Value, y.Value)
	})
}
