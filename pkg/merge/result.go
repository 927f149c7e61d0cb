package merge

import (
	"slices"
	"strconv"
	"strings"
)

// foldEnd accounts for everything at the end of a fold.
type foldEnd struct{ *stackFold }

// buildResult turns what is in force at the end into a Result, and reads the losses off the trace.
func (f foldEnd) buildResult(units []Unit) Result {
	units = f.dropPlaceholders(f.dropFillers(f.dropNulls(units)))
	last := Step{Layer: -1, Block: Bare, Closing: true}
	if units = f.dropEmptyContainers(&Plan{}, units, &last, Replaced); len(last.Effects) > 0 {
		f.trace = append(f.trace, last)
	}
	r := Result{Ordered: f.ordered, Groups: f.groups, units: f.numberRepeats(units), decide: f.stack.Decide}
	r.Rules = rulesOf(units, f.rules)
	if f.orderedByFunc {
		r.Rules = rulesInOrder(units)
	}
	if !f.ordered {
		slices.SortStableFunc(r.Rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	}
	if f.partial {
		f.addIgnored(units)
	}
	r.Trace = f.trace
	f.assignLosses(&r, f.collectLosses(units))
	f.applyVoid(&r)
	f.addRejected(&r)
	return r
}

// Document returns the settings in force in bare form (engine E7), made anew by each call; nil if
// nothing is in force.
func (r *Result) Document() any { return Assemble(r.units) }

// assignLosses gives the losses to the rules of their names, and keeps the others.
func (f foldEnd) assignLosses(r *Result, losses []Loss) {
	if len(losses) == 0 {
		return
	}
	named := r.ruleFinder()
	for _, l := range losses {
		if i, ok := named[l.Rule]; ok && (!f.orderedByFunc || r.Rules[i].isConcerned(l)) {
			r.Rules[i].Lost = append(r.Rules[i].Lost, l)
		} else {
			r.Lost = append(r.Lost, l)
		}
	}
}

// ruleFinder returns a function that finds the first rule of a name by number; -1 if there is none.
// Few rules are compared one by one.
func (r *Result) ruleFinder() map[string]int {
	byName := make(map[string]int, len(r.Rules))
	for i := len(r.Rules) - 1; i >= 0; i-- {
		byName[r.Rules[i].Name] = i
	}
	return byName
}

// isConcerned reports whether a loss is about this entry of a list in which names repeat: it lost
// to this entry, or is a part of it.
func (r *Rule) isConcerned(l Loss) bool {
	return len(l.To) == 0 || slices.ContainsFunc(r.From, func(f Source) bool {
		return slices.ContainsFunc(l.To, func(w Winner) bool { return w.Source == f }) || f == l.From
	})
}

// dropNulls takes the deletions out. An object that only they name is there all the same (RFC
// 7386), set by their writer; a null that neither deleted nor made anything is lost without effect.
func (f foldEnd) dropNulls(units []Unit) []Unit {
	var out []Unit
	var nulls []Unit
	count := 0
	for i := range units {
		units[i].eachPart(func(part *Unit) {
			if part.Null {
				count++
			}
		})
	}
	if count == 0 {
		return units
	}
	for i := range units {
		units[i].eachPart(func(part *Unit) {
			if part.Null {
				nulls = append(nulls, *part)
			} else {
				out = append(out, *part)
			}
		})
	}
	live, below := indexByPath(out), indexByPath(nulls)
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for _, n := range nulls {
		parent := Unit{Path: n.Path[:max(0, len(n.Path)-1)], Value: map[string]any{}, From: n.From}
		code := parent.Path.encode()
		others := slices.ContainsFunc(below.deeper[code], func(i int) bool { return len(nulls[i].Path) > len(n.Path) })
		if len(parent.Path) > 0 && !others && len(live.equal[code])+len(live.deeper[code]) == 0 {
			out = append(out, parent)
			live.equal[code] = []int{len(out) - 1}
		} else if !slices.ContainsFunc(n.From, func(w Source) bool {
			return f.deletions[deletion{w,
				n.Path.encode()}]
		}) {
			f.recordLoss(&last, n, Dropped, NoEffect, nil)
		}
	}
	if len(last.Effects) > 0 {
		f.trace = append(f.trace, last)
	}
	return out
}

// dropPlaceholders takes the whole of the settings out where it is empty and parts of it are in
// force: it only held a place.
func (f foldEnd) dropPlaceholders(units []Unit) []Unit {
	claim := func(u *Unit) bool { return len(u.Path) == 0 && u.isEmpty() }
	if len(units) < 2 || !hasUnit(units, claim) {
		return units
	}
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for i := range units {
		if claim(&units[i]) {
			f.recordLoss(&last, units[i], Replaced, NoEffect, nil)
		}
	}
	f.trace = append(f.trace, last)
	return slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return claim(&u) })
}

// dropFillers leaves nothing in force where only fillers are: there is nothing that they could
// apply to.
func (f foldEnd) dropFillers(units []Unit) []Unit {
	if len(units) == 0 || !f.hasOnlyFillers(&Plan{}, units) {
		return units
	}
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for _, u := range units {
		f.recordLoss(&last, u, Replaced, NoEffect, nil)
	}
	f.trace = append(f.trace, last)
	return nil
}

// numberRepeats returns the units of a list that a function made with entries of the same name told
// apart: each is an entry of the document.
func (f foldEnd) numberRepeats(units []Unit) []Unit {
	if !f.orderedByFunc {
		return units
	}
	seen := map[string]int{}
	out := slices.Clone(units)
	for i := range out {
		p := out[i].Path
		if len(p) == 0 || p[len(p)-1].Form != Entry {
			continue
		}
		if n := seen[p.encode()]; n > 0 {
			out[i].Path = p[:len(p)-1].appendSegment(Segment{Name: p[len(p)-1].Name + "\x00" + strconv.Itoa(n),
				Form: Entry})
		}
		seen[p.encode()]++
	}
	return out
}

// rulesInOrder returns the units as rules, entry by entry, as the function that ordered them made
// them.
func rulesInOrder(units []Unit) []Rule {
	out := make([]Rule, len(units))
	for i := range units {
		out[i] = Rule{Name: units[i].Path.String(), Path: units[i].Path, Value: units[i].Value, From: units[i].From}
	}
	return out
}

// rulesOf cuts units at the rules, finer only where the parts of a rule have different sources
// (engine E11).
func rulesOf(units []Unit, rules Shape) []Rule {
	units = Recut(units, rules)
	out := make([]Rule, 0, len(units))
	for i := range units {
		if u := &units[i]; len(u.Parts) == 0 {
			out = append(out, Rule{Name: u.Path.String(), Path: u.Path, Value: u.Value, From: u.From})
		} else {
			out = appendRules(out, u.Path, u.finestParts(), *u)
		}
	}
	return out
}

func appendRules(out []Rule, at Path, parts []Unit, whole Unit) []Rule {
	same := !slices.ContainsFunc(parts, func(p Unit) bool { return !slices.Equal(p.From, parts[0].From) })
	if same || len(parts) == 1 {
		value := whole.Value
		if len(whole.Path) != len(at) {
			value = assembleBelow(parts, len(at))
		}
		return append(out, Rule{Name: at.String(), Path: at, Value: value, From: parts[0].From})
	}
	var order []Segment
	groups := map[Segment][]Unit{}
	for _, p := range parts {
		if len(p.Path) == len(at) { // of a union: several rules of one name
			out = append(out, Rule{Name: at.String(), Path: at, Value: p.Value, From: p.From})
			continue
		}
		seg := p.Path[len(at)]
		if seg.Form == EntryKey {
			continue
		}
		if groups[seg] == nil {
			order = append(order, seg)
		}
		groups[seg] = append(groups[seg], p)
	}
	for _, seg := range order {
		out = appendRules(out, at.appendSegment(seg), groups[seg], Unit{})
	}
	return out
}

// hasListEntry reports whether a path leads through an entry of a list. Below a rule that was cut
// as a whole, only a function can tell entries apart.
func hasListEntry(p Path) bool {
	return slices.ContainsFunc(p, func(s Segment) bool { return s.Form != Key })
}

// writtenRules is a block cut at the rules of the kind, and where they are by code. The rules may
// be the block's own units, which other folds read as well.
type writtenRules struct {
	rules []Unit
	index map[string]int
}

// findRule returns the number of the rule that the path behind a code is, or is part of; -1 if
// there is none.
func (w writtenRules) findRule(code string) int {
	if at, ok := w.index[code]; ok {
		return at
	}
	for up := range ancestorsOf(code) {
		if at, ok := w.index[up]; ok {
			return at
		}
	}
	return -1
}

func (f foldEnd) rulesWrittenBy(from Source) writtenRules {
	if w, ok := f.writtenRules[from]; ok {
		return w
	}
	var w writtenRules
	blocks := f.stack.Layers[from.Layer].Blocks
	for i := range blocks {
		switch {
		case blocks[i].Kind != from.Block:
		case w.rules == nil:
			w.rules = slices.Clip(Recut(blocks[i].Units, f.rules))
		default:
			w.rules = append(w.rules, Recut(blocks[i].Units, f.rules)...)
		}
	}
	w.index = make(map[string]int, len(w.rules))
	for i := range w.rules {
		w.index[w.rules[i].Path.encode()] = i
	}
	if f.writtenRules == nil {
		f.writtenRules = map[Source]writtenRules{}
	}
	f.writtenRules[from] = w
	return w
}
