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
	leaf    bool
	val     any
	names   map[Segment]int
	order   []Segment
	kids    []*tree
	entries bool // the kids are entries of a list
}

func (t *tree) put(p Path, u Unit) {
	for i, seg := range p {
		if u.Null && i == len(p)-1 {
			if t.names == nil && !t.leaf {
				t.names = map[Segment]int{}
			}
			return
		}
		t = t.kid(seg)
	}
	if !u.Null {
		t.leaf, t.val = true, u.Value
	}
}

func (t *tree) kid(seg Segment) *tree {
	if t.names == nil {
		t.names = map[Segment]int{}
	}
	i, ok := t.names[seg]
	if !ok {
		i = len(t.kids)
		t.names[seg] = i
		t.order, t.kids = append(t.order, seg), append(t.kids, &tree{})
		t.entries = seg.Form != Key
	}
	return t.kids[i]
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
