package picture

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
	p.lowerWorkloads()
	targeted := map[int]bool{}
	levelOf := map[*policyNote]int{}
	for _, l := range p.Edges {
		if l.Kind != graph.EdgeTargets || l.From.Note == nil || l.to.box == nil {
			continue
		}
		if at, known := levelOf[l.From.Note]; !known || l.to.box.level < at {
			levelOf[l.From.Note] = l.to.box.level
		}
	}
	levels := map[int]bool{}
	for _, b := range p.Boxes {
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
	for _, b := range p.Boxes {
		b.Column = columns[b.level]
	}
	for _, n := range p.notes {
		n.column = columns[levelOf[n]] - 1
	}
	p.addEntryPoints(targeted)
	p.addBranchPoints()
	slices.SortStableFunc(p.Boxes, func(a, b *targetBox) int {
		return cmp.Or(cmp.Compare(FrameOf(a.Node), FrameOf(b.Node)), cmp.Compare(a.Column, b.Column))
	})
	p.sortNotes()
	slices.SortStableFunc(p.Edges, func(a, b pictureEdge) int {
		return cmp.Or(cmp.Compare(a.From.columnNumber(), b.From.columnNumber()), cmp.Compare(a.From.nodeID(), b.From.nodeID()),
			cmp.Compare(a.From.row, b.From.row), cmp.Compare(a.to.nodeID(), b.to.nodeID()), cmp.Compare(a.to.row,
				b.to.row))
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
		for _, l := range p.Edges {
			if l.Kind != graph.EdgeParent || l.From.box == nil || l.to.box == nil || l.From.box == l.to.box ||
				l.From.box.Node.Kind != "route" || l.to.box.Node.Kind != "route" {
				continue
			}
			if l.to.box.level <= l.From.box.level && l.From.box.level < roleLevel("route")+maxDelegationColumns {
				l.to.box.level = l.From.box.level + 1
				moved = true
			}
		}
		if !moved {
			return
		}
	}
}

// lowerWorkloads moves the workloads that the way of a request leads to behind its points.
func (p *picture) lowerWorkloads() {
	for _, l := range p.Edges {
		if l.Kind == graph.EdgeParent && l.From.box != nil && l.to.box != nil && l.From.box.Node.IsPoint() &&
			l.to.box.Node.Kind == "workload" && l.From.box.level > roleLevel("backend") {
			l.to.box.level = max(l.to.box.level, l.From.box.level+1)
		}
	}
}

// FrameOf is the namespace in whose frame a node stands; "" is none.
func FrameOf(n *graph.GraphNode) string {
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
	for i := range p.Edges {
		l := &p.Edges[i]
		if l.Kind != graph.EdgeParent || l.to.box == nil || l.to.row != 0 || !targeted[l.to.box.level] ||
			l.From.columnNumber() >= l.to.box.Column-1 {
			continue
		}
		if e := l.to.box.entry; e == nil || e.State == "" {
			l.to.box.entry = &pictureEdge{Kind: l.Kind, State: l.State}
		}
	}
}

// sortNotes sorts policies by where they attach, so that few of their lines cross.
func (p *picture) sortNotes() {
	type spot struct{ box, row int }
	boxes := map[*targetBox]int{}
	for i, b := range p.Boxes {
		boxes[b] = i
	}
	spots := map[*policyNote]spot{}
	for _, l := range p.Edges {
		if l.Kind != graph.EdgeTargets || l.From.Note == nil || l.to.box == nil {
			continue
		}
		at := spot{boxes[l.to.box], l.to.row}
		if known, is := spots[l.From.Note]; !is || at.box < known.box || at.box == known.box && at.row < known.row {
			spots[l.From.Note] = at
		}
	}
	slices.SortStableFunc(p.notes, func(a, b *policyNote) int {
		x, y := spots[a], spots[b]
		return cmp.Or(cmp.Compare(FrameOf(a.Node), FrameOf(b.Node)), cmp.Compare(a.column, b.column),
			cmp.Compare(x.box, y.box), cmp.Compare(x.row, y.row))
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
	for i := range p.Edges {
		l := &p.Edges[i]
		if !isPolicyOutcome(l.Kind) || l.From.Note == nil || l.to.box == nil ||
			l.From.Note.column >= l.to.box.Column-1 {
			continue
		}
		key := pair{l.From.Note, l.to.box}
		if points[key] == nil {
			points[key] = &branchPoint{from: key.from, to: key.to}
			p.branches = append(p.branches, points[key])
		}
		l.branch = points[key]
	}
	slices.SortFunc(p.branches, func(a, b *branchPoint) int {
		return cmp.Or(cmp.Compare(a.to.Node.ID, b.to.Node.ID), cmp.Compare(a.from.Node.ID, b.from.Node.ID))
	})
}
