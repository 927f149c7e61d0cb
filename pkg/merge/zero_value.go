package merge

import "slices"

// unitFilter takes units out of a merge that another unit excludes or outweighs.
type unitFilter struct{ *stackFold }

// dropZeros takes zero values out of the two sides of a merge: one of the winning side gives way to
// a value of the other, and one of the other side fills nothing. A side that meets nothing is taken
// as it is.
func (f unitFilter) dropZeros(acc *accumulator, in []Unit, st *Step) []Unit {
	zero := func(u Unit) bool { return u.Zero }
	if len(acc.units) == 0 || len(in) == 0 || !slices.ContainsFunc(acc.units, zero) && !slices.ContainsFunc(in, zero) {
		return in
	}
	if st.Strategy.Wins == Lower {
		weak := f.withoutFillingZeros(acc.units, in, st, Dropped)
		acc.units = f.withoutOutweighedZeros(acc.units, weak, st, Replaced)
		return weak
	}
	weak := f.withoutFillingZeros(in, acc.units, st, Replaced)
	strong := f.withoutOutweighedZeros(in, weak, st, Dropped)
	acc.units = weak
	return strong
}

// withoutOutweighedZeros returns the winning side without the zero values in whose place the other
// one has a value.
func (f unitFilter) withoutOutweighedZeros(strong, weak []Unit, st *Step, o Action) []Unit {
	values := make(map[string][]Source, len(weak))
	for i := range weak {
		if !weak[i].Zero {
			values[weak[i].Path.encode()] = weak[i].From
		}
	}
	return slices.DeleteFunc(slices.Clone(strong), func(u Unit) bool {
		to, ok := values[u.Path.encode()]
		if ok = ok && u.Zero; ok {
			f.recordLoss(st, u, o, NoEffect, to)
		}
		return ok
	})
}

// withoutFillingZeros returns the other side without the zero values that would stand in a place
// that the winning side leaves out.
func (f unitFilter) withoutFillingZeros(strong, weak []Unit, st *Step, o Action) []Unit {
	named := make(map[string]bool, len(strong))
	for i := range strong {
		named[strong[i].Path.encode()] = true
	}
	return slices.DeleteFunc(slices.Clone(weak), func(u Unit) bool {
		gone := u.Zero && !named[u.Path.encode()]
		if gone {
			f.recordLoss(st, u, o, NoEffect, nil)
		}
		return gone
	})
}
