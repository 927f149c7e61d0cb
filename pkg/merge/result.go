package merge

import (
	"cmp"
	"slices"
	"strings"
)

// finish turns what is in force at the end into a Result, and reads the losses off the trace.
func (f *folder) finish(units []Unit) Result {
	units = f.dropClaims(f.dropFillers(f.dropNulls(units)))
	closing := Step{Layer: -1, Block: Bare, Closing: true}
	if units = f.solid(&Plan{}, units, &closing, Replaced); len(closing.Effects) > 0 {
		f.trace = append(f.trace, closing)
	}
	r := Result{Ordered: f.ordered, Groups: f.groups, Doc: Assemble(units)}
	r.Rules = printed(units, f.rules)
	if f.listed {
		r.Rules = asListed(units)
	}
	if !f.ordered {
		slices.SortStableFunc(r.Rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	}
	if f.partial {
		f.ignore(units)
	}
	r.Trace = f.trace
	byName := make(map[string]int, len(r.Rules))
	for i := len(r.Rules) - 1; i >= 0; i-- {
		byName[r.Rules[i].Name] = i
	}
	for _, l := range f.losses(units) {
		if i, ok := byName[l.Rule]; ok {
			r.Rules[i].Lost = append(r.Rules[i].Lost, l)
		} else {
			r.Lost = append(r.Lost, l)
		}
	}
	return r
}

// dropNulls takes the deletions out. An object that only they name is there all the same (RFC 7386), set by their writer; a null
// that neither deleted nor made anything is lost without effect.
func (f *folder) dropNulls(units []Unit) []Unit {
	var out []Unit
	var nulls []Unit
	count := 0
	for i := range units {
		units[i].each(func(part *Unit) {
			if part.Null {
				count++
			}
		})
	}
	if count == 0 {
		return units
	}
	for i := range units {
		units[i].each(func(part *Unit) {
			if part.Null {
				nulls = append(nulls, *part)
			} else {
				out = append(out, *part)
			}
		})
	}
	live, below := index(out), index(nulls)
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for _, n := range nulls {
		parent := Unit{Path: n.Path[:max(0, len(n.Path)-1)], Value: map[string]any{}, From: n.From}
		code := parent.key()
		others := slices.ContainsFunc(below.deeper[code], func(i int) bool { return len(nulls[i].Path) > len(n.Path) })
		if len(parent.Path) > 0 && !others && len(live.equal[code])+len(live.deeper[code]) == 0 {
			out = append(out, parent)
			live.equal[code] = []int{len(out) - 1}
		} else if !slices.ContainsFunc(n.From, func(w From) bool { return f.erased[deletion{w, n.key()}] }) {
			f.lose(&last, n, Dropped, NoEffect, nil)
		}
	}
	if len(last.Effects) > 0 {
		f.trace = append(f.trace, last)
	}
	return out
}

// dropClaims takes the whole of the settings out where it is empty and parts of it are in force: it only held a place.
func (f *folder) dropClaims(units []Unit) []Unit {
	claim := func(u Unit) bool { return len(u.Path) == 0 && u.hollow() }
	if len(units) < 2 || !slices.ContainsFunc(units, claim) {
		return units
	}
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for _, u := range units {
		if claim(u) {
			f.lose(&last, u, Replaced, NoEffect, nil)
		}
	}
	f.trace = append(f.trace, last)
	return slices.DeleteFunc(slices.Clone(units), claim)
}

// claims reports whether a block has no unit for the whole of the settings: the fold only let it hold a place so.
func (f *folder) claims(from From) bool {
	return !slices.ContainsFunc(f.stack.Layers[from.Layer].Blocks, func(b Block) bool {
		return b.Kind == from.Block && slices.ContainsFunc(b.Units, func(u Unit) bool { return len(u.Path) == 0 })
	})
}

// dropFillers leaves nothing in force where only fillers are: there is nothing that they could apply to.
func (f *folder) dropFillers(units []Unit) []Unit {
	if len(units) == 0 || !f.empty(&Plan{}, units) {
		return units
	}
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for _, u := range units {
		f.lose(&last, u, Replaced, NoEffect, nil)
	}
	f.trace = append(f.trace, last)
	return nil
}

// ignore accounts for units that no plan looked at.
func (f *folder) ignore(units []Unit) {
	exact, met := map[From]map[string]bool{}, map[From]map[string]bool{}
	see := func(from []From, code string) {
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
	seen := func(from From, code string) bool {
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
		see(units[i].From, units[i].key())
	}
	last := Step{Layer: -1, Block: Bare, Closing: true}
	for i, l := range f.stack.Layers {
		for _, b := range l.Blocks {
			for _, u := range b.Units {
				from := From{Layer: i, Block: b.Kind, Filled: u.Filled}
				if u.From == nil && !seen(from, u.key()) {
					u.From = []From{from}
					f.lose(&last, u, Dropped, Ignored, nil)
				}
			}
		}
	}
	if len(last.Effects) > 0 {
		f.trace = append(f.trace, last)
	}
}

// asListed are the units as rules, entry by entry, as the function that ordered them made them.
func asListed(units []Unit) []Rule {
	out := make([]Rule, len(units))
	for i := range units {
		out[i] = Rule{Name: units[i].name(), Path: units[i].Path, Value: units[i].Value, From: units[i].From}
	}
	return out
}

// printed cuts units at the rules, finer only where the parts of a rule have different sources (engine E11).
func printed(units []Unit, rules Shape) []Rule {
	units = Recut(units, rules)
	out := make([]Rule, 0, len(units))
	for i := range units {
		if u := &units[i]; len(u.Parts) == 0 {
			out = append(out, Rule{Name: u.name(), Path: u.Path, Value: u.Value, From: u.From})
		} else {
			out = appendRules(out, u.Path, u.finest(), *u)
		}
	}
	return out
}

func appendRules(out []Rule, at Path, parts []Unit, whole Unit) []Rule {
	same := !slices.ContainsFunc(parts, func(p Unit) bool { return !slices.Equal(p.From, parts[0].From) })
	if same || len(parts) == 1 {
		value := whole.Value
		if len(whole.Path) != len(at) {
			value = assemble(parts, len(at))
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
		if seg.Form == Told {
			continue
		}
		if groups[seg] == nil {
			order = append(order, seg)
		}
		groups[seg] = append(groups[seg], p)
	}
	for _, seg := range order {
		out = appendRules(out, at.below(seg), groups[seg], Unit{})
	}
	return out
}

// losses reads the trace: every unit that was dropped or replaced and is no source of the result, each once per writer. Leaves that
// were lost alike are joined to the rule they make up.
func (f *folder) losses(units []Unit) []Loss {
	if !slices.ContainsFunc(f.trace, func(st Step) bool { return slices.ContainsFunc(st.Effects, Effect.lost) }) {
		return nil
	}
	type setting struct {
		from From
		code string
	}
	done := map[setting]bool{} // what stands, and what is written down already
	for i := range units {
		units[i].each(func(part *Unit) {
			for _, w := range part.From {
				done[setting{w, part.key()}] = true
			}
		})
	}
	var out []Loss
	for i, st := range f.trace {
		var lost []Effect
		for _, e := range st.Effects {
			if !e.lost() || done[setting{e.From[0], e.code}] || e.code == "" && f.claims(e.From[0]) {
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
			out = append(out, f.rejoin(from, lost[:n], i)...)
			lost = lost[n:]
		}
	}
	slices.SortFunc(out, func(a, b Loss) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), a.From.compare(b.From), cmp.Compare(a.Step, b.Step), strings.Compare(a.Path.code(), b.Path.code()))
	})
	return out
}

// lost reports whether the effect is a loss. What nobody wrote is nobody's loss.
func (e Effect) lost() bool {
	return (e.Outcome == Replaced || e.Outcome == Dropped) && !(len(e.From) > 0 && e.From[0].Filled)
}

// rejoin makes losses of what one writer lost in one step: of a whole rule where all its parts went the same way.
func (f *folder) rejoin(from From, effects []Effect, step int) (out []Loss) {
	wrote := f.wrote(from)
	plain := func(e Effect) { out = append(out, Loss{e.Rule, e.Path, e.Value, from, e.Reason, e.Other, step}) }
	var parts map[int][]Effect // by the rule that they are parts of
	for _, e := range effects {
		at := wrote.around(e.code)
		if at < 0 || len(wrote.rules[at].Path) == len(e.Path) || listed(e.Path[len(wrote.rules[at].Path):]) {
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
		alike := !slices.ContainsFunc(mine, func(e Effect) bool { return e.Reason != first.Reason || !slices.Equal(e.Other, first.Other) })
		if all := Recut(rule.finest(), leaves); alike && len(mine) == len(all) && len(all[0].Path) >= len(rule.Path) { // leaves are not looked for in lists
			out = append(out, Loss{rule.name(), rule.Path, rule.Value, from, first.Reason, first.Other, step})
			continue
		}
		for _, e := range mine {
			plain(e)
		}
	}
	return out
}

// listed reports whether a path leads through an entry of a list. Below a rule that was cut as a whole, only a function can tell entries apart.
func listed(p Path) bool {
	return slices.ContainsFunc(p, func(s Segment) bool { return s.Form != Key })
}

// written is a block as rules of the kind, and where they are by code.
type written struct {
	rules []Unit
	at    map[string]int
}

// around is the rule that the path behind a code is, or is part of, by number; -1 if there is none.
func (w written) around(code string) int {
	if at, ok := w.at[code]; ok {
		return at
	}
	for up := range ancestorsOf(code) {
		if at, ok := w.at[up]; ok {
			return at
		}
	}
	return -1
}

func (f *folder) wrote(from From) written {
	if w, ok := f.blocks[from]; ok {
		return w
	}
	var w written
	for _, b := range f.stack.Layers[from.Layer].Blocks {
		if b.Kind == from.Block {
			w.rules = slices.Concat(w.rules, Recut(b.Units, f.rules))
		}
	}
	w.at = make(map[string]int, len(w.rules))
	for i := range w.rules {
		w.at[w.rules[i].key()] = i
	}
	f.blocks[from] = w
	return w
}
