package merge

import "slices"

// simple reports whether p is one fold of everything.
func (p *Plan) simple() bool {
	return p.Only == nil && p.Levels == nil && p.Each == "" && p.Of == nil && p.Func == nil
}

// takes reports whether the unit belongs to plan p: no earlier plan claimed it, and p and the plans around it are open to it.
func (f *folder) takes(p *Plan, u *Unit) bool {
	for i := range f.earlier {
		if f.earlier[i].Only == nil || f.earlier[i].Only.covers(u.Path) {
			return false
		}
	}
	for _, shape := range f.only {
		if !shape.covers(u.Path) {
			return false
		}
	}
	return p.Only == nil || p.Only.covers(u.Path)
}

// planner folds the layers of plans and of their members.
type planner struct{ *folder }

// plan folds the layers by p: a leaf merges them, an inner plan the results of its members. Lower are the names that groups below have
// deactivated; the result has those of its own layers as well.
func (f planner) plan(p *Plan, layers []int, lower unsets) accumulator {
	layers = f.at(p, layers)
	if p.Only != nil {
		f.only = append(f.only, p.Only)
		defer func() { f.only = f.only[:len(f.only)-1] }()
	}
	var acc accumulator
	switch {
	case p.Each != "":
		acc = f.each(p, layers, lower)
	case p.Func != nil:
		f.aside(p, layers, lower)
		acc = f.custom(p, layers)
	case len(p.Of) > 0:
		members := make([]accumulator, len(p.Of))
		for i := len(p.Of) - 1; i >= 0; i-- {
			members[i] = f.plan(&p.Of[i], layers, lower)
			lower = members[i].unset
		}
		acc = f.members(p, members, nil)
		acc.unset = lower
	default:
		acc = f.layers(p, layers, lower)
	}
	if p.Name != "" {
		f.group(p.Name, printed(acc.units, f.shape(p)))
	}
	return acc
}

// group adds to the results of a name.
func (f *folder) group(name string, rules []Rule) {
	if at := slices.IndexFunc(f.groups, func(g Group) bool { return g.Name == name }); at >= 0 {
		f.groups[at].Rules = append(f.groups[at].Rules, rules...)
		return
	}
	f.groups = append(f.groups, Group{Name: name, Rules: rules})
}

// aside folds the members of a plan whose function makes the result: for the names that they have, and for nothing else.
func (f planner) aside(p *Plan, layers []int, lower unsets) {
	if len(p.Of) == 0 {
		return
	}
	members := *p
	members.Name, members.Func, members.Only = "", nil, nil
	steps, ordered, listed := len(f.trace), f.ordered, f.listed
	f.plan(&members, layers, lower)
	f.trace, f.ordered, f.listed = f.trace[:steps], ordered, listed
}

// at filters layers by the plan's levels.
func (f planner) at(p *Plan, layers []int) []int {
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
func (f planner) each(p *Plan, layers []int, lower unsets) accumulator {
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
	for i, hop := range slices.Backward(hops) {
		members[i] = f.plan(&one, byHop[hop], lower)
		lower = members[i].unset
		if hop < len(f.stack.Hops) {
			strategies[i] = f.stack.Hops[hop]
		}
	}
	acc := f.members(p, members, strategies)
	acc.unset = lower
	return acc
}

// members folds the results of a plan's members, least specific first; own holds strategies that members bring along.
func (f planner) members(p *Plan, members []accumulator, own []*Strategy) accumulator {
	var acc accumulator
	for i := len(members) - 1; i >= 0; i-- {
		m := members[i]
		switch {
		case !m.present:
		case !acc.present:
			acc = m
		default:
			strategy, asked := Strategy{}, p.FromLower && acc.asks != nil
			if own != nil && own[i] != nil {
				strategy, asked = *own[i], false
			} else if s := f.ruling(p, &acc); s != nil {
				strategy = *s
			}
			st := Step{Plan: p.Name, Layer: -1, Block: Bare, Strategy: strategy.on(Bare)}
			if asked && (strategy.Func != nil || strategy.Cut != Whole) {
				st.Partners = partners(acc.units, m.units)
			}
			f.merge(p, &acc, m.units, &st)
			f.record(st, &acc)
		}
	}
	return acc
}

// partners are the layers that the units of two sides come from.
func partners(sides ...[]Unit) []int {
	var out []int
	for _, units := range sides {
		for _, from := range froms(units) {
			out = append(out, from.Layer)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ruling is the strategy that the plan prescribes, or nil.
func (f *folder) ruling(p *Plan, acc *accumulator) *Strategy {
	if p.FromLower && acc.asks != nil {
		return acc.asks
	}
	return p.Strategy
}

// custom lets the plan's function fold: its layers are numbered among themselves and hold the units that the plan takes, with their sources.
func (f planner) custom(p *Plan, layers []int) accumulator {
	if len(layers) == 0 {
		return accumulator{}
	}
	s := Stack{Name: f.stack.Name, Hops: f.stack.Hops}
	for at, i := range layers {
		l := f.stack.Layers[i]
		l.Blocks = slices.Clone(l.Blocks)
		for j, b := range l.Blocks {
			l.Blocks[j].Units = f.signed(p, incoming{at, b})
		}
		s.Layers = append(s.Layers, l)
	}
	units, effects := p.Func(s)
	f.ordered, f.listed = f.ordered || p.Ordered, f.listed || p.Ordered
	addressed(effects)
	for i := range units {
		units[i].From = shift(units[i].From, layers)
		for j, from := range units[i].Items {
			units[i].Items[j] = shift(from, layers)
		}
	}
	for i := range effects {
		effects[i].From, effects[i].Other = shift(effects[i].From, layers), shift(effects[i].Other, layers)
	}
	acc := accumulator{units: units, present: len(layers) > 0}
	st := Step{Plan: p.Name, Layer: -1, Block: Bare, Effects: effects}
	st.Strategy.Func = func(_, lower []Unit) ([]Unit, []Effect) { return lower, nil } // stands for the plan's function
	f.record(st, &acc)
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
