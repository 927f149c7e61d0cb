package merge

import "slices"

// cursor walks a path through all patterns of a shape at once.
type cursor struct {
	shape   Shape
	matches []partialMatch
}

// partialMatch is a pattern that fits the path so far, up to its segment off.
type partialMatch struct {
	pattern, offset int
	literal         bool // its last segment named the node, it was no wildcard
}

// firstPattern returns the address of the first pattern, by which shapes are told apart; nil if the
// shape is empty.
func (s Shape) firstPattern() *Pattern {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

func (s Shape) startCursor() cursor {
	marks := make([]partialMatch, 0, len(s))
	for i := range s {
		if path := s[i].Path; len(path) < 2 || path[0].Form != Deep { // such a pattern cuts nothing
			marks = append(marks, partialMatch{pattern: i})
		}
	}
	return cursor{s, marks}
}

// advanceTo follows the path by one segment.
func (c cursor) advanceTo(seg Segment) cursor {
	var marks []partialMatch
	for _, m := range c.matches {
		path := c.shape[m.pattern].Path
		if m.offset >= len(path) {
			if c.isAtKeyedList(m) && seg.Form != Key {
				marks = append(marks, partialMatch{m.pattern, m.offset + 1, true})
			}
			continue
		}
		switch want := path[m.offset]; {
		case seg.Form != Key:
		case want.Form == Deep:
			marks = append(marks, partialMatch{m.pattern, m.offset, false})
		case want.matchesKey(seg.Name):
			marks = append(marks, partialMatch{m.pattern, m.offset + 1, want.Form == Key})
		}
	}
	return cursor{c.shape, marks}
}

// isAtKeyedList reports whether m stands at the list of a keyed pattern, whose entries are the
// units.
func (c cursor) isAtKeyedList(m partialMatch) bool {
	p := &c.shape[m.pattern]
	return m.offset == len(p.Path) && p.cutsList()
}

// endsHere reports whether the node is a unit whatever its value: a pattern ends here and none goes
// on through it with literal segments, or no pattern covers it.
func (c cursor) endsHere() bool {
	if len(c.matches) == 0 {
		return true
	}
	end := false
	for _, m := range c.matches {
		done := m.offset >= len(c.shape[m.pattern].Path) && !c.isAtKeyedList(m)
		if !done && m.literal {
			return false
		}
		end = end || done
	}
	return end
}

// keyedPattern returns the pattern that cuts the list at this node into entries, or nil.
func (c cursor) keyedPattern() *Pattern {
	for _, m := range c.matches {
		if c.isAtKeyedList(m) {
			return &c.shape[m.pattern]
		}
	}
	return nil
}

// hasDeepPattern reports whether a pattern of any depth has matched so far, for which an empty
// object is a value.
func (c cursor) hasDeepPattern() bool {
	return slices.ContainsFunc(c.matches, func(m partialMatch) bool {
		path := c.shape[m.pattern].Path
		return m.offset < len(path) && path[m.offset].Form == Deep
	})
}

// isNamedContainer reports whether every pattern that fits so far goes on below this node and has
// named a key above it: the node is a container, not a field.
func (c cursor) isNamedContainer() bool {
	for _, m := range c.matches {
		path := c.shape[m.pattern].Path[:min(m.offset, len(c.shape[m.pattern].Path))]
		if m.offset >= len(c.shape[m.pattern].Path) ||
			!slices.ContainsFunc(path, func(s Segment) bool { return s.Form == Key }) {
			return false
		}
	}
	return true
}

// IsFiller reports whether the unit at p leaves a set empty.
func (s Shape) IsFiller(p Path) bool {
	return slices.ContainsFunc(s, func(pt Pattern) bool { return pt.Filler && pt.endsAtPath(p) })
}

// endsAtPath reports whether the pattern ends at p.
func (pt Pattern) endsAtPath(p Path) bool {
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
		case !want.matchesKey(seg.Name):
			return false
		}
	}
	return len(p) == len(pt.Path)
}

// cutsAt reports whether a unit at p is as fine as the shape cuts, or finer.
func (s Shape) cutsAt(p Path) bool {
	c := s.startCursor()
	for _, seg := range p {
		if c.endsHere() {
			return true
		}
		c = c.advanceTo(seg)
	}
	return c.endsHere() || c.hasDeepPattern()
}

// Covers reports whether the unit at p belongs to the shape: a pattern ends at p or above it.
func (s Shape) Covers(p Path) bool { return s.coversPath(p) }

// coversPath is Covers for this package.
func (s Shape) coversPath(p Path) bool {
	c := s.startCursor()
	for d := 0; ; d++ {
		for _, m := range c.matches {
			path := s[m.pattern].Path
			if m.offset >= len(path) || path[m.offset].Form == Deep {
				return true
			}
		}
		if d == len(p) {
			return false
		}
		c = c.advanceTo(p[d])
	}
}
