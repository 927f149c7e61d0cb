package merge

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
	val     any
	kids    []branch
	names   map[Segment]int // where kids are, once there are many
	leaf    bool
	entries bool // the kids are entries of a list
}

// branch is what a tree has at a segment.
type branch struct {
	seg Segment
	tree
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

// kid is the part at a segment, a new one if there is none. It moves when another one is added beside it.
func (t *tree) kid(seg Segment) *tree {
	const many = 16
	if i := t.find(seg); i >= 0 {
		return &t.kids[i].tree
	}
	t.kids, t.entries = append(t.kids, branch{seg: seg}), seg.Form == Entry || seg.Form == ListEntry
	switch {
	case t.names != nil:
		t.names[seg] = len(t.kids) - 1
	case len(t.kids) > many:
		t.names = make(map[Segment]int, 2*many)
		for i := range t.kids {
			t.names[t.kids[i].seg] = i
		}
	}
	return &t.kids[len(t.kids)-1].tree
}

// find is where the part at a segment is, or -1.
func (t *tree) find(seg Segment) int {
	if t.names == nil {
		for i := range t.kids {
			if t.kids[i].seg == seg {
				return i
			}
		}
		return -1
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
		for i := range t.kids {
			list[i] = t.kids[i].value()
		}
		return list
	}
	m := make(map[string]any, len(t.kids))
	for i := range t.kids {
		m[t.kids[i].seg.Name] = t.kids[i].value()
	}
	return m
}
