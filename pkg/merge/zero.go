package merge

import "slices"

// sifter decides of units that exclude or weaken each other which take part in a merge.
type sifter struct{ *folder }

// zeros takes zero values out of the two sides of a merge: one of the winning side gives way to a value of the other, and one of the other
// side fills nothing. A side that meets nothing is taken as it is.
func (f sifter) zeros(acc *accumulator, in []Unit, st *Step) []Unit {
	zero := func(u Unit) bool { return u.Zero }
	if len(acc.units) == 0 || len(in) == 0 || !slices.ContainsFunc(acc.units, zero) && !slices.ContainsFunc(in, zero) {
		return in
	}
	if st.Strategy.Wins == Lower {
		weak := f.counting(acc.units, in, st, Dropped)
		acc.units = f.shown(acc.units, weak, st, Replaced)
		return weak
	}
	weak := f.counting(in, acc.units, st, Replaced)
	strong := f.shown(in, weak, st, Dropped)
	acc.units = weak
	return strong
}

// shown is the winning side without the zero values in whose place the other one has a value.
func (f sifter) shown(strong, weak []Unit, st *Step, o Action) []Unit {
	values := make(map[string][]From, len(weak))
	for i := range weak {
		if !weak[i].Zero {
			values[weak[i].Path.code()] = weak[i].From
		}
	}
	return slices.DeleteFunc(slices.Clone(strong), func(u Unit) bool {
		to, ok := values[u.Path.code()]
		if ok = ok && u.Zero; ok {
			f.lose(st, u, o, NoEffect, to)
		}
		return ok
	})
}

// counting is the other side without the zero values that would stand in a place that the winning side leaves out.
func (f sifter) counting(strong, weak []Unit, st *Step, o Action) []Unit {
	named := make(map[string]bool, len(strong))
	for i := range strong {
		named[strong[i].Path.code()] = true
	}
	return slices.DeleteFunc(slices.Clone(weak), func(u Unit) bool {
		gone := u.Zero && !named[u.Path.code()]
		if gone {
			f.lose(st, u, o, NoEffect, nil)
		}
		return gone
	})
}
