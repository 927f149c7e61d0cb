package merge

import (
	"cmp"
	"slices"
)

// Recut cuts units at another shape: coarse ones are split, finer ones joined. Sources are kept: a
// joined unit keeps the parts that differ in theirs. The order is that of the first part of each
// unit. Units that are cut so already are returned as they are.
func Recut(units []Unit, shape Shape) []Unit {
	if id := shape.firstPattern(); id != nil && !hasUnit(units, func(u *Unit) bool { return u.cutBy != id }) {
		return units
	}
	r := recutter{shape: shape, out: make([]Unit, 0, len(units))}
	for i := range units {
		if units[i].cutBy != nil && units[i].cutBy == shape.firstPattern() {
			r.out = append(r.out, units[i])
		} else {
			r.addUnit(units[i])
		}
	}
	for i := range r.out {
		if len(r.out[i].Parts) > 0 && r.out[i].From == nil {
			r.out[i] = joinParts(r.out[i].Path, r.out[i].Parts)
		}
	}
	return r.out
}

type recutter struct {
	shape  Shape
	out    []Unit
	groups map[string]int // code of a joined unit → its index in out; nil: nothing was joined
}

func (r *recutter) addUnit(u Unit) {
	c := r.shape.startCursor()
	for d, seg := range u.Path {
		if c.endsHere() || seg.Form != Key && c.keyedPattern() == nil {
			r.addToCoarser(u, d)
			return
		}
		c = c.advanceTo(seg)
	}
	switch {
	case u.Null || c.endsHere():
		r.out = append(r.out, u)
	case len(u.Parts) > 0:
		for _, p := range u.Parts {
			r.addUnit(p)
		}
	default:
		r.splitUnit(u, c)
	}
}

func (r *recutter) addToCoarser(u Unit, depth int) {
	code := u.Path[:depth].encode()
	i, ok := r.groups[code]
	if !ok {
		if r.groups == nil {
			r.groups = map[string]int{}
		}
		i = len(r.out)
		r.groups[code] = i
		r.out = append(r.out, Unit{Path: u.Path[:depth:depth]})
	}
	r.out[i].Parts = append(r.out[i].Parts, u.finestParts()...)
}

func (r *recutter) splitUnit(u Unit, c cursor) {
	n := len(r.out)
	k := cutter{emit: func(at Path, v any) {
		r.out = append(r.out, Unit{Path: at, Value: v, When: u.When, From: u.From, cutBy: r.shape.firstPattern()})
	}}
	k.cutValue(u.Value, slices.Clone(u.Path), c)
	if len(r.out) == n { // an empty container: it is still somebody's setting
		r.out = append(r.out, u)
	}
}

// joinParts makes one unit at path of parts that lie below it. The parts are dropped where they
// tell nothing more.
func joinParts(path Path, parts []Unit) Unit {
	u := Unit{Path: path, Value: assembleBelow(parts, len(path)), From: sourcesOf(parts)}
	for _, p := range parts {
		if p.Null || !slices.Equal(p.From, u.From) {
			u.Parts = parts
		}
	}
	return u
}

// eachPart calls see for the unit itself, or for the parts it was joined of.
func (u *Unit) eachPart(see func(*Unit)) {
	if len(u.Parts) == 0 {
		see(u)
		return
	}
	for i := range u.Parts {
		u.Parts[i].eachPart(see)
	}
}

// finestParts returns the unit itself, or the parts it was joined of.
func (u Unit) finestParts() []Unit {
	if len(u.Parts) == 0 {
		return []Unit{u}
	}
	var out []Unit
	for _, p := range u.Parts {
		out = append(out, p.finestParts()...)
	}
	return out
}

// sourcesOf lists the sources of units, each once, least specific first.
func sourcesOf(units []Unit) []Source {
	if len(units) == 1 || len(units) > 1 && len(units[0].From) == 1 &&
		!hasUnit(units[1:], func(u *Unit) bool { return !slices.Equal(u.From, units[0].From) }) {
		return units[0].From
	}
	var out []Source
	for i := range units {
		out = append(out, units[i].From...)
	}
	return sortSources(out)
}

// sortSources puts the sources in order, each once.
func sortSources(from []Source) []Source {
	slices.SortFunc(from, Source.compare)
	return slices.Compact(from)
}

func (f Source) compare(g Source) int {
	return cmp.Or(cmp.Compare(f.Layer, g.Layer), cmp.Compare(f.Block, g.Block), cmp.Compare(f.filledRank(),
		g.filledRank()))
}

func (f Source) filledRank() int {
	if f.Filled {
		return 1
	}
	return 0
}
