package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// fontName is a font whose widths Graphviz knows without having it, and that others stand in for everywhere.
const fontName = "Arial"

// clusterWriter draws a picture with namespaces as frames.
type clusterWriter struct {
	indentWriter
	*picture
	options DOTOptions
	colors  palette
}

func writeClusters(l indentWriter, p *picture, o DOTOptions) {
	d := &clusterWriter{indentWriter: l, picture: p, options: o, colors: newPalette()}
	d.writeLine(0, "digraph dopolicy {")
	d.writeLine(1, "graph ["+formatAttributes(attribute{"rankdir", "LR"}, attribute{"newrank", "true"}, attribute{"mclimit", "4"}, attribute{"nodesep", "0.16"}, attribute{"ranksep", "0.55"}, attribute{"pad", "0.2"},
		attribute{"bgcolor", d.colorValue(d.colors.ground)}, attribute{"fontname", fontName}, attribute{"fontsize", "11"}, attribute{"fontcolor", d.colorValue(d.colors.muted)})+"];")
	d.writeLine(1, "node ["+formatAttributes(attribute{"shape", "plain"}, attribute{"fontname", fontName}, attribute{"fontsize", "11"}, attribute{"fontcolor", d.colorValue(d.colors.text)})+"];")
	d.writeLine(1, "edge ["+formatAttributes(attribute{"fontname", fontName}, attribute{"fontsize", "9"}, attribute{"fontcolor", d.colorValue(d.colors.muted)}, attribute{"arrowsize", "0.7"})+"];")
	d.drawFrames()
	d.alignColumns()
	for i := range d.picture.edges {
		d.drawEdge(&d.picture.edges[i])
	}
	for _, b := range d.boxes {
		d.drawEntryEdge(b)
	}
	for _, s := range d.branches {
		d.drawBranchEdge(s)
	}
	if legend := d.drawLegend(); legend != "" { // last, so that clusters do not inherit it
		d.writeLine(1, `labelloc="b"; label=<`+legend+`>;`)
	}
	d.writeLine(0, "}")
}

// colorValue is a colour in the theme.
func (d *clusterWriter) colorValue(s themeColor) string { return s.valueIn(d.options.Theme) }

// drawFrames draws the nodes, those of a namespace in its frame.
func (d *clusterWriter) drawFrames() {
	boxes, notes := d.boxes, d.notes
	for n := 0; len(boxes)+len(notes) > 0; n++ {
		name := nextNamespace(boxes, notes)
		indent := 1
		if name != "" {
			d.writeLine(1, fmt.Sprintf("subgraph cluster_%d {", n))
			d.writeLine(2, "graph ["+formatAttributes(attribute{"label", escapeEntities(clipText(Escape(name), factWidth))}, attribute{"class", "namespace"}, attribute{"tooltip", escapeEntities("namespace " + name)}, attribute{"style", "rounded,filled"},
				attribute{"color", d.colorValue(d.colors.groupFrame)}, attribute{"fillcolor", d.colorValue(d.colors.group)}, attribute{"labeljust", "l"}, attribute{"margin", "10"})+"];")
			indent = 2
		}
		for ; len(notes) > 0 && frameOf(notes[0].node) == name; notes = notes[1:] {
			d.drawNote(indent, notes[0])
		}
		for ; len(boxes) > 0 && frameOf(boxes[0].node) == name; boxes = boxes[1:] {
			d.drawEntry(indent, boxes[0])
			d.drawBranchPoints(indent, boxes[0])
			d.drawBox(indent, boxes[0])
		}
		if name != "" {
			d.writeLine(1, "}")
		}
	}
}

// nextNamespace is the first namespace of what is left.
func nextNamespace(boxes []*targetBox, notes []*policyNote) string {
	if len(boxes) == 0 {
		return frameOf(notes[0].node)
	}
	if len(notes) == 0 {
		return frameOf(boxes[0].node)
	}
	return min(frameOf(boxes[0].node), frameOf(notes[0].node))
}

// alignColumns keeps what is of one column in one column, and the columns in their order.
func (d *clusterWriter) alignColumns() {
	var ids [][]string
	put := func(column int, id string) {
		for len(ids) <= column {
			ids = append(ids, nil)
		}
		ids[column] = append(ids[column], quoteNodeID(id))
	}
	for _, n := range d.notes {
		put(n.column, n.node.ID)
	}
	for _, b := range d.boxes {
		put(b.column, b.node.ID)
		if b.entry != nil {
			put(b.column-1, entryID(b))
		}
	}
	for _, s := range d.branches {
		put(s.to.column-1, branchPointID(s))
	}
	before := ""
	for _, column := range ids {
		if len(column) == 0 {
			continue
		}
		if len(column) > 1 {
			d.writeLine(1, "{ rank=same; "+strings.Join(column, "; ")+"; }")
		}
		if before != "" {
			d.writeLine(1, before+" -> "+column[0]+" ["+formatAttributes(attribute{"style", "invis"}, attribute{"weight", "0"})+"];")
		}
		before = column[0]
	}
}

// drawEdge draws a line. Lines between columns leave to the right and arrive from the left.
func (d *clusterWriter) drawEdge(l *pictureEdge) {
	s := findLineStyle(l.state, l.kind)
	label := l.formatLabel()
	means, ink := d.describeState(l.state, s), ""
	if l.differs {
		means, ink = means+", and a proxy does otherwise", d.colorValue(d.colors.overridden)
	}
	class := strings.TrimSpace(l.kind + " " + l.state)
	if l.state == l.kind {
		class = l.kind
	}
	if l.differs {
		class += " differs"
	}
	free, weight := "", "4"
	if l.kind != graph.EdgeParent {
		weight = "2"
	}
	if l.from.column() >= l.to.column() || isPolicyOutcome(l.kind) {
		free, weight = "false", "1"
	}
	arrow, head := s.arrow, d.formatEnd(l.to, false)
	if l.usesEntry() {
		arrow, head = "none", quoteNodeID(entryID(l.to.box))+":w"
	}
	tail := d.formatEnd(l.from, true)
	if l.from.column() == l.to.column() { // Graphviz 2.43 loses the arrowheads of lines between ports of one column
		tail, head = quoteNodeID(l.from.nodeID()), quoteNodeID(l.to.nodeID())
	}
	if l.branch != nil {
		tail, free, weight = quoteNodeID(branchPointID(l.branch))+":e", "", "1"
	}
	d.writeLine(1, tail+" -> "+head+" ["+formatAttributes(attribute{"class", class}, attribute{"id", "e-" + formatElementID(nodeDrawnAt(l.from).ID) + "--" + formatElementID(nodeDrawnAt(l.to).ID) + "-" + l.kind},
		attribute{"color", d.colorValue(s.colour)}, attribute{"style", s.style}, attribute{"penwidth", s.width}, attribute{"arrowhead", arrow}, attribute{"constraint", free}, attribute{"weight", weight},
		attribute{"label", escapeEntities(Escape(label))}, attribute{"fontcolor", ink}, attribute{"tooltip", escapeEntities(tooltipOf(nodeDrawnAt(l.from)) + " → " + tooltipOf(nodeDrawnAt(l.to)) + ": " + means)})+"];")
}

// formatLabel is the text at a line.
func (l *pictureEdge) formatLabel() string {
	out := strings.TrimSpace(l.label + " " + formatCount(l.count))
	if l.differs {
		out = strings.TrimSpace(out + " " + deviationSign)
	}
	return out
}

// nodeDrawnAt is the node drawn at a place.
func nodeDrawnAt(p position) *graph.GraphNode {
	if p.note != nil {
		return p.note.node
	}
	return p.box.rows[p.row].node
}

// formatEnd is one end of an edge: a node, or the left or right side of a row of it.
func (d *clusterWriter) formatEnd(p position, tail bool) string {
	if p.note != nil {
		return quoteNodeID(p.note.node.ID) + map[bool]string{true: ":e", false: ""}[tail]
	}
	if tail && (p.row > 0 || len(d.kindsInBox(p.box)) > 0) {
		return quoteNodeID(p.box.node.ID) + ":" + formatPort(p.row, true) + ":e"
	}
	if tail { // the head of a line ends at one cell
		return quoteNodeID(p.box.node.ID) + ":" + formatPort(p.row, false) + ":e"
	}
	return quoteNodeID(p.box.node.ID) + ":" + formatPort(p.row, false) + ":w"
}

// formatPort is the name of a row's first or last cell.
func formatPort(row int, last bool) string {
	return map[bool]string{true: "o", false: "i"}[last] + strconv.Itoa(row)
}

// formatCount says how many edges a line stands for, "" for one.
func formatCount(count int) string {
	if count < 2 {
		return ""
	}
	return "×" + strconv.Itoa(count)
}

// entryID is the name of the point where traffic to a box comes together.
func entryID(b *targetBox) string { return b.node.ID + " entry" }

// drawEntry draws a point before a box, beside the policies on it: all traffic to the box goes
// through it, and not around the frame that it stands in.
func (d *clusterWriter) drawEntry(indent int, b *targetBox) {
	if b.entry == nil {
		return
	}
	s := findLineStyle(b.entry.state, b.entry.kind)
	d.writeLine(indent, quoteNodeID(entryID(b))+" ["+formatAttributes(attribute{"shape", "point"}, attribute{"class", "entry"}, attribute{"width", "0.03"}, attribute{"color", d.colorValue(s.colour)}, attribute{"fillcolor", d.colorValue(s.colour)},
		attribute{"tooltip", escapeEntities("traffic to " + tooltipOf(b.node))})+"];")
}

// drawEntryEdge draws the line from the point into the box.
func (d *clusterWriter) drawEntryEdge(b *targetBox) {
	if b.entry == nil {
		return
	}
	s := findLineStyle(b.entry.state, b.entry.kind)
	d.writeLine(1, quoteNodeID(entryID(b))+":e -> "+d.formatEnd(position{box: b}, false)+" ["+formatAttributes(attribute{"class", strings.TrimSpace("parent " + b.entry.state)}, attribute{"color", d.colorValue(s.colour)}, attribute{"style", s.style},
		attribute{"penwidth", s.width}, attribute{"arrowhead", s.arrow}, attribute{"weight", "8"}, attribute{"tooltip", escapeEntities("traffic to " + tooltipOf(b.node))})+"];")
}

// branchPointID is the name of the point before a box from which the lines of a policy branch.
func branchPointID(s *branchPoint) string { return s.to.node.ID + " from " + s.from.node.ID }

// drawBranchPoints draws the points before a box.
func (d *clusterWriter) drawBranchPoints(indent int, b *targetBox) {
	for _, s := range d.branches {
		if s.to != b {
			continue
		}
		colour := d.colorValue(kindColors()[s.from.kind%len(kindColors())].line)
		d.writeLine(indent, quoteNodeID(branchPointID(s))+" ["+formatAttributes(attribute{"shape", "point"}, attribute{"class", "entry"}, attribute{"width", "0.05"}, attribute{"color", colour}, attribute{"fillcolor", colour},
			attribute{"tooltip", escapeEntities(tooltipOf(s.from.node) + " at " + tooltipOf(b.node))})+"];")
	}
}

// drawBranchEdge draws the line from a policy to the point before a box.
func (d *clusterWriter) drawBranchEdge(s *branchPoint) {
	d.writeLine(1, quoteNodeID(s.from.node.ID)+":e -> "+quoteNodeID(branchPointID(s))+":w ["+formatAttributes(attribute{"class", "reach"}, attribute{"color", d.colorValue(kindColors()[s.from.kind%len(kindColors())].line)},
		attribute{"style", "solid"}, attribute{"penwidth", "1"}, attribute{"arrowhead", "none"}, attribute{"weight", "1"}, attribute{"tooltip", escapeEntities(tooltipOf(s.from.node) + " at " + tooltipOf(s.to.node))})+"];")
}
