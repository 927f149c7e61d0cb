package merge

import "slices"

// mergeUnits applies the strategy of one step to the incoming units and what is effective below
// them (engine E4).
func (f *stackFold) mergeUnits(p *Plan, acc *accumulator, in []Unit, st *Step) {
	if s := st.Strategy; s.Func == nil && s.Cut != Leaves && s.Wins != Both {
		acc.units, in = f.dropEmptyContainers(p, acc.units, st, Replaced), f.dropEmptyContainers(p, in, st, Dropped)
	}
	if s := st.Strategy; s.Func == nil && s.Cut == Rules && s.Wins != Both {
		in = unitFilter{f}.dropZeros(acc, unitFilter{f}.dropOtherChoices(acc, in, st), st)
	}
	switch s := st.Strategy; {
	case s.Func != nil:
		units, effects := s.Func(in, acc.units)
		encodePaths(effects)
		acc.units, acc.cut, st.Effects = units, Whole, append(st.Effects, effects...)
	case s.Wins == Both:
		f.ordered = true
		f.recordTaken(st, in)
		acc.units, acc.cut = slices.Concat(in, acc.units), Whole
	case s.Wins == Higher && (s.Cut == Whole || s.Rejects):
		reason := AtomicOverridden
		if s.Rejects {
			reason = Conflicted
		}
		f.replaceAll(acc, in, st, reason)
	case s.Wins == Lower && s.Cut != Leaves && f.hasOnlyFillers(p, acc.units):
		f.replaceAll(acc, in, st, AtomicReplaced) // nothing but fillers can be there: the set is adopted
	case s.Wins == Lower && s.Cut == Whole:
		f.recordDropped(st, in, AtomicReplaced, sourcesOf(acc.units))
	default:
		f.mergeUnitByUnit(p, acc, in, st)
	}
}

// dropEmptyContainers drops units that are an empty object, or a null, where rules stand deeper.
// Only a merge patch has a use for them.
func (f *stackFold) dropEmptyContainers(p *Plan, units []Unit, st *Step, o Action) []Unit {
	shape := f.shapeOf(p)
	if !hasUnit(units, func(u *Unit) bool { return u.isEmpty() && !shape.cutsAt(u.Path) }) {
		return units
	}
	return slices.DeleteFunc(slices.Clone(units), func(u Unit) bool {
		gone := u.isEmpty() && len(u.Path) > 0 && !shape.cutsAt(u.Path)
		if gone {
			f.recordLoss(st, u, o, NoEffect, nil)
		}
		return gone
	})
}

// replaceAll puts the incoming units in the place of everything below them.
func (f *stackFold) replaceAll(acc *accumulator, in []Unit, st *Step, reason Reason) {
	by := sourcesOf(in)
	if len(by) == 0 && st.Layer >= 0 { // an empty set that clears
		by = []Source{{Layer: st.Layer, Block: st.Block}}
	}
	for _, u := range acc.units {
		f.recordLoss(st, u, Replaced, reason, by)
	}
	f.recordTaken(st, in)
	acc.units, acc.cut = in, Whole
}

// mergeUnitByUnit compares the two sides unit by unit at the strategy's cut.
func (f *stackFold) mergeUnitByUnit(p *Plan, acc *accumulator, in []Unit, st *Step) {
	cut := st.Strategy.Cut
	shape := f.shapeOf(p)
	if cut == Leaves {
		shape = leafShape
	}
	high := in
	if st.Strategy.Shape != nil && cut == Rules {
		shape = st.Strategy.Shape
	} else {
		high = Recut(in, shape)
	}
	low := acc.units
	if acc.cut != cut || st.Strategy.Shape != nil {
		low = Recut(acc.units, shape)
	}
	acc.cut = cut
	if st.Strategy.Shape != nil {
		acc.cut = Whole
	}
	if cut == Leaves {
		low, high = markNulls(low), markNulls(high)
	}
	target, patch := high, low
	if st.Strategy.Wins == Higher {
		target, patch = low, high
	}
	low, high = f.combineUnits(shape, low, high, st)
	if st.Strategy.Wins == Lower {
		kept, rest, clashes := overlayUnits(low, high)
		f.recordClashes(st, clashes)
		f.recordKept(st, kept, clashes)
		f.recordTaken(st, rest)
		acc.units = shape.reorderEntries(append(kept, rest...), target, patch)
		return
	}
	kept, rest, clashes := overlayUnits(high, low)
	f.recordClashes(st, clashes)
	f.recordTaken(st, kept)
	acc.units = shape.reorderEntries(keepPlaces(low, kept, rest), target, patch)
}

// keepPlaces orders winners and rest (in the order of before) as they stood: a winner where the
// unit of its path was, the others behind.
func keepPlaces(before, winners, rest []Unit) []Unit {
	at := make(map[string]int, len(winners))
	for i := range winners {
		at[winners[i].Path.encode()] = i
	}
	placed := make([]bool, len(winners))
	out := make([]Unit, 0, len(winners)+len(rest))
	for i := range before {
		if len(rest) > 0 && rest[0].Path.encode() == before[i].Path.encode() {
			out, rest = append(out, rest[0]), rest[1:]
		} else if w, ok := at[before[i].Path.encode()]; ok && !placed[w] {
			out = append(out, winners[w])
			placed[w] = true
		}
	}
	for i, done := range placed {
		if !done {
			out = append(out, winners[i])
		}
	}
	return out
}

// markNulls turns null leaves into deletions; inside a merge patch a null is never a value.
func markNulls(units []Unit) []Unit {
	for i := range units {
		if units[i].Value == nil && units[i].Parts == nil {
			units[i].Null = true
		}
	}
	return units
}

// recordClashes records the losses of the clashes.
func (f *stackFold) recordClashes(st *Step, clashes []clash) {
	reason := MoreSpecificWins
	if st.Strategy.Wins == Higher {
		reason = LessSpecificOverrides
	}
	for _, c := range clashes {
		outcome, why := Replaced, reason
		if c.winning == (st.Strategy.Wins == Higher) { // of the incoming side
			outcome = Dropped
		}
		if c.void {
			why = NoEffect
		}
		f.recordLoss(st, c.unit, outcome, why, sourcesOf(c.by))
		for _, w := range c.by {
			if w.Null {
				f.markDeleted(w)
			}
		}
	}
}

// recordKept records the units of the result that an incoming one ran into.
func (f *stackFold) recordKept(st *Step, kept []Unit, clashes []clash) {
	if len(clashes) == 0 {
		return
	}
	against := make(map[string][]Source, len(clashes))
	for _, c := range clashes {
		for i := range c.by {
			against[c.by[i].Path.encode()] = append(against[c.by[i].Path.encode()], c.unit.From...)
		}
	}
	for i := range kept {
		if other := against[kept[i].Path.encode()]; other != nil {
			st.Effects = append(st.Effects, newEffect(&kept[i], Kept, other))
		}
	}
}

// encodePaths prepares effects that a function wrote.
func encodePaths(effects []Effect) {
	for i := range effects {
		effects[i].code = effects[i].Path.encode()
	}
}

func (f *stackFold) recordTaken(st *Step, units []Unit) {
	st.Effects = slices.Grow(st.Effects, len(units))
	for i := range units {
		st.Effects = append(st.Effects, newEffect(&units[i], Taken, nil))
	}
}

func (f *stackFold) recordDropped(st *Step, units []Unit, reason Reason, to []Source) {
	for _, u := range units {
		f.recordLoss(st, u, Dropped, reason, to)
	}
}

func newEffect(u *Unit, o Action, other []Source) Effect {
	return Effect{Path: u.Path, Rule: u.Path.String(), code: u.Path.encode(), Value: u.Value, From: u.From,
		Action: o, Other: other}
}

// recordLoss records that u lost, for each of its parts and writers.
func (f *stackFold) recordLoss(st *Step, u Unit, o Action, reason Reason, to []Source) {
	u.eachPart(func(part *Unit) {
		for i, from := range part.From {
			e := newEffect(part, o, to)
			e.From, e.Reason = part.From[i:i+1:i+1], f.refineReason(from, reason, to)
			st.Effects = append(st.Effects, e)
		}
	})
}

// refineReason returns the reason, or SameLevelOrder where every winner is another layer on the
// loser's level at the same target, or BuiltInWins where no policy wrote a winner.
func (f *stackFold) refineReason(loser Source, reason Reason, winners []Source) Reason {
	if slices.ContainsFunc(winners, func(w Source) bool { return f.stack.Layers[w.Layer].Builtin }) {
		return BuiltInWins
	}
	switch reason {
	case MoreSpecificWins, LessSpecificOverrides, AtomicReplaced, AtomicOverridden:
	default:
		return reason
	}
	own := f.stack.Layers[loser.Layer]
	for _, w := range winners {
		l := f.stack.Layers[w.Layer]
		if w.Layer == loser.Layer || l.Level != own.Level || l.Hop != own.Hop || l.Target != own.Target {
			return reason
		}
	}
	if len(winners) == 0 {
		return reason
	}
	return SameLevelOrder
}

// countSameTarget returns how many of the last layers share a target and, where the plan says so,
// are folded as one (engine E8).
func (f *stackFold) countSameTarget(p *Plan, layers []int) int {
	n := 1
	if p.SameTarget == Stacked {
		return n
	}
	last := f.stack.Layers[layers[len(layers)-1]]
	for n < len(layers) {
		l := f.stack.Layers[layers[len(layers)-1-n]]
		if l.Level != last.Level || l.Hop != last.Hop || l.Target != last.Target {
			break
		}
		n++
	}
	return n
}

// mergeSameTarget merges the blocks of several layers at one target into what is below them, kind
// of block by kind: among themselves rule by rule, the established one first, or all in their order
// for a union.
func (f *stackFold) mergeSameTarget(p *Plan, acc *accumulator, group []int) {
	among := Strategy{Wins: Higher, Cut: Rules}
	if p.SameTarget == Union {
		among = Strategy{Wins: Both}
	}
	for _, kind := range []BlockKind{Defaults, Bare, Overrides} {
		var own accumulator
		var ruling *Step
		for _, at := range slices.Backward(group) {
			for _, b := range f.stack.Layers[at].Blocks {
				if b.Kind != kind {
					continue
				}
				st, units, ok := f.admitBlock(p, acc, incomingBlock{at, b})
				if !ok {
					continue
				}
				ruling = &Step{Plan: p.Name, Layer: at, Block: kind, Strategy: st.Strategy}
				if own.present {
					st.Strategy = among
					f.mergeUnits(p, &own, units, &st)
					f.recordStep(st, &own)
				} else {
					own.present, own.units = true, units
					if len(st.Effects) > 0 { // what was deactivated
						f.recordStep(st, acc)
					}
				}
			}
		}
		if ruling != nil {
			f.mergeUnits(p, acc, own.units, ruling)
			f.recordStep(*ruling, acc)
		}
	}
}

// deletion is a null of one writer.
type deletion struct {
	from Source
	code string
}

// markDeleted records that a null has deleted something.
func (f *stackFold) markDeleted(null Unit) {
	if f.deletions == nil {
		f.deletions = map[deletion]bool{}
	}
	for _, w := range null.From {
		f.deletions[deletion{w, null.Path.encode()}] = true
	}
}
