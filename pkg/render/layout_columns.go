package render

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// assignColumns gives every box and note its column. Levels of traffic go from left to right, and
// the policies that target something of a level have the column before it.
func (p *picture) assignColumns() {
	p.lowerDelegates()
	targeted := map[int]bool{}
	levelOf := map[*policyNote]int{}
	for _, l := range p.edges {
		if l.kind != graph.EdgeTargets || l.from.note == nil || l.to.box == nil {
			continue
		}
		if at, known := levelOf[l.from.note]; !known || l.to.box.level < at {
			levelOf[l.from.note] = l.to.box.level
		}
	}
	levels := map[int]bool{}
	for _, b := range p.boxes {
		levels[b.level] = true
	}
	for _, n := range p.notes {
		at, known := levelOf[n]
		if !known { // no target is drawn: with those of the first level
			at = slices.Min(append(slices.Collect(maps.Keys(levels)), levelOfNothing))
			levelOf[n] = at
			levels[at] = true
		}
		targeted[at] = true
	}
	columns, next := map[int]int{}, 0
	for _, at := range slices.Sorted(maps.Keys(levels)) {
		if targeted[at] {
			next++
		}
		columns[at] = next
		next++
	}
	for _, b := range p.boxes {
		b.column = columns[b.level]
	}
	for _, n := range p.notes {
		n.column = columns[levelOf[n]] - 1
	}
	p.addEntryPoints(targeted)
	p.addBranchPoints()
	slices.SortStableFunc(p.boxes, func(a, b *targetBox) int {
		return cmp.Or(cmp.Compare(frameOf(a.node), frameOf(b.node)), cmp.Compare(a.column, b.column))
	})
	p.sortNotes()
	slices.SortStableFunc(p.edges, func(a, b pictureEdge) int {
		return cmp.Or(cmp.Compare(a.from.column(), b.from.column()), cmp.Compare(a.from.nodeID(), b.from.nodeID()), cmp.Compare(a.from.row, b.from.row), cmp.Compare(a.to.nodeID(), b.to.nodeID()), cmp.Compare(a.to.row, b.to.row))
	})
}

// levelOfNothing is the level of policies in a drawing without boxes.
const levelOfNothing = 3

// maxDelegationColumns is how many times routes hand over to routes in columns of their own.
const maxDelegationColumns = 5

// lowerDelegates moves routes that other routes delegate to onto a level below them.
func (p *picture) lowerDelegates() {
	for range maxDelegationColumns {
		moved := false
		for _, l := range p.edges {
			if l.kind != graph.EdgeParent || l.from.box == nil || l.to.box == nil || l.from.box == l.to.box || l.from.box.node.Kind != "route" || l.to.box.node.Kind != "route" {
				continue
			}
			if l.to.box.level <= l.from.box.level && l.from.box.level < roleLevel("route")+maxDelegationColumns {
				l.to.box.level = l.from.box.level + 1
				moved = true
			}
		}
		if !moved {
			return
		}
	}
}

// frameOf is the namespace in whose frame a node stands; "" is none.
func frameOf(n *graph.GraphNode) string {
	switch {
	case isNamespaceGroup(n):
		return "" // the node is a namespace itself
	case n.Kind == "namespace":
		return n.Ref.Name
	}
	return n.Ref.Namespace
}

// addEntryPoints gives a point before it to each box that traffic comes to past a column of
// policies: the point stands in that column.
func (p *picture) addEntryPoints(targeted map[int]bool) {
	for i := range p.edges {
		l := &p.edges[i]
		if l.kind != graph.EdgeParent || l.to.box == nil || l.to.row != 0 || !targeted[l.to.box.level] || l.from.column() >= l.to.box.column-1 {
			continue
		}
		if e := l.to.box.entry; e == nil || e.state == "" {
			l.to.box.entry = &pictureEdge{kind: l.kind, state: l.state}
		}
	}
}

// sortNotes sorts policies by where they attach, so that few of their lines cross.
func (p *picture) sortNotes() {
	type spot struct{ box, row int }
	boxes := map[*targetBox]int{}
	for i, b := range p.boxes {
		boxes[b] = i
	}
	spots := map[*policyNote]spot{}
	for _, l := range p.edges {
		if l.kind != graph.EdgeTargets || l.from.note == nil || l.to.box == nil {
			continue
		}
		at := spot{boxes[l.to.box], l.to.row}
		if known, is := spots[l.from.note]; !is || at.box < known.box || at.box == known.box && at.row < known.row {
			spots[l.from.note] = at
		}
	}
	slices.SortStableFunc(p.notes, func(a, b *policyNote) int {
		x, y := spots[a], spots[b]
		return cmp.Or(cmp.Compare(frameOf(a.node), frameOf(b.node)), cmp.Compare(a.column, b.column), cmp.Compare(x.box, y.box), cmp.Compare(x.row, y.row))
	})
}

// addBranchPoints gives points to the lines of policies in focus, one before each box that is not
// beside the policy.
func (p *picture) addBranchPoints() {
	type pair struct {
		from *policyNote
		to   *targetBox
	}
	points := map[pair]*branchPoint{}
	for i := range p.edges {
		l := &p.edges[i]
		if !isPolicyOutcome(l.kind) || l.from.note == nil || l.to.box == nil || l.from.note.column >= l.to.box.column-1 {
			continue
		}
		key := pair{l.from.note, l.to.box}
		if points[key] == nil {
			points[key] = &branchPoint{from: key.from, to: key.to}
			p.branches = append(p.branches, points[key])
		}
		l.branch = points[key]
	}
	slices.SortFunc(p.branches, func(a, b *branchPoint) int {
		return cmp.Or(cmp.Compare(a.to.node.ID, b.to.node.ID), cmp.Compare(a.from.node.ID, b.from.node.ID))
	})
}
