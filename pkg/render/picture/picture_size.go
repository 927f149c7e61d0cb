package picture

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// What Graphviz leaves between and around things, in points.
const (
	lineHigh  = 13 // a line of text, the large ones and the small ones
	cellPad   = 8
	nodeGap   = 12
	columnGap = 40
	frameHigh = 40 // the name of a frame, and what is above and below in it
	frameWide = 20
	labelHigh = 24 // the label of a line, and what is above it
)

// maxAspectRatio is how many times as high as wide a picture may be by its extent: what is drawn
// may be a little taller.
const maxAspectRatio = 3.2

// Fits reports whether the picture of a topology is at most four times as high as wide, as far as
// can be told before it is drawn.
func (o DOTOptions) Fits(t *graph.Topology) bool {
	if o.Layout == LayoutFlat { // the flat layout is for programs
		return true
	}
	wide, high := NewPicture(t).estimateSize()
	return float64(high) <= maxAspectRatio*float64(wide)
}

// estimateSize is about how wide and high the picture is drawn, in points, without the legend.
func (p *picture) estimateSize() (wide, high int) {
	columns := 0
	each := func(see func(frame string, column, w, h int)) {
		for _, b := range p.Boxes {
			w, h := p.estimateBoxSize(b)
			see(FrameOf(b.Node), b.Column, w, h)
		}
		for _, n := range p.notes {
			see(FrameOf(n.Node), n.column, estimateNoteWidth(n), (2+len(groupFacts(n.Node)))*lineHigh+cellPad)
		}
	}
	each(func(_ string, column, _, _ int) { columns = max(columns, column+1) })
	widths := make([]int, columns)
	frames := map[string][]int{} // the heights of the columns of each frame
	each(func(frame string, column, w, h int) {
		widths[column] = max(widths[column], w)
		if frames[frame] == nil {
			frames[frame] = make([]int, columns)
		}
		frames[frame][column] += h + nodeGap
	})
	heights := make([]int, columns)
	for frame, own := range frames {
		first, last := -1, 0
		for column, h := range own {
			if h > 0 && first < 0 {
				first = column
			}
			if h > 0 {
				last = column
			}
		}
		for column := first; column <= last; column++ { // a frame is as high everywhere
			heights[column] += map[bool]int{true: slices.Max(own) + frameHigh, false: own[column]}[frame != ""]
		}
	}
	labels := make([]int, columns) // behind each column
	for i := range p.Edges {
		if l := &p.Edges[i]; l.Label != "" || formatCount(l.count) != "" {
			labels[l.From.columnNumber()] += labelHigh
		}
	}
	for _, w := range widths {
		wide += w + columnGap
	}
	return wide + frameWide, max(slices.Max(append(heights, 1)), slices.Max(append(labels, 0)))
}

// estimateNoteWidth is about how wide a policy is drawn.
func estimateNoteWidth(n *policyNote) int {
	if len(n.Node.Members) > 0 {
		return textWidth(memberTitle(n.Node), nameSize) + 2*cellPad
	}
	return max(textWidth(clipText(n.Node.Ref.Kind, nameWidth), smallSize),
		textWidth(clipText(n.Node.Ref.Name, nameWidth), nameSize)) + 2*cellPad
}

// estimateBoxSize is about how wide and high a target is drawn.
func (p *picture) estimateBoxSize(b *targetBox) (wide, high int) {
	title := clipText(b.Node.Ref.Name, nameWidth)
	if len(b.Node.Members) > 0 {
		title = memberTitle(b.Node)
	}
	head := textWidth(title, nameSize)
	for _, f := range boxFacts(b) {
		head = max(head, textWidth(clipText(f, factWidth), smallSize))
	}
	high = (2+len(boxFacts(b)))*lineHigh + cellPad
	if b.Node.Labels[graph.LabelVerdict] != "" {
		high += lineHigh
	}
	names, told := 0, 0
	for i, r := range b.Rows {
		most := 0
		for _, chips := range r.Chips {
			most = max(most, min(len(chips), chipsShown))
		}
		if i == 0 {
			if most > 0 && len(b.Rows) > 1 {
				high += max(lineHigh, most*chipHeight) + cellPad
			} else {
				high = max(high, most*chipHeight+lineHigh+2*cellPad)
			}
			continue
		}
		high += max(lineHigh, most*chipHeight) + cellPad
		names = max(names, textWidth(clipText(r.Node.Ref.Section, nameWidth), nameSize))
		told = max(told, textWidth(clipText(sectionFact(r.Node), factWidth), smallSize))
	}
	wide = max(head+2*cellPad, names+told+2*cellPad)
	for _, k := range p.kindsInBox(b) {
		wide += p.chipWidth(b, k) + signWidth + cellPad/2
	}
	return wide, high
}
