package merge

import (
	"slices"
)

// merge applies the strategy of one step to the incoming units and what is effective below them (engine E4).
func (f *folder) merge(p *Plan, acc *accumulator, in []Unit, st *Step) {
	if s := st.Strategy; s.Func == nil && s.Cut != Leaves && s.Wins != Both {
		acc.units, in = f.solid(p, acc.units, st, Replaced), f.solid(p, in, st, Dropped)
	}
	if s := st.Strategy; s.Func == nil && s.Cut == Rules && s.Wins != Both {
		in = sifter{f}.zeros(acc, sifter{f}.choose(acc, in, st), st)
	}
	switch s := st.Strategy; {
	case s.Func != nil:
		units, effects := s.Func(in, acc.units)
		addressed(effects)
		acc.units, acc.grain, st.Effects = units, Whole, append(st.Effects, effects...)
	case s.Wins == Both:
		f.ordered = true
		f.take(st, in)
		acc.units, acc.grain = slices.Concat(in, acc.units), Whole
	case s.Wins == Higher && (s.Cut == Whole || s.Rejects):
		reason := AtomicOverridden
		if s.Rejects {
			reason = Conflicted
		}
		f.replaceAll(acc, in, st, reason)
	case s.Wins == Lower && s.Cut != Leaves && f.empty(p, acc.units):
		f.replaceAll(acc, in, st, AtomicReplaced) // nothing but fillers can be there: the set is adopted
	case s.Wins == Lower && s.Cut == Whole:
		f.drop(st, in, AtomicReplaced, froms(acc.units))
	default:
		f.mix(p, acc, in, st)
	}
}

// solid drops units that are a container without anything in it: an empty object, or a null, where rules stand deeper. Only a merge
// patch has a use for them.
func (f *folder) solid(p *Plan, units []Unit, st *Step, o Action) []Unit {
	shape := f.shape(p)
	if !anyOf(units, func(u *Unit) bool { return u.hollow() && !shape.endsAt(u.Path) }) {
		return units
	}
	return slices.DeleteFunc(slices.Clone(units), func(u Unit) bool {
		gone := u.hollow() && len(u.Path) > 0 && !shape.endsAt(u.Path)
		if gone {
			f.lose(st, u, o, NoEffect, nil)
		}
		return gone
	})
}

// replaceAll puts the incoming units in the place of everything below them.
func (f *folder) replaceAll(acc *accumulator, in []Unit, st *Step, reason Reason) {
	by := froms(in)
	if len(by) == 0 && st.Layer >= 0 { // an empty set that clears
		by = []From{{Layer: st.Layer, Block: st.Block}}
	}
	for _, u := range acc.units {
		f.lose(st, u, Replaced, reason, by)
	}
	f.take(st, in)
	acc.units, acc.grain = in, Whole
}

// mix compares the two sides unit by unit at the strategy's cut.
func (f *folder) mix(p *Plan, acc *accumulator, in []Unit, st *Step) {
	cut := st.Strategy.Cut
	shape := f.shape(p)
	if cut == Leaves {
		shape = leaves
	}
	high := in
	if st.Strategy.Shape != nil && cut == Rules {
		shape = st.Strategy.Shape
	} else {
		high = Recut(in, shape)
	}
	low := acc.units
	if acc.grain != cut || st.Strategy.Shape != nil {
		low = Recut(acc.units, shape)
	}
	acc.grain = cut
	if st.Strategy.Shape != nil {
		acc.grain = Whole
	}
	if cut == Leaves {
		low, high = markNulls(low), markNulls(high)
	}
	target, patch := high, low
	if st.Strategy.Wins == Higher {
		target, patch = low, high
	}
	low, high = f.combine(shape, low, high, st)
	if st.Strategy.Wins == Lower {
		kept, rest, clashes := overlay(low, high)
		f.loseClashes(st, clashes)
		f.stand(st, kept, clashes)
		f.take(st, rest)
		acc.units = shape.reorder(append(kept, rest...), target, patch)
		return
	}
	kept, rest, clashes := overlay(high, low)
	f.loseClashes(st, clashes)
	f.take(st, kept)
	acc.units = shape.reorder(inPlace(low, kept, rest), target, patch)
}

// inPlace orders winners and rest (in the order of before) as they stood: a winner where the unit of its path was, the others behind.
func inPlace(before, winners, rest []Unit) []Unit {
	at := make(map[string]int, len(winners))
	for i := range winners {
		at[winners[i].Path.code()] = i
	}
	placed := make([]bool, len(winners))
	out := make([]Unit, 0, len(winners)+len(rest))
	for i := range before {
		if len(rest) > 0 && rest[0].Path.code() == before[i].Path.code() {
			out, rest = append(out, rest[0]), rest[1:]
		} else if w, ok := at[before[i].Path.code()]; ok && !placed[w] {
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

// loseClashes writes down what the clashes cost.
func (f *folder) loseClashes(st *Step, clashes []clash) {
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
		f.lose(st, c.unit, outcome, why, froms(c.by))
		for _, w := range c.by {
			if w.Null {
				f.erase(w)
			}
		}
	}
}

// stand notes the units of the result that an incoming one ran into.
func (f *folder) stand(st *Step, kept []Unit, clashes []clash) {
	if len(clashes) == 0 {
		return
	}
	against := make(map[string][]From, len(clashes))
	for _, c := range clashes {
		for i := range c.by {
			against[c.by[i].Path.code()] = append(against[c.by[i].Path.code()], c.unit.From...)
		}
	}
	for i := range kept {
		if other := against[kept[i].Path.code()]; other != nil {
			st.Effects = append(st.Effects, effect(&kept[i], Kept, other))
		}
	}
}

// addressed prepares effects that a function wrote.
func addressed(effects []Effect) {
	for i := range effects {
		effects[i].code = effects[i].Path.code()
	}
}

func (f *folder) take(st *Step, units []Unit) {
	st.Effects = slices.Grow(st.Effects, len(units))
	for i := range units {
		st.Effects = append(st.Effects, effect(&units[i], Taken, nil))
	}
}

func (f *folder) drop(st *Step, units []Unit, reason Reason, to []From) {
	for _, u := range units {
		f.lose(st, u, Dropped, reason, to)
	}
}

func effect(u *Unit, o Action, other []From) Effect {
	return Effect{Path: u.Path, Rule: u.Path.String(), code: u.Path.code(), Value: u.Value, From: u.From, Action: o, Other: other}
}

// lose writes down that u lost, for each of its parts and writers.
func (f *folder) lose(st *Step, u Unit, o Action, reason Reason, to []From) {
	u.each(func(part *Unit) {
		for i, from := range part.From {
			e := effect(part, o, to)
			e.From, e.Reason = part.From[i:i+1:i+1], f.sameLevel(from, reason, to)
			st.Effects = append(st.Effects, e)
		}
	})
}

// sameLevel is the reason, or SameLevelOrder where every winner is another layer on the loser's level, at the same target.
func (f *folder) sameLevel(loser From, reason Reason, winners []From) Reason {
	if slices.ContainsFunc(winners, func(w From) bool { return f.stack.Layers[w.Layer].Builtin }) {
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

// together is how many of the last layers share a target and, where the plan says so, are folded as one (engine E8).
func (f *folder) together(p *Plan, layers []int) int {
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

// fill merges the blocks of several layers at one target into what is below them, kind of block by kind: among themselves rule by rule,
// the established one first, or all in their order for a union.
func (f *folder) fill(p *Plan, acc *accumulator, group []int) {
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
				st, units, ok := f.admit(p, acc, incoming{at, b})
				if !ok {
					continue
				}
				ruling = &Step{Plan: p.Name, Layer: at, Block: kind, Strategy: st.Strategy}
				if own.present {
					st.Strategy = among
					f.merge(p, &own, units, &st)
					f.record(st, &own)
				} else {
					own.present, own.units = true, units
					if len(st.Effects) > 0 { // what was deactivated
						f.record(st, acc)
					}
				}
			}
		}
		if ruling != nil {
			f.merge(p, acc, own.units, ruling)
			f.record(*ruling, acc)
		}
	}
}

// deletion is a null of one writer.
type deletion struct {
	from From
	code string
}

// erase notes that a null has deleted something.
func (f *folder) erase(null Unit) {
	if f.erased == nil {
		f.erased = map[deletion]bool{}
	}
	for _, w := range null.From {
		f.erased[deletion{w, null.Path.code()}] = true
	}
}
