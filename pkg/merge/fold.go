package merge

import (
	"maps"
	"slices"
)

// Fold merges a stack by the plans of a kind; rules is how the kind's settings are cut into rules.
// Each unit is handled by the first plan that takes it. Pure: engine E2-E6, E10-E12.
func Fold(plans []Plan, rules Shape, s Stack) Result {
	return newStackFold(rules, s).foldPlans(plans)
}

// FoldStepwise is Fold, and notes after every step what is in force then.
func FoldStepwise(plans []Plan, rules Shape, s Stack) Result {
	f := newStackFold(rules, s)
	f.recordsAfter = true
	return f.foldPlans(plans)
}

func (f *stackFold) foldPlans(plans []Plan) Result {
	s := &f.stack
	steps := 0
	for i := range s.Layers {
		steps += len(s.Layers[i].Blocks)
	}
	f.trace = make([]Step, 0, steps)
	f.partial = len(plans) != 1 || !plans[0].isSingleFold()
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
		f.earlierPlans, f.ordered = plans[:i], f.ordered || plans[i].Ordered
		units = append(units, planFold{f}.foldPlan(&plans[i], layers, nil).units...)
	}
	return foldEnd{f}.buildResult(f.mergeBuiltin(units, builtin))
}

// mergeBuiltin merges the settings that no policy wrote over the result, the last one last.
func (f *stackFold) mergeBuiltin(units []Unit, layers []int) []Unit {
	acc := accumulator{units: units, present: true}
	f.earlierPlans = nil
	for _, at := range layers {
		for _, b := range f.stack.Layers[at].Blocks {
			f.mergeBlock(&Plan{}, &acc, incomingBlock{at, b})
		}
	}
	return acc.units
}

type stackFold struct {
	rules         Shape
	stack         Stack
	earlierPlans  []Plan  // the plans that have taken their units already
	openShapes    []Shape // the units that the plans around this one take
	trace         []Step
	groups        []Group
	ordered       bool
	orderedByFunc bool              // a function made the list
	deletions     map[deletion]bool // nulls that deleted something
	recordsAfter  bool              // steps note what is in force after them
	partial       bool              // some layers or units may belong to no plan
	writtenRules  map[Source]writtenRules
}

func newStackFold(rules Shape, s Stack) *stackFold {
	return &stackFold{rules: rules, stack: s}
}

// accumulator is what is effective so far, below the next incoming block.
type accumulator struct {
	units    []Unit
	unset    unsets
	demanded *Strategy     // of the most specific layer
	render   func(any) any // of the most specific layer
	cut      Cut           // how units are cut: Rules or Leaves; Whole where that is not known
	present  bool          // a layer took part, even with nothing to say
}

// hasOnlyFillers reports whether no unit but fillers is in force.
func (f *stackFold) hasOnlyFillers(p *Plan, units []Unit) bool {
	shape := f.shapeOf(p)
	for i := range units {
		if !shape.IsFiller(units[i].Path) {
			return false
		}
	}
	return true
}

func (f *stackFold) shapeOf(p *Plan) Shape {
	if p.Rules != nil {
		return p.Rules
	}
	return f.rules
}

// unsets are deactivated names, and who lists them.
type unsets map[string][]Source

// withLayer returns u and the names that one more layer lists.
func (u unsets) withLayer(at int, names []string) unsets {
	if len(names) == 0 {
		return u
	}
	out := maps.Clone(u)
	if out == nil {
		out = unsets{}
	}
	for _, name := range names {
		out[name] = append(slices.Clip(out[name]), Source{Layer: at, Block: Bare})
	}
	return out
}

// foldLayers folds single layers from the most specific to the least specific (engine E2). Lower
// are the names that other groups below have deactivated.
func (f *stackFold) foldLayers(p *Plan, layers []int, lower unsets) accumulator {
	acc := accumulator{unset: lower}
	for len(layers) > 0 {
		n := f.countSameTarget(p, layers)
		group := layers[len(layers)-n:]
		layers = layers[:len(layers)-n]
		if !acc.present {
			last := f.stack.Layers[group[n-1]]
			acc.present, acc.demanded, acc.render = true, last.DemandedStrategy, last.Render
		}
		if n == 1 {
			for _, b := range f.stack.Layers[group[0]].Blocks {
				f.mergeBlock(p, &acc, incomingBlock{group[0], b})
			}
		} else {
			f.mergeSameTarget(p, &acc, group)
		}
		for _, at := range group {
			acc.unset = acc.unset.withLayer(at, f.stack.Layers[at].Unset)
		}
	}
	return acc
}

type incomingBlock struct {
	layer int
	Block
}

// mergeBlock merges one block into what is effective below it.
func (f *stackFold) mergeBlock(p *Plan, acc *accumulator, b incomingBlock) {
	st, units, ok := f.admitBlock(p, acc, b)
	if !ok {
		return
	}
	plain, own := f.applyConditions(&st, acc, units)
	if len(plain) > 0 || len(units) == len(plain) {
		f.mergeUnits(p, acc, plain, &st)
	}
	if len(own) > 0 { // each for itself, whatever the cut of the block
		single := st
		single.Strategy.Cut = Rules
		f.mergeUnits(p, acc, own, &single)
		st.Effects = single.Effects
	}
	f.recordStep(st, acc)
}

// admitBlock returns the step of a block with the units that take part in it: those of the plan, if
// the block's condition holds, less what is deactivated. It returns false if there is nothing to
// merge.
func (f *stackFold) admitBlock(p *Plan, acc *accumulator, b incomingBlock) (st Step, units []Unit, ok bool) {
	st = Step{Plan: p.Name, Layer: b.layer, Block: b.Kind, Strategy: b.Strategy, When: b.When}
	if s := f.prescribedStrategy(p, acc); s != nil {
		st.Strategy = s.forBlock(b.Kind)
	}
	units = f.unitsForPlan(p, b)
	if len(units) == 0 && len(b.Units) > 0 {
		if !p.KeepsEmptyLayers {
			return st, nil, false // all of it belongs to other plans
		}
		units = []Unit{{Value: map[string]any{}, From: []Source{{Layer: b.layer, Block: b.Kind}}}}
	}
	if b.When != nil {
		holds, err := b.When.Holds(acc.buildDocument())
		if st.Err = err; err != nil || !holds {
			st.Skipped = ConditionFalse
			f.recordDropped(&st, units, ConditionFalse, nil)
			f.recordStep(st, acc)
			return st, nil, false
		}
	}
	if b.Kind != Overrides {
		units = f.dropUnset(p, &st, acc, units)
	}
	return st, units, true
}

// unitsForPlan returns the block's units that plan p takes, with their source.
func (f *stackFold) unitsForPlan(p *Plan, b incomingBlock) []Unit {
	units := make([]Unit, 0, len(b.Units))
	from := []Source{{Layer: b.layer, Block: b.Kind}}
	for i := range b.Units {
		if !f.planTakes(p, &b.Units[i]) {
			continue
		}
		units = append(units, b.Units[i])
		if u := &units[len(units)-1]; u.From == nil {
			u.From = from
			if u.Filled {
				u.From = []Source{{b.layer, b.Kind, true}}
			}
		}
	}
	return units
}

// dropUnset takes out what lower policies have unset, before anything else is looked at (engine
// E5). Names are those of rules, and under patch of everything below rules as well.
func (f *stackFold) dropUnset(p *Plan, st *Step, acc *accumulator, units []Unit) []Unit {
	if len(acc.unset) == 0 {
		return units
	}
	switch {
	case st.Strategy.Cut == Leaves:
		units = Recut(units, leafShape)
	case st.Strategy.Shape == nil:
		units = Recut(units, f.shapeOf(p))
	}
	return slices.DeleteFunc(units, func(u Unit) bool {
		for d := len(u.Path); d >= 0; d-- {
			if by := acc.unset[u.Path[:d].String()]; len(by) > 0 {
				f.recordLoss(st, u, Dropped, Unset, sortSources(slices.Clone(by)))
				return true
			}
			if st.Strategy.Cut != Leaves {
				break
			}
		}
		return false
	})
}

// applyConditions splits units into those without a condition and those whose own condition holds
// for what is effective before the block; the others are lost.
func (f *stackFold) applyConditions(st *Step, acc *accumulator, units []Unit) (plain, own []Unit) {
	if !hasUnit(units, func(u *Unit) bool { return u.When != nil }) {
		return units, nil
	}
	doc := acc.buildDocument()
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
			f.recordLoss(st, u, Dropped, ConditionFalse, nil)
			continue
		}
		own = append(own, u)
	}
	return plain, own
}

// buildDocument returns what is effective, as the conditions see it.
func (acc *accumulator) buildDocument() any {
	settings := Unpack(Assemble(acc.units))
	if acc.render == nil {
		return settings
	}
	return acc.render(settings)
}

func (f *stackFold) recordStep(st Step, acc *accumulator) {
	if f.recordsAfter {
		for _, u := range Recut(acc.units, f.rules) {
			st.After = append(st.After, u.Path.String())
		}
		slices.Sort(st.After)
	}
	f.trace = append(f.trace, st)
}
