package merge

// Assemble builds the bare settings document of units (engine E7): nil if there are none. Values
// are shared with the units. Entries of keyed lists stand in the order of the units; nulls are left
// out, the objects around them are not.
func Assemble(units []Unit) any {
	if len(units) == 0 {
		return nil
	}
	return assembleBelow(units, 0)
}

// assembleBelow builds what the units say below the first depth segments of their paths.
func assembleBelow(units []Unit, depth int) any {
	root := &documentTree{}
	for _, u := range units {
		root.addUnit(u.Path[depth:], u)
	}
	return root.buildValue()
}

type documentTree struct {
	leafValue  any
	children   []childNode
	childIndex map[Segment]int // where kids are, once there are many
	isLeaf     bool
	isList     bool // the kids are entries of a list
}

// childNode is what a tree has at a segment.
type childNode struct {
	segment Segment
	documentTree
}

func (t *documentTree) addUnit(p Path, u Unit) {
	for i, seg := range p {
		if u.Null && i == len(p)-1 {
			return
		}
		t = t.childAt(seg)
	}
	if !u.Null {
		t.isLeaf, t.leafValue = true, u.Value
	}
}

// childAt returns the part at a segment, and adds one if there is none. The pointer is good until
// another child is added.
func (t *documentTree) childAt(seg Segment) *documentTree {
	const many = 16
	if i := t.findChild(seg); i >= 0 {
		return &t.children[i].documentTree
	}
	t.children, t.isList = append(t.children, childNode{segment: seg}), seg.Form == Entry || seg.Form == ListEntry
	switch {
	case t.childIndex != nil:
		t.childIndex[seg] = len(t.children) - 1
	case len(t.children) > many:
		t.childIndex = make(map[Segment]int, 2*many)
		for i := range t.children {
			t.childIndex[t.children[i].segment] = i
		}
	}
	return &t.children[len(t.children)-1].documentTree
}

// findChild returns the index of the part at a segment, or -1.
func (t *documentTree) findChild(seg Segment) int {
	if t.childIndex == nil {
		for i := range t.children {
			if t.children[i].segment == seg {
				return i
			}
		}
		return -1
	}
	if i, ok := t.childIndex[seg]; ok {
		return i
	}
	return -1
}

func (t *documentTree) buildValue() any {
	switch {
	case t.isLeaf:
		return t.leafValue
	case t.isList:
		list := make([]any, len(t.children))
		for i := range t.children {
			list[i] = t.children[i].buildValue()
		}
		return list
	}
	m := make(map[string]any, len(t.children))
	for i := range t.children {
		m[t.children[i].segment.Name] = t.children[i].buildValue()
	}
	return m
}
