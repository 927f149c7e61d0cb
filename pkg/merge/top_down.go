package merge

import "slices"

// FoldTopDown folds s from the top as well, as GEP-713's provisional process reads to the letter:
// the two upper policies are merged by the higher one's strategy, and the result carries the lower
// one's from then on. It returns that result, and whether it differs from that of Fold (gep713
// P25-P27). Only plans of one fold can differ, and only stacks that hold a pair of strategies for
// which the direction matters; for all others it returns false without folding.
func FoldTopDown(plans []Plan, rules Shape, s Stack) (Result, bool) {
	if len(plans) != 1 || !plans[0].isSingleFold() || plans[0].Strategy != nil || plans[0].SameTarget != Stacked {
		return Result{}, false
	}
	s = s.withoutRejected()
	if !directionMatters(s.establishedBlocks()) {
		return Result{}, false
	}
	bottomUp := Fold(plans, rules, s)
	left := s.withoutSkipped(bottomUp.Trace)
	blocks := left.establishedBlocks()
	if policies := slices.DeleteFunc(left.Layers, func(l Layer) bool { return len(l.Blocks) == 0 }); len(
		policies) < 3 || !directionMatters(blocks) {
		return Result{}, false
	}
	f := newStackFold(rules, s)
	p := &plans[0]
	top := accumulator{units: f.unitsForPlan(p, blocks[0])}
	for i := 1; i < len(blocks); i++ {
		upper := top.units
		top = accumulator{units: f.unitsForPlan(p, blocks[i])}
		st := Step{Layer: blocks[i-1].layer, Block: blocks[i-1].Kind, Strategy: blocks[i-1].Strategy}
		f.mergeUnits(p, &top, upper, &st)
	}
	topDown := foldEnd{f}.buildResult(top.units)
	return topDown, !haveSameRules(topDown, bottomUp)
}

// withoutRejected returns the stack less the layers that take no part.
func (s Stack) withoutRejected() Stack {
	s.Layers, s.Void, s.Decide = slices.DeleteFunc(slices.Clone(s.Layers),
		func(l Layer) bool { return l.Rejected != nil }), nil, nil
	return s
}

// withoutSkipped returns the stack less what a fold left out for reasons that have nothing to do
// with its direction: blocks whose condition was not met, and deactivated rules.
func (s Stack) withoutSkipped(trace []Step) Stack {
	out := Stack{Name: s.Name, Layers: slices.Clone(s.Layers), Hops: s.Hops}
	for _, st := range trace {
		if st.Layer < 0 {
			continue
		}
		gone := map[string]bool{}
		for _, e := range st.Effects {
			if e.Reason == Unset || e.Reason == ConditionFalse {
				gone[e.Path.encode()] = true
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
				b.Units = Recut(b.Units, leafShape)
			}
			l.Blocks[i].Units = slices.DeleteFunc(slices.Clone(b.Units),
				func(u Unit) bool { return gone[u.Path.encode()] })
		}
		l.Blocks = slices.DeleteFunc(l.Blocks, func(b Block) bool { return st.Skipped != "" && b.Kind == st.Block })
	}
	return out
}

// establishedBlocks lists the blocks of a stack, the one that is merged last first.
func (s Stack) establishedBlocks() []incomingBlock {
	var out []incomingBlock
	for i, l := range s.Layers {
		for _, b := range slices.Backward(l.Blocks) {
			out = append(out, incomingBlock{i, b})
		}
	}
	return out
}

// directionMatters reports whether a pair of strategies of gep713 P26 occurs above the lowest
// block: the upper one of patch or merge, or an atomic override, over anything but an atomic
// override; atomic defaults never matter.
func directionMatters(blocks []incomingBlock) bool {
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

func haveSameRules(a, b Result) bool {
	return slices.EqualFunc(a.Rules, b.Rules, func(x, y Rule) bool {
		return x.Name == y.Name && slices.Equal(x.From, y.From) && Equal(x.Value, y.Value)
	})
}
