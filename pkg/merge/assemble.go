package merge

import "slices"

// Assemble builds the bare settings document of units (engine E7): nil if there are none. Values are shared with the units.
// Entries of keyed lists stand in the order of the units; nulls are left out, the objects around them are not.
func Assemble(units []Unit) any {
	if len(units) == 0 {
		return nil
	}
	return assemble(units, 0)
}

// assemble builds what the units say below the first depth segments of their paths.
func assemble(units []Unit, depth int) any {
	root := &tree{}
	for _, u := range units {
		root.put(u.Path[depth:], u)
	}
	return root.value()
}

type tree struct {
	leaf    bool
	val     any
	order   []Segment
	kids    []*tree
	names   map[Segment]int // where kids are, once there are many
	entries bool            // the kids are entries of a list
}

func (t *tree) put(p Path, u Unit) {
	for i, seg := range p {
		if u.Null && i == len(p)-1 {
			return
		}
		t = t.kid(seg)
	}
	if !u.Null {
		t.leaf, t.val = true, u.Value
	}
}

func (t *tree) kid(seg Segment) *tree {
	const many = 16
	if i := t.find(seg); i >= 0 {
		return t.kids[i]
	}
	kid := &tree{}
	t.order, t.kids, t.entries = append(t.order, seg), append(t.kids, kid), seg.Form == Entry || seg.Form == ListEntry
	switch {
	case t.names != nil:
		t.names[seg] = len(t.kids) - 1
	case len(t.kids) > many:
		t.names = make(map[Segment]int, 2*many)
		for i, s := range t.order {
			t.names[s] = i
		}
	}
	return kid
}

// find is where the part at a segment is, or -1.
func (t *tree) find(seg Segment) int {
	if t.names == nil {
		return slices.Index(t.order, seg)
	}
	if i, ok := t.names[seg]; ok {
		return i
	}
	return -1
}

func (t *tree) value() any {
	switch {
	case t.leaf:
		return t.val
	case t.entries:
		list := make([]any, len(t.kids))
		for i, k := range t.kids {
			list[i] = k.value()
		}
		return list
	}
	m := make(map[string]any, len(t.kids))
	for i, k := range t.kids {
		m[t.order[i].Name] = k.value()
	}
	return m
}
