package merge

import "slices"

// cursor walks a path through all patterns of a shape at once.
type cursor struct {
	shape Shape
	marks []mark
}

// mark is a pattern that fits the path so far, up to its segment off.
type mark struct {
	pattern, off int
	literal      bool // its last segment named the node, it was no wildcard
}

// id tells shapes apart.
func (s Shape) id() *Pattern {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

func (s Shape) start() cursor {
	marks := make([]mark, 0, len(s))
	for i := range s {
		if path := s[i].Path; len(path) < 2 || path[0].Form != Deep { // such a pattern cuts nothing
			marks = append(marks, mark{pattern: i})
		}
	}
	return cursor{s, marks}
}

// next follows one segment down.
func (c cursor) next(seg Segment) cursor {
	var marks []mark
	for _, m := range c.marks {
		path := c.shape[m.pattern].Path
		if m.off >= len(path) {
			if c.listed(m) && seg.Form != Key {
				marks = append(marks, mark{m.pattern, m.off + 1, true})
			}
			continue
		}
		switch want := path[m.off]; {
		case seg.Form != Key:
		case want.Form == Deep:
			marks = append(marks, mark{m.pattern, m.off, false})
		case want.means(seg.Name):
			marks = append(marks, mark{m.pattern, m.off + 1, want.Form == Key})
		}
	}
	return cursor{c.shape, marks}
}

// listed reports whether m stands at the list of a keyed pattern, whose entries are the units.
func (c cursor) listed(m mark) bool {
	p := &c.shape[m.pattern]
	return m.off == len(p.Path) && p.cutsList()
}

// ends reports whether the node is a unit whatever its value: a pattern ends here and none goes on through it with literal
// segments, or no pattern covers it.
func (c cursor) ends() bool {
	if len(c.marks) == 0 {
		return true
	}
	end := false
	for _, m := range c.marks {
		done := m.off >= len(c.shape[m.pattern].Path) && !c.listed(m)
		if !done && m.literal {
			return false
		}
		end = end || done
	}
	return end
}

// keyed is the pattern that cuts the list at this node into entries, or nil.
func (c cursor) keyed() *Pattern {
	for _, m := range c.marks {
		if c.listed(m) {
			return &c.shape[m.pattern]
		}
	}
	return nil
}

// deep reports whether a pattern of any depth is under way, for which an empty object is a value.
func (c cursor) deep() bool {
	return slices.ContainsFunc(c.marks, func(m mark) bool {
		path := c.shape[m.pattern].Path
		return m.off < len(path) && path[m.off].Form == Deep
	})
}

// named reports whether every pattern under way has named something on its way here: the node is a container, not a field.
func (c cursor) named() bool {
	for _, m := range c.marks {
		path := c.shape[m.pattern].Path[:min(m.off, len(c.shape[m.pattern].Path))]
		if m.off >= len(c.shape[m.pattern].Path) || !slices.ContainsFunc(path, func(s Segment) bool { return s.Form == Key }) {
			return false
		}
	}
	return true
}

// Filler reports whether the unit at p leaves a set empty.
func (s Shape) Filler(p Path) bool {
	return slices.ContainsFunc(s, func(pt Pattern) bool { return pt.Filler && pt.ends(p) })
}

// ends reports whether the pattern ends at p.
func (pt Pattern) ends(p Path) bool {
	for i, seg := range p {
		switch {
		case i == len(pt.Path):
			return i == len(p)-1 && pt.cutsList() && seg.Form != Key
		case seg.Form != Key:
			return false
		}
		switch want := pt.Path[i]; {
		case want.Form == Deep:
			return false
		case !want.means(seg.Name):
			return false
		}
	}
	return len(p) == len(pt.Path)
}

// endsAt reports whether a unit at p is as fine as the shape cuts, or finer.
func (s Shape) endsAt(p Path) bool {
	c := s.start()
	for _, seg := range p {
		if c.ends() {
			return true
		}
		c = c.next(seg)
	}
	return c.ends() || c.deep()
}

// Covers reports whether the unit at p belongs to the shape: a pattern ends at p or above it.
func (s Shape) Covers(p Path) bool { return s.covers(p) }

// covers is Covers.
func (s Shape) covers(p Path) bool {
	c := s.start()
	for d := 0; ; d++ {
		for _, m := range c.marks {
			path := s[m.pattern].Path
			if m.off >= len(path) || path[m.off].Form == Deep {
				return true
			}
		}
		if d == len(p) {
			return false
		}
		c = c.next(p[d])
	}
}
