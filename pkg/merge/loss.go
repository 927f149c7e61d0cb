package merge

import (
	"cmp"
	"slices"
	"strings"
)

// isPlaceholder reports whether a block has no unit for the whole of the settings: the fold only
// let it hold a place.
func (f foldEnd) isPlaceholder(from Source) bool {
	return !slices.ContainsFunc(f.stack.Layers[from.Layer].Blocks, func(b Block) bool {
		return b.Kind == from.Block && slices.ContainsFunc(b.Units, func(u Unit) bool { return len(u.Path) == 0 })
	})
}

// addIgnored adds a loss for every unit that no plan looked at.
func (f foldEnd) addIgnored(units []Unit) {
	exact, met := map[Source]map[string]bool{}, map[Source]map[string]bool{}
	see := func(from []Source, code string) {
		for _, w := range from {
			if met[w] == nil {
				exact[w], met[w] = map[string]bool{}, map[string]bool{}
			}
			exact[w][code], met[w][code] = true, true
			for up := range ancestorsOf(code) {
				met[w][up] = true
			}
		}
	}
	seen := func(from Source, code string) bool {
		if met[from][code] {
			return true
		}
		for up := range ancestorsOf(code) {
			if exact[from][up] {
				return true
			}
		}
		return false
	}
	for _, st := range f.trace {
		for _, e := range st.Effects {
			see(e.From, e.code)
		}
	}
	for i := range units {
		see(units[i].From, units[i].Path.encode())
	}
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for i, l := range f.stack.Layers {
		if l.Rejected != nil {
			continue
		}
		for _, b := range l.Blocks {
			for _, u := range b.Units {
				from := Source{Layer: i, Block: b.Kind, Filled: u.Filled}
				if u.From == nil && !seen(from, u.Path.encode()) {
					u.From = []Source{from}
					f.recordLoss(&last, u, Dropped, Ignored, nil)
				}
			}
		}
	}
	if len(last.Effects) > 0 {
		f.trace = append(f.trace, last)
	}
}

// collectLosses reads the trace: every unit that was dropped or replaced and is no source of the
// result, each once per writer. Leaves that were lost for the same reason are joined to the rule
// that they make up.
func (f foldEnd) collectLosses(units []Unit) []Loss {
	if !slices.ContainsFunc(f.trace, func(st Step) bool { return slices.ContainsFunc(st.Effects, f.isLoss) }) {
		return nil
	}
	type setting struct {
		from Source
		code string
	}
	done := map[setting]bool{} // what stands, and what is written down already
	for i := range units {
		units[i].eachPart(func(part *Unit) {
			for _, w := range part.From {
				done[setting{w, part.Path.encode()}] = true
			}
		})
	}
	var out []Loss
	for i, st := range f.trace {
		var lost []Effect
		for _, e := range st.Effects {
			if !f.isLoss(e) || done[setting{e.From[0], e.code}] || e.code == "" && (e.Value == nil ||
				isEmptyObject(e.Value)) && f.isPlaceholder(e.From[0]) {
				continue
			}
			done[setting{e.From[0], e.code}] = true
			lost = append(lost, e)
		}
		slices.SortStableFunc(lost, func(a, b Effect) int { return a.From[0].compare(b.From[0]) })
		for len(lost) > 0 {
			from, n := lost[0].From[0], 1
			for n < len(lost) && lost[n].From[0] == from {
				n++
			}
			out = f.joinLosses(out, from, lost[:n], i)
			lost = lost[n:]
		}
	}
	slices.SortFunc(out, func(a, b Loss) int {
		if c := cmp.Or(strings.Compare(a.Rule, b.Rule), a.From.compare(b.From), cmp.Compare(a.Step, b.Step)); c != 0 {
			return c
		}
		return strings.Compare(a.Path.encode(), b.Path.encode())
	})
	return out
}

// isLoss reports whether the effect is a loss. What nobody wrote is nobody's loss.
func (f foldEnd) isLoss(e Effect) bool {
	return (e.Action == Replaced || e.Action == Dropped) && !(len(e.From) > 0 && (e.From[0].Filled ||
		f.stack.Layers[e.From[0].Layer].Unwritten))
}

// joinLosses adds the losses of what one writer lost in one step, as the loss of a whole rule where
// all its parts were lost in the same way.
func (f foldEnd) joinLosses(out []Loss, from Source, effects []Effect, step int) []Loss {
	wrote := f.rulesWrittenBy(from)
	plain := func(e Effect) { out = append(out, newLoss(e, from, step, f.trace, f.stack.Decide)) }
	var parts map[int][]Effect // by the rule that they are parts of
	for _, e := range effects {
		at := wrote.findRule(e.code)
		if at < 0 || len(wrote.rules[at].Path) == len(e.Path) || hasListEntry(e.Path[len(wrote.rules[at].Path):]) {
			plain(e)
			continue
		}
		if parts == nil {
			parts = map[int][]Effect{}
		}
		parts[at] = append(parts[at], e)
	}
	for at, mine := range parts {
		rule, first := wrote.rules[at], mine[0]
		alike := !slices.ContainsFunc(mine, func(e Effect) bool {
			return e.Reason != first.Reason ||
				!slices.Equal(e.Other, first.Other)
		})
		// leaves are not looked for in lists
		if all := Recut(rule.finestParts(), leafShape); alike && len(mine) == len(all) &&
			len(all[0].Path) >= len(rule.Path) {
			first.Rule, first.Path, first.Value = rule.Path.String(), rule.Path, rule.Value
			plain(first)
			continue
		}
		for _, e := range mine {
			plain(e)
		}
	}
	return out
}

// applyVoid empties the result where nothing is in force, and records every setting as lost.
func (f foldEnd) applyVoid(r *Result) {
	v := f.stack.Void
	if v == nil {
		return
	}
	r.Rules, r.Lost, r.units = nil, nil, nil
	for i := range f.stack.Layers {
		if l := &f.stack.Layers[i]; l.Rejected != nil || l.Unwritten {
			continue
		}
		by := v.By
		if i == by { // it loses to nobody but itself
			by = -1
		}
		r.Lost = append(r.Lost, f.lossesOfLayer(i, Invalid, by)...)
	}
	slices.SortStableFunc(r.Lost, func(a, b Loss) int { return strings.Compare(a.Rule, b.Rule) })
}

// addRejected records the losses of the layers that took no part.
func (f foldEnd) addRejected(r *Result) {
	var named map[string]int // nil: no layer was rejected so far
	for i := range f.stack.Layers {
		out := f.stack.Layers[i].Rejected
		if out == nil {
			continue
		}
		if named == nil {
			named = r.ruleFinder()
		}
		for _, loss := range f.lossesOfLayer(i, out.Reason, out.By) {
			if at, ok := named[loss.Rule]; ok {
				r.Rules[at].Lost = append(r.Rules[at].Lost, loss)
			} else {
				r.Lost = append(r.Lost, loss)
			}
		}
	}
}

// lossesOfLayer returns the losses of a layer none of whose settings is in force, to the last block
// of layer by; -1: to nobody.
func (f foldEnd) lossesOfLayer(at int, reason Reason, by int) (out []Loss) {
	var to []Source
	if by >= 0 {
		to = []Source{{Layer: by, Block: f.stack.Layers[by].mainBlock()}}
	}
	for _, b := range f.stack.Layers[at].writtenBlocks() {
		for _, u := range Recut(b.Units, f.rules) {
			if u.Filled { // what nobody wrote is nobody's loss
				continue
			}
			l := Loss{Rule: u.Path.String(), Path: u.Path, Value: u.Value, From: Source{Layer: at, Block: b.Kind},
				Reason: reason, Step: -1}
			l.setWinners(to, f.trace, f.stack.Decide)
			out = append(out, l)
		}
	}
	return out
}

// writtenBlocks returns the blocks that the layer's policy sets.
func (l *Layer) writtenBlocks() []Block {
	if l.Written != nil {
		return l.Written
	}
	return l.Blocks
}

// mainBlock returns the kind of the block that is merged last.
func (l *Layer) mainBlock() BlockKind {
	if wrote := l.writtenBlocks(); len(wrote) > 0 {
		return wrote[len(wrote)-1].Kind
	}
	return Bare
}
