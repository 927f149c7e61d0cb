package merge

import "slices"

// Fold merges a stack by the plans of a kind; rules is how the kind's settings are cut into rules. Each unit is handled by the first
// plan that takes it. Pure: engine E2-E6, E10-E12.
func Fold(plans []Plan, rules Shape, s Stack) Result {
	return FoldSteps(plans, rules, s, nil)
}

// FoldSteps is Fold, and calls observe (if not nil) after every step with the step's index into the trace and what is in force then.
func FoldSteps(plans []Plan, rules Shape, s Stack, observe func(step int, units []Unit)) Result {
	f := newFolder(rules, s)
	f.observe, f.partial = observe, len(plans) != 1 || !plans[0].simple()
	layers := make([]int, len(s.Layers))
	for i := range layers {
		layers[i] = i
	}
	var units []Unit
	for i := range plans {
		f.earlier = plans[:i]
		units = append(units, f.plan(&plans[i], layers).units...)
	}
	return f.finish(units)
}

type folder struct {
	rules   Shape
	stack   Stack
	earlier []Plan // the plans that had their choice of units before
	trace   []Step
	groups  []Group
	ordered bool
	erased  map[string]bool // nulls that deleted something, by source and path
	observe func(int, []Unit)
	partial bool // some layers or units may belong to no plan
	blocks  map[From]map[string]Unit
}

func newFolder(rules Shape, s Stack) *folder {
	return &folder{rules: rules, stack: s, erased: map[string]bool{}, blocks: map[From]map[string]Unit{}}
}

// simple reports whether p is one fold of everything.
func (p *Plan) simple() bool {
	return p.Only == nil && p.Levels == nil && p.Needs == nil && p.Each == "" && p.Of == nil && p.Func == nil
}

// accumulator is what is effective so far, below the next incoming block.
type accumulator struct {
	units   []Unit
	unset   map[string][]From // deactivated names, and who lists them
	asks    *Strategy         // of the most specific layer
	render  func(any) any     // of the most specific layer
	present bool              // a layer took part, even with nothing to say
}

// empty reports whether no unit but fillers is in force.
func (f *folder) empty(p *Plan, units []Unit) bool {
	shape := f.shape(p)
	return !slices.ContainsFunc(units, func(u Unit) bool { return !shape.Filler(u.Path) })
}

func (f *folder) shape(p *Plan) Shape {
	if p.Rules != nil {
		return p.Rules
	}
	return f.rules
}

// takes reports whether the unit belongs to plan p: no earlier plan claimed it, and p is open to it.
func (f *folder) takes(p *Plan, u Unit) bool {
	for i := range f.earlier {
		if f.earlier[i].Only == nil || f.earlier[i].Only.covers(u.Path) {
			return false
		}
	}
	return p.Only == nil || p.Only.covers(u.Path)
}

// plan folds the layers by p: a leaf merges them, an inner plan the results of its members.
func (f *folder) plan(p *Plan, layers []int) accumulator {
	layers = f.at(p, layers)
	for _, role := range p.Needs {
		if !slices.ContainsFunc(layers, func(i int) bool { return f.stack.Layers[i].Level == role }) {
			return accumulator{}
		}
	}
	var acc accumulator
	switch {
	case p.Func != nil:
		acc = f.custom(p, layers)
	case p.Each != "":
		acc = f.each(p, layers)
	case len(p.Of) > 0:
		members := make([]accumulator, len(p.Of))
		for i := range p.Of {
			members[i] = f.plan(&p.Of[i], layers)
		}
		acc = f.members(p, members, nil)
	default:
		acc = f.layers(p, f.sameTarget(p, layers))
	}
	if p.Name != "" {
		f.groups = append(f.groups, Group{Name: p.Name, Rules: printed(acc.units, f.shape(p))})
	}
	return acc
}

// at filters layers by the plan's levels.
func (f *folder) at(p *Plan, layers []int) []int {
	if p.Levels == nil {
		return layers
	}
	var out []int
	for _, i := range layers {
		if slices.Contains(p.Levels, f.stack.Layers[i].Level) {
			out = append(out, i)
		}
	}
	return out
}

// each folds every hop of a repeated role by itself, then the hops, each by the strategy read at its object.
func (f *folder) each(p *Plan, layers []int) accumulator {
	one := *p
	one.Each, one.Name = "", ""
	byHop := map[int][]int{}
	var hops []int
	for _, i := range layers {
		hop := f.stack.Layers[i].Hop
		if _, ok := byHop[hop]; !ok {
			hops = append(hops, hop)
		}
		byHop[hop] = append(byHop[hop], i)
	}
	slices.Sort(hops)
	members := make([]accumulator, len(hops))
	strategies := make([]*Strategy, len(hops))
	for i, hop := range hops {
		members[i] = f.plan(&one, byHop[hop])
		if hop < len(f.stack.Hops) {
			strategies[i] = f.stack.Hops[hop]
		}
	}
	return f.members(p, members, strategies)
}

// members folds the results of a plan's members, least specific first; own holds strategies that members bring along.
func (f *folder) members(p *Plan, members []accumulator, own []*Strategy) accumulator {
	var acc accumulator
	for i := len(members) - 1; i >= 0; i-- {
		m := members[i]
		switch {
		case !m.present:
		case !acc.present:
			acc = m
		default:
			strategy := Strategy{}
			if own != nil && own[i] != nil {
				strategy = *own[i]
			} else if s := f.ruling(p, &acc); s != nil {
				strategy = *s
			}
			st := Step{Plan: p.Name, Layer: -1, Block: Bare, Strategy: strategy}
			f.merge(p, &acc, m.units, &st)
			f.record(st, &acc)
		}
	}
	return acc
}

// ruling is the strategy that the plan prescribes, or nil.
func (f *folder) ruling(p *Plan, acc *accumulator) *Strategy {
	if p.FromLower && acc.asks != nil {
		return acc.asks
	}
	return p.Strategy
}

// layers folds single layers from the most specific to the least specific (engine E2).
func (f *folder) layers(p *Plan, layers []indexed) accumulator {
	var acc accumulator
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		if !acc.present {
			acc = accumulator{present: true, asks: l.Asks, render: l.Render}
		}
		for _, b := range l.Blocks {
			f.block(p, &acc, incoming{l.at, b})
		}
		for _, name := range l.Unset {
			if acc.unset == nil {
				acc.unset = map[string][]From{}
			}
			acc.unset[name] = append(acc.unset[name], From{l.at, Bare})
		}
	}
	return acc
}

// indexed is a layer with its position in the stack.
type indexed struct {
	at int
	Layer
}

type incoming struct {
	at int
	Block
}

// block merges one block into what is effective below it.
func (f *folder) block(p *Plan, acc *accumulator, b incoming) {
	st := Step{Plan: p.Name, Layer: b.at, Block: b.Kind, Strategy: b.Strategy, When: b.When}
	if s := f.ruling(p, acc); s != nil {
		st.Strategy = *s
	}
	units := f.signed(p, b)
	if len(units) == 0 && len(b.Units) > 0 {
		return // all of it belongs to other plans
	}
	if b.When != nil {
		holds, err := b.When.Holds(acc.document())
		if st.Err = err; err != nil || !holds {
			st.Skipped = ConditionFalse
			f.drop(&st, units, ConditionFalse, nil)
			f.record(st, acc)
			return
		}
	}
	if b.Kind != Overrides {
		units = f.deactivate(&st, acc, units)
	}
	units, own := f.conditional(&st, acc, units)
	if len(units) > 0 || len(own) == 0 {
		f.merge(p, acc, units, &st)
	}
	if len(own) > 0 {
		single := st.Strategy
		single.Cut = Rules
		st.Strategy, single = single, st.Strategy
		f.merge(p, acc, own, &st)
		st.Strategy = single
	}
	f.record(st, acc)
}

// signed is the block's units that plan p takes, with their source.
func (f *folder) signed(p *Plan, b incoming) []Unit {
	units := make([]Unit, 0, len(b.Units))
	from := []From{{b.at, b.Kind}}
	for _, u := range b.Units {
		if !f.takes(p, u) {
			continue
		}
		if u.From == nil {
			u.From = from
		}
		units = append(units, u)
	}
	return units
}

// deactivate takes out what lower policies have unset, before anything else is looked at (engine E5).
func (f *folder) deactivate(st *Step, acc *accumulator, units []Unit) []Unit {
	if len(acc.unset) == 0 {
		return units
	}
	if st.Strategy.Cut == Leaves {
		units = Recut(units, leaves)
	}
	return slices.DeleteFunc(units, func(u Unit) bool {
		for d := len(u.Path); d >= 0; d-- {
			by := acc.unset[u.Path[:d].String()]
			if len(by) > 0 {
				f.lose(st, u, Dropped, Unset, by)
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
	if !slices.ContainsFunc(units, func(u Unit) bool { return u.When != nil }) {
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
	settings := Assemble(acc.units)
	if acc.render == nil {
		return settings
	}
	return acc.render(settings)
}

func (f *folder) custom(p *Plan, layers []int) accumulator {
	s := Stack{Hops: f.stack.Hops}
	for _, i := range layers {
		s.Layers = append(s.Layers, f.stack.Layers[i])
	}
	units, effects := p.Func(s)
	for i := range units {
		units[i].From = shift(units[i].From, layers)
	}
	for i := range effects {
		effects[i].From, effects[i].Other = shift(effects[i].From, layers), shift(effects[i].Other, layers)
	}
	acc := accumulator{units: units, present: len(layers) > 0}
	f.record(Step{Plan: p.Name, Layer: -1, Block: Bare, Effects: effects}, &acc)
	return acc
}

// shift turns positions in a part of the stack into positions in the whole.
func shift(from []From, layers []int) []From {
	out := slices.Clone(from)
	for i := range out {
		out[i].Layer = layers[out[i].Layer]
	}
	return out
}

func (f *folder) record(st Step, acc *accumulator) {
	f.trace = append(f.trace, st)
	if f.observe != nil {
		f.observe(len(f.trace)-1, acc.units)
	}
}
