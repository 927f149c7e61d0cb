package merge

import (
	"maps"
	"slices"
)

// Fold merges a stack by the plans of a kind; rules is how the kind's settings are cut into rules. Each unit is handled by the first
// plan that takes it. Pure: engine E2-E6, E10-E12.
func Fold(plans []Plan, rules Shape, s Stack) Result {
	return newFolder(rules, s).fold(plans)
}

// Replay is Fold, and notes after every step what is in force then.
func Replay(plans []Plan, rules Shape, s Stack) Result {
	f := newFolder(rules, s)
	f.replay = true
	return f.fold(plans)
}

func (f *folder) fold(plans []Plan) Result {
	s := &f.stack
	steps := 0
	for i := range s.Layers {
		steps += len(s.Layers[i].Blocks)
	}
	f.trace = make([]Step, 0, steps)
	f.partial = len(plans) != 1 || !plans[0].simple()
	layers, builtin := make([]int, 0, len(s.Layers)), []int(nil)
	for i := range s.Layers {
		switch {
		case s.Layers[i].Rejected != nil:
		case s.Layers[i].Builtin:
			builtin = append(builtin, i)
		default:
			layers = append(layers, i)
		}
	}
	var units []Unit
	for i := range plans {
		f.earlier, f.ordered = plans[:i], f.ordered || plans[i].Ordered
		units = append(units, planner{f}.plan(&plans[i], layers, nil).units...)
	}
	return closing{f}.finish(f.overrule(units, builtin))
}

// overrule merges the settings that no policy wrote over the result, the last one last.
func (f *folder) overrule(units []Unit, layers []int) []Unit {
	acc := accumulator{units: units, present: true}
	f.earlier = nil
	for _, at := range layers {
		for _, b := range f.stack.Layers[at].Blocks {
			f.block(&Plan{}, &acc, incoming{at, b})
		}
	}
	return acc.units
}

type folder struct {
	rules   Shape
	stack   Stack
	earlier []Plan  // the plans that had their choice of units before
	only    []Shape // what the plans around the present one are open to
	trace   []Step
	groups  []Group
	ordered bool
	listed  bool              // a function made the list
	erased  map[deletion]bool // nulls that deleted something
	replay  bool              // steps note what is in force after them
	partial bool              // some layers or units may belong to no plan
	blocks  map[From]written
}

func newFolder(rules Shape, s Stack) *folder {
	return &folder{rules: rules, stack: s}
}

// accumulator is what is effective so far, below the next incoming block.
type accumulator struct {
	units   []Unit
	unset   unsets
	asks    *Strategy     // of the most specific layer
	render  func(any) any // of the most specific layer
	grain   Cut           // how units are cut: Rules or Leaves; Whole where that is not known
	present bool          // a layer took part, even with nothing to say
}

// empty reports whether no unit but fillers is in force.
func (f *folder) empty(p *Plan, units []Unit) bool {
	shape := f.shape(p)
	for i := range units {
		if !shape.Filler(units[i].Path) {
			return false
		}
	}
	return true
}

func (f *folder) shape(p *Plan) Shape {
	if p.Rules != nil {
		return p.Rules
	}
	return f.rules
}

// unsets are deactivated names, and who lists them.
type unsets map[string][]From

// with is u and the names that one more layer lists.
func (u unsets) with(at int, names []string) unsets {
	if len(names) == 0 {
		return u
	}
	out := maps.Clone(u)
	if out == nil {
		out = unsets{}
	}
	for _, name := range names {
		out[name] = append(slices.Clip(out[name]), From{Layer: at, Block: Bare})
	}
	return out
}

// layers folds single layers from the most specific to the least specific (engine E2). Lower are the names that other groups below
// have deactivated.
func (f *folder) layers(p *Plan, layers []int, lower unsets) accumulator {
	acc := accumulator{unset: lower}
	for len(layers) > 0 {
		n := f.together(p, layers)
		group := layers[len(layers)-n:]
		layers = layers[:len(layers)-n]
		if !acc.present {
			last := f.stack.Layers[group[n-1]]
			acc.present, acc.asks, acc.render = true, last.Asks, last.Render
		}
		if n == 1 {
			for _, b := range f.stack.Layers[group[0]].Blocks {
				f.block(p, &acc, incoming{group[0], b})
			}
		} else {
			f.fill(p, &acc, group)
		}
		for _, at := range group {
			acc.unset = acc.unset.with(at, f.stack.Layers[at].Unset)
		}
	}
	return acc
}

type incoming struct {
	at int
	Block
}

// block merges one block into what is effective below it.
func (f *folder) block(p *Plan, acc *accumulator, b incoming) {
	st, units, ok := f.admit(p, acc, b)
	if !ok {
		return
	}
	plain, own := f.conditional(&st, acc, units)
	if len(plain) > 0 || len(units) == len(plain) {
		f.merge(p, acc, plain, &st)
	}
	if len(own) > 0 { // each for itself, whatever the cut of the block
		single := st
		single.Strategy.Cut = Rules
		f.merge(p, acc, own, &single)
		st.Effects = single.Effects
	}
	f.record(st, acc)
}

// admit is the step of a block with the units that take part in it: those of the plan, if the block's condition holds, less what is
// deactivated. Not ok if there is nothing to merge.
func (f *folder) admit(p *Plan, acc *accumulator, b incoming) (st Step, units []Unit, ok bool) {
	st = Step{Plan: p.Name, Layer: b.at, Block: b.Kind, Strategy: b.Strategy, When: b.When}
	if s := f.ruling(p, acc); s != nil {
		st.Strategy = s.on(b.Kind)
	}
	units = f.signed(p, b)
	if len(units) == 0 && len(b.Units) > 0 {
		if !p.Claims {
			return st, nil, false // all of it belongs to other plans
		}
		units = []Unit{{Value: map[string]any{}, From: []From{{Layer: b.at, Block: b.Kind}}}}
	}
	if b.When != nil {
		holds, err := b.When.Holds(acc.document())
		if st.Err = err; err != nil || !holds {
			st.Skipped = ConditionFalse
			f.drop(&st, units, ConditionFalse, nil)
			f.record(st, acc)
			return st, nil, false
		}
	}
	if b.Kind != Overrides {
		units = f.deactivate(p, &st, acc, units)
	}
	return st, units, true
}

// signed is the block's units that plan p takes, with their source.
func (f *folder) signed(p *Plan, b incoming) []Unit {
	units := make([]Unit, 0, len(b.Units))
	from := []From{{Layer: b.at, Block: b.Kind}}
	for i := range b.Units {
		if !f.takes(p, &b.Units[i]) {
			continue
		}
		units = append(units, b.Units[i])
		if u := &units[len(units)-1]; u.From == nil {
			u.From = from
			if u.Filled {
				u.From = []From{{b.at, b.Kind, true}}
			}
		}
	}
	return units
}

// deactivate takes out what lower policies have unset, before anything else is looked at (engine E5). Names are those of rules, and
// under patch of everything below rules as well.
func (f *folder) deactivate(p *Plan, st *Step, acc *accumulator, units []Unit) []Unit {
	if len(acc.unset) == 0 {
		return units
	}
	switch {
	case st.Strategy.Cut == Leaves:
		units = Recut(units, leaves)
	case st.Strategy.Shape == nil:
		units = Recut(units, f.shape(p))
	}
	return slices.DeleteFunc(units, func(u Unit) bool {
		for d := len(u.Path); d >= 0; d-- {
			if by := acc.unset[u.Path[:d].String()]; len(by) > 0 {
				f.lose(st, u, Dropped, Unset, sorted(slices.Clone(by)))
				return true
			}
			if st.Strategy.Cut != Leaves {
				break
			}
		}
		return false
	})
}

// conditional judges units with a condition of their own against what is effective before the block.
func (f *folder) conditional(st *Step, acc *accumulator, units []Unit) (plain, own []Unit) {
	if !anyOf(units, func(u *Unit) bool { return u.When != nil }) {
		return units, nil
	}
	doc := acc.document()
	for _, u := range units {
		if u.When == nil {
			plain = append(plain, u)
			continue
		}
		holds, err := u.When.Holds(doc)
		if err != nil {
			st.Err = err
		}
		if err != nil || !holds {
			f.lose(st, u, Dropped, ConditionFalse, nil)
			continue
		}
		own = append(own, u)
	}
	return plain, own
}

// document is what is effective, as the conditions see it.
func (acc *accumulator) document() any {
	settings := Plain(Assemble(acc.units))
	if acc.render == nil {
		return settings
	}
	return acc.render(settings)
}

func (f *folder) record(st Step, acc *accumulator) {
	if f.replay {
		for _, u := range Recut(acc.units, f.rules) {
			st.After = append(st.After, u.Path.String())
		}
		slices.Sort(st.After)
	}
	f.trace = append(f.trace, st)
}
