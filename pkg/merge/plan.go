package merge

import "slices"

// isSingleFold reports whether p is one fold of everything.
func (p *Plan) isSingleFold() bool {
	return p.Only == nil && p.Levels == nil && p.EachRole == "" && p.Members == nil && p.Func == nil
}

// planTakes reports whether the unit belongs to plan p: no earlier plan claimed it, and p and the
// plans around it are open to it.
func (f *stackFold) planTakes(p *Plan, u *Unit) bool {
	for i := range f.earlierPlans {
		if f.earlierPlans[i].Only == nil || f.earlierPlans[i].Only.coversPath(u.Path) {
			return false
		}
	}
	for _, shape := range f.openShapes {
		if !shape.coversPath(u.Path) {
			return false
		}
	}
	return p.Only == nil || p.Only.coversPath(u.Path)
}

// planFold folds the layers of plans and of their members.
type planFold struct{ *stackFold }

// foldPlan folds the layers by p: a leaf merges them, an inner plan merges the results of its
// members. Lower are the names that groups below have deactivated; the result has those of its own
// layers as well.
func (f planFold) foldPlan(p *Plan, layers []int, lower unsets) accumulator {
	layers = f.layersAtLevels(p, layers)
	if p.Only != nil {
		f.openShapes = append(f.openShapes, p.Only)
		defer func() { f.openShapes = f.openShapes[:len(f.openShapes)-1] }()
	}
	var acc accumulator
	switch {
	case p.EachRole != "":
		acc = f.foldEachHop(p, layers, lower)
	case p.Func != nil:
		f.foldForGroups(p, layers, lower)
		acc = f.callPlanFunc(p, layers)
	case len(p.Members) > 0:
		members := make([]accumulator, len(p.Members))
		for i := len(p.Members) - 1; i >= 0; i-- {
			members[i] = f.foldPlan(&p.Members[i], layers, lower)
			lower = members[i].unset
		}
		acc = f.foldMembers(p, members, nil)
		acc.unset = lower
	default:
		acc = f.foldLayers(p, layers, lower)
	}
	if p.Name != "" {
		f.addToGroup(p.Name, rulesOf(acc.units, f.shapeOf(p)))
	}
	return acc
}

// addToGroup adds rules to the result of a named member.
func (f *stackFold) addToGroup(name string, rules []Rule) {
	if at := slices.IndexFunc(f.groups, func(g Group) bool { return g.Name == name }); at >= 0 {
		f.groups[at].Rules = append(f.groups[at].Rules, rules...)
		return
	}
	f.groups = append(f.groups, Group{Name: name, Rules: rules})
}

// foldForGroups folds the members of a plan whose function makes the result, only for the named
// groups that they have.
func (f planFold) foldForGroups(p *Plan, layers []int, lower unsets) {
	if len(p.Members) == 0 {
		return
	}
	members := *p
	members.Name, members.Func, members.Only = "", nil, nil
	steps, ordered, listed := len(f.trace), f.ordered, f.orderedByFunc
	f.foldPlan(&members, layers, lower)
	f.trace, f.ordered, f.orderedByFunc = f.trace[:steps], ordered, listed
}

// layersAtLevels returns the layers that stand at the plan's levels.
func (f planFold) layersAtLevels(p *Plan, layers []int) []int {
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

// foldEachHop folds every hop of a repeated role by itself, then the hops, each by the strategy
// read at its object.
func (f planFold) foldEachHop(p *Plan, layers []int, lower unsets) accumulator {
	one := *p
	one.EachRole, one.Name = "", ""
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
		members[i] = f.foldPlan(&one, byHop[hop], lower)
		lower = members[i].unset
		if hop < len(f.stack.Hops) {
			strategies[i] = f.stack.Hops[hop]
		}
	}
	acc := f.foldMembers(p, members, strategies)
	acc.unset = lower
	return acc
}

// foldMembers folds the results of a plan's members, least specific first; own holds strategies
// that members bring along.
func (f planFold) foldMembers(p *Plan, members []accumulator, own []*Strategy) accumulator {
	var acc accumulator
	for i := len(members) - 1; i >= 0; i-- {
		m := members[i]
		switch {
		case !m.present:
		case !acc.present:
			acc = m
		default:
			strategy, asked := Strategy{}, p.FromLower && acc.demanded != nil
			if own != nil && own[i] != nil {
				strategy, asked = *own[i], false
			} else if s := f.prescribedStrategy(p, &acc); s != nil {
				strategy = *s
			}
			st := Step{Plan: p.Name, Layer: -1, Block: Bare, Strategy: strategy.forBlock(Bare)}
			if asked && (strategy.Func != nil || strategy.Cut != Whole) {
				st.Partners = layersOfUnits(acc.units, m.units)
			}
			f.mergeUnits(p, &acc, m.units, &st)
			f.recordStep(st, &acc)
		}
	}
	return acc
}

// layersOfUnits returns the layers that the units of the given sides come from, sorted, each once.
func layersOfUnits(sides ...[]Unit) []int {
	var out []int
	for _, units := range sides {
		for _, from := range sourcesOf(units) {
			out = append(out, from.Layer)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// prescribedStrategy returns the strategy that the plan prescribes, or nil.
func (f *stackFold) prescribedStrategy(p *Plan, acc *accumulator) *Strategy {
	if p.FromLower && acc.demanded != nil {
		return acc.demanded
	}
	return p.Strategy
}

// callPlanFunc lets the plan's function fold: its layers are numbered among themselves and hold the
// units that the plan takes, with their sources.
func (f planFold) callPlanFunc(p *Plan, layers []int) accumulator {
	if len(layers) == 0 {
		return accumulator{}
	}
	s := Stack{Name: f.stack.Name, Hops: f.stack.Hops, Fact: f.stack.Fact}
	for at, i := range layers {
		l := f.stack.Layers[i]
		l.Blocks = slices.Clone(l.Blocks)
		for j, b := range l.Blocks {
			l.Blocks[j].Units = f.unitsForPlan(p, incomingBlock{at, b})
		}
		s.Layers = append(s.Layers, l)
	}
	units, effects := p.Func(s)
	f.ordered, f.orderedByFunc = f.ordered || p.Ordered, f.orderedByFunc || p.Ordered
	encodePaths(effects)
	for i := range units {
		units[i].From = renumberLayers(units[i].From, layers)
		for j, from := range units[i].Items {
			units[i].Items[j] = renumberLayers(from, layers)
		}
	}
	for i := range effects {
		effects[i].From, effects[i].Other = renumberLayers(effects[i].From, layers), renumberLayers(effects[i].Other,
			layers)
	}
	acc := accumulator{units: units, present: len(layers) > 0}
	st := Step{Plan: p.Name, Layer: -1, Block: Bare, Effects: effects}
	st.Strategy.Func = func(_, lower []Unit) ([]Unit, []Effect) { return lower, nil } // stands for the plan's function
	f.recordStep(st, &acc)
	return acc
}

// renumberLayers turns positions in a part of the stack into positions in the whole.
func renumberLayers(from []Source, layers []int) []Source {
	out := slices.Clone(from)
	for i := range out {
		out[i].Layer = layers[out[i].Layer]
	}
	return out
}
