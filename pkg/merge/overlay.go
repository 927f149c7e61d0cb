package merge

import "slices"

// clash is a unit that lost, and the units of the other side that it clashed with.
type clash struct {
	unit    Unit
	by      []Unit
	void    bool // an empty object that the other side fills: it says nothing
	winning bool // the unit is of the winning side; such a one can only be void
}

// overlayUnits lays one side over the other. Two units clash if their paths are equal or one is a
// prefix of the other; then the loser's goes. An empty object does not clash with what the other
// side puts into it. It returns the winner's units that say something, the loser's that stand, each
// in its order, and the clashes.
func overlayUnits(winner, loser []Unit) (kept, rest []Unit, clashes []clash) {
	var filled, beaten map[int][]int // by winner: losers inside an empty object; by loser: winners
	note := func(m *map[int][]int, at, other int) {
		if *m == nil {
			*m = map[int][]int{}
		}
		(*m)[at] = append((*m)[at], other)
	}
	eachClash(winner, loser, func(w, l int) {
		if len(winner[w].Path) < len(loser[l].Path) && isEmptyObject(winner[w].Value) {
			note(&filled, w, l)
		} else {
			note(&beaten, l, w)
		}
	})
	if filled == nil && beaten == nil {
		return slices.Clip(winner), slices.Clip(loser), nil
	}
	for i, w := range winner {
		if inside := filled[i]; inside != nil {
			clashes = append(clashes, clash{unit: w, by: pickUnits(loser, inside), void: true, winning: true})
			continue
		}
		kept = append(kept, w)
	}
	for i, l := range loser {
		over := beaten[i]
		if over == nil {
			rest = append(rest, l)
			continue
		}
		void := isEmptyObject(l.Value) && len(winner[over[0]].Path) > len(l.Path)
		clashes = append(clashes, clash{unit: l, by: pickUnits(winner, over), void: void})
	}
	return kept, rest, clashes
}

// eachClash calls see for every pair of units whose paths are equal or one of which is a prefix of
// the other. Only the shorter side is indexed: of a step and what is below it, usually the step.
func eachClash(a, b []Unit, see func(i, j int)) {
	if len(a) > len(b) {
		eachClash(b, a, func(i, j int) { see(j, i) })
		return
	}
	t := indexByPath(a)
	for j := range b {
		code := b[j].Path.encode()
		for _, i := range t.equal[code] {
			see(i, j)
		}
		for _, i := range t.deeper[code] {
			see(i, j)
		}
		for up := range ancestorsOf(code) {
			for _, i := range t.equal[up] {
				see(i, j)
			}
		}
	}
}

// isEmptyObject reports whether a value is an object without entries.
func isEmptyObject(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case Packed:
		n, object := v.Size()
		return object && n == 0
	}
	return false
}

// hasUnit reports whether a predicate holds for one of the units. They are large, so it takes
// pointers.
func hasUnit(units []Unit, is func(*Unit) bool) bool {
	for i := range units {
		if is(&units[i]) {
			return true
		}
	}
	return false
}

// isEmpty reports whether the unit has nothing in it.
func (u *Unit) isEmpty() bool {
	return isEmptyObject(u.Value) || u.Value == nil && !u.Null && u.Parts == nil
}

func pickUnits(units []Unit, at []int) []Unit {
	out := make([]Unit, len(at))
	for i, j := range at {
		out[i] = units[j]
	}
	return out
}

// pathIndex finds units by path: at a path, and below it.
type pathIndex struct{ equal, deeper map[string][]int }

func indexByPath(units []Unit) pathIndex {
	t := pathIndex{make(map[string][]int, len(units)), make(map[string][]int, 2*len(units))}
	for i := range units {
		code := units[i].Path.encode()
		t.equal[code] = append(t.equal[code], i)
		for up := range ancestorsOf(code) {
			t.deeper[up] = append(t.deeper[up], i)
		}
	}
	return t
}

func ancestorsOf(code string) func(func(string) bool) {
	return func(yield func(string) bool) { yieldAncestors(code, yield) }
}
