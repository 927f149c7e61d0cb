package merge

import (
	"cmp"
	"slices"
)

// Recut cuts units at another shape: coarse ones are split, finer ones joined. Sources are kept: a joined unit keeps the parts that
// differ in theirs. The order is that of the first part of each unit. Units that are cut so already are returned as they are.
func Recut(units []Unit, shape Shape) []Unit {
	if id := shape.id(); id != nil && !anyOf(units, func(u *Unit) bool { return u.cut != id }) {
		return units
	}
	r := recutter{shape: shape, out: make([]Unit, 0, len(units))}
	for i := range units {
		if units[i].cut != nil && units[i].cut == shape.id() {
			r.out = append(r.out, units[i])
		} else {
			r.add(units[i])
		}
	}
	for i := range r.out {
		if len(r.out[i].Parts) > 0 && r.out[i].From == nil {
			r.out[i] = join(r.out[i].Path, r.out[i].Parts)
		}
	}
	return r.out
}

type recutter struct {
	shape  Shape
	out    []Unit
	groups map[string]int // code of a joined unit → its index in out; nil: nothing was joined
}

func (r *recutter) add(u Unit) {
	c := r.shape.start()
	for d, seg := range u.Path {
		if c.ends() || seg.Form != Key && c.keyed() == nil {
			r.join(u, d)
			return
		}
		c = c.next(seg)
	}
	switch {
	case u.Null || c.ends():
		r.out = append(r.out, u)
	case len(u.Parts) > 0:
		for _, p := range u.Parts {
			r.add(p)
		}
	default:
		r.split(u, c)
	}
}

func (r *recutter) join(u Unit, depth int) {
	code := u.Path[:depth].code()
	i, ok := r.groups[code]
	if !ok {
		if r.groups == nil {
			r.groups = map[string]int{}
		}
		i = len(r.out)
		r.groups[code] = i
		r.out = append(r.out, Unit{Path: u.Path[:depth:depth]})
	}
	r.out[i].Parts = append(r.out[i].Parts, u.finest()...)
}

func (r *recutter) split(u Unit, c cursor) {
	n := len(r.out)
	k := cutter{emit: func(at Path, v any) {
		r.out = append(r.out, Unit{Path: at, Value: v, When: u.When, From: u.From, cut: r.shape.id()})
	}}
	k.cut(u.Value, slices.Clone(u.Path), c)
	if len(r.out) == n { // an empty container: it is still somebody's setting
		r.out = append(r.out, u)
	}
}

// join makes one unit at path of parts that lie below it. The parts are dropped where they tell nothing more.
func join(path Path, parts []Unit) Unit {
	u := Unit{Path: path, Value: assemble(parts, len(path)), From: froms(parts)}
	for _, p := range parts {
		if p.Null || !slices.Equal(p.From, u.From) {
			u.Parts = parts
		}
	}
	return u
}

// each calls see for the unit itself, or the parts it was joined of.
func (u *Unit) each(see func(*Unit)) {
	if len(u.Parts) == 0 {
		see(u)
		return
	}
	for i := range u.Parts {
		u.Parts[i].each(see)
	}
}

// finest is the unit itself, or the parts it was joined of.
func (u Unit) finest() []Unit {
	if len(u.Parts) == 0 {
		return []Unit{u}
	}
	var out []Unit
	for _, p := range u.Parts {
		out = append(out, p.finest()...)
	}
	return out
}

// froms lists the sources of units, each once, least specific first.
func froms(units []Unit) []From {
	if len(units) == 1 || len(units) > 1 && len(units[0].From) == 1 && !anyOf(units[1:], func(u *Unit) bool { return !slices.Equal(u.From, units[0].From) }) {
		return units[0].From
	}
	var out []From
	for i := range units {
		out = append(out, units[i].From...)
	}
	return sorted(out)
}

// sorted puts the sources in order, each once.
func sorted(from []From) []From {
	slices.SortFunc(from, From.compare)
	return slices.Compact(from)
}

func (f From) compare(g From) int {
	return cmp.Or(cmp.Compare(f.Layer, g.Layer), cmp.Compare(f.Block, g.Block), cmp.Compare(f.filled(), g.filled()))
}

func (f From) filled() int {
	if f.Filled {
		return 1
	}
	return 0
}
