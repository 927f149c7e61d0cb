package picture

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// fontName is a font whose widths Graphviz knows without having it, and that others stand in for
// everywhere.
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
	d.writeLine(1, "graph ["+formatAttributes(attribute{"rankdir", "LR"}, attribute{"newrank", "true"},
		attribute{"mclimit", "4"}, attribute{"nodesep", "0.16"}, attribute{"ranksep", "0.55"}, attribute{"pad", "0.2"},
		attribute{"bgcolor", d.colorValue(d.colors.ground)}, attribute{"fontname", fontName}, attribute{"fontsize",
			"11"}, attribute{"fontcolor", d.colorValue(d.colors.muted)})+"];")
	d.writeLine(1, "node ["+formatAttributes(attribute{"shape", "plain"}, attribute{"fontname", fontName},
		attribute{"fontsize", "11"}, attribute{"fontcolor", d.colorValue(d.colors.text)})+"];")
	d.writeLine(1, "edge ["+formatAttributes(attribute{"fontname", fontName}, attribute{"fontsize", "9"},
		attribute{"fontcolor", d.colorValue(d.colors.muted)}, attribute{"arrowsize", "0.7"})+"];")
	d.drawFrames()
	d.alignColumns()
	for i := range d.picture.Edges {
		d.drawEdge(&d.picture.Edges[i])
	}
	for _, b := range d.Boxes {
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
	boxes, notes := d.Boxes, d.notes
	for n := 0; len(boxes)+len(notes) > 0; n++ {
		name := nextNamespace(boxes, notes)
		indent := 1
		if name != "" {
			d.writeLine(1, fmt.Sprintf("subgraph cluster_%d {", n))
			d.writeLine(2,
				"graph ["+
					formatAttributes(attribute{"label", escapeEntities(clipText(escape.Escape(name), factWidth))},
						attribute{"class", "namespace"}, attribute{"tooltip", escapeEntities("namespace " + name)},
						attribute{"style", "rounded,filled"},
						attribute{"color", d.colorValue(d.colors.groupFrame)}, attribute{"fillcolor",
							d.colorValue(d.colors.group)}, attribute{"labeljust", "l"}, attribute{"margin", "10"})+"];")
			indent = 2
		}
		for ; len(notes) > 0 && FrameOf(notes[0].Node) == name; notes = notes[1:] {
			d.drawNote(indent, notes[0])
		}
		for ; len(boxes) > 0 && FrameOf(boxes[0].Node) == name; boxes = boxes[1:] {
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
		return FrameOf(notes[0].Node)
	}
	if len(notes) == 0 {
		return FrameOf(boxes[0].Node)
	}
	return min(FrameOf(boxes[0].Node), FrameOf(notes[0].Node))
}

// alignColumns keeps what is of one column in one column, and the columns in their order.
func (d *clusterWriter) alignColumns() {
	var ids [][]string
	put := func(column int, id string) {
		for len(ids) <= column {
			ids = append(ids, nil)
		}
		ids[column] = append(ids[column], QuoteNodeID(id))
	}
	for _, n := range d.notes {
		put(n.column, n.Node.ID)
	}
	for _, b := range d.Boxes {
		put(b.Column, b.Node.ID)
		if b.entry != nil {
			put(b.Column-1, entryID(b))
		}
	}
	for _, s := range d.branches {
		put(s.to.Column-1, branchPointID(s))
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
			d.writeLine(1, before+" -> "+column[0]+" ["+formatAttributes(attribute{"style", "invis"},
				attribute{"weight", "0"})+"];")
		}
		before = column[0]
	}
}

// drawEdge draws a line. Lines between columns leave to the right and arrive from the left.
func (d *clusterWriter) drawEdge(l *pictureEdge) {
	s := findLineStyle(l.State, l.Kind)
	label := l.formatLabel()
	means, ink := d.describeState(l.State, s), ""
	if l.differs {
		means, ink = means+", and a proxy does otherwise", d.colorValue(d.colors.overridden)
	}
	class := strings.TrimSpace(l.Kind + " " + l.State)
	if l.State == l.Kind {
		class = l.Kind
	}
	if l.differs {
		class += " differs"
	}
	free, weight := "", "4"
	if l.Kind != graph.EdgeParent {
		weight = "2"
	}
	if l.From.columnNumber() >= l.to.columnNumber() || isPolicyOutcome(l.Kind) {
		free, weight = "false", "1"
	}
	arrow, head := s.arrow, d.formatEnd(l.to, false)
	if l.usesEntry() {
		arrow, head = "none", QuoteNodeID(entryID(l.to.box))+":w"
	}
	tail := d.formatEnd(l.From, true)
	if l.From.columnNumber() == l.to.columnNumber() { // Graphviz 2.43 loses the arrowheads of lines between ports of one column
		tail, head = QuoteNodeID(l.From.nodeID()), QuoteNodeID(l.to.nodeID())
	}
	if l.branch != nil {
		tail, free, weight = QuoteNodeID(branchPointID(l.branch))+":e", "", "1"
	}
	d.writeLine(1, tail+" -> "+head+" ["+formatAttributes(attribute{"class", class},
		attribute{"id", "e-" + formatElementID(nodeDrawnAt(l.From).ID) + "--" + formatElementID(nodeDrawnAt(l.to).ID) +
			"-" + l.Kind},
		attribute{"color", d.colorValue(s.colour)}, attribute{"style", s.style}, attribute{"penwidth",
			s.width}, attribute{"arrowhead", arrow}, attribute{"constraint", free}, attribute{"weight", weight},
		attribute{"label", escapeEntities(escape.Escape(label))}, attribute{"fontcolor", ink}, attribute{"tooltip",
			escapeEntities(TooltipOf(nodeDrawnAt(l.From)) + " → " + TooltipOf(nodeDrawnAt(l.to)) + ": " + means)})+"];")
}

// formatLabel is the text at a line.
func (l *pictureEdge) formatLabel() string {
	out := strings.TrimSpace(l.Label + " " + formatCount(l.count))
	if l.differs {
		out = strings.TrimSpace(out + " " + deviationSign)
	}
	return out
}

// nodeDrawnAt is the node drawn at a place.
func nodeDrawnAt(p position) *graph.GraphNode {
	if p.Note != nil {
		return p.Note.Node
	}
	return p.box.Rows[p.row].Node
}

// formatEnd is one end of an edge: a node, or the left or right side of a row of it.
func (d *clusterWriter) formatEnd(p position, tail bool) string {
	if p.Note != nil {
		return QuoteNodeID(p.Note.Node.ID) + map[bool]string{true: ":e", false: ""}[tail]
	}
	if tail && (p.row > 0 || len(d.kindsInBox(p.box)) > 0) {
		return QuoteNodeID(p.box.Node.ID) + ":" + formatPort(p.row, true) + ":e"
	}
	if tail { // the head of a line ends at one cell
		return QuoteNodeID(p.box.Node.ID) + ":" + formatPort(p.row, false) + ":e"
	}
	return QuoteNodeID(p.box.Node.ID) + ":" + formatPort(p.row, false) + ":w"
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

// entryID is the name of the point where traffic to a box joins.
func entryID(b *targetBox) string { return b.Node.ID + " entry" }

// drawEntry draws a point before a box, beside the policies on it: all traffic to the box goes
// through it, and not around the frame that it stands in.
func (d *clusterWriter) drawEntry(indent int, b *targetBox) {
	if b.entry == nil {
		return
	}
	s := findLineStyle(b.entry.State, b.entry.Kind)
	d.writeLine(indent, QuoteNodeID(entryID(b))+" ["+formatAttributes(attribute{"shape", "point"},
		attribute{"class", "entry"}, attribute{"width", "0.03"}, attribute{"color", d.colorValue(s.colour)}, attribute{
			"fillcolor", d.colorValue(s.colour)},
		attribute{"tooltip", escapeEntities("traffic to " + TooltipOf(b.Node))})+"];")
}

// drawEntryEdge draws the line from the point into the box.
func (d *clusterWriter) drawEntryEdge(b *targetBox) {
	if b.entry == nil {
		return
	}
	s := findLineStyle(b.entry.State, b.entry.Kind)
	d.writeLine(1, QuoteNodeID(entryID(b))+":e -> "+d.formatEnd(position{box: b}, false)+" ["+
		formatAttributes(attribute{"class", strings.TrimSpace("parent " + b.entry.State)},
			attribute{"color", d.colorValue(s.colour)}, attribute{"style", s.style},
			attribute{"penwidth", s.width}, attribute{"arrowhead", s.arrow}, attribute{"weight",
				"8"}, attribute{"tooltip",
				escapeEntities("traffic to " + TooltipOf(b.Node))})+"];")
}

// branchPointID is the name of the point before a box from which the lines of a policy branch.
func branchPointID(s *branchPoint) string { return s.to.Node.ID + " from " + s.from.Node.ID }

// drawBranchPoints draws the points before a box.
func (d *clusterWriter) drawBranchPoints(indent int, b *targetBox) {
	for _, s := range d.branches {
		if s.to != b {
			continue
		}
		colour := d.colorValue(kindColors()[s.from.kind%len(kindColors())].line)
		d.writeLine(indent, QuoteNodeID(branchPointID(s))+" ["+formatAttributes(attribute{"shape", "point"},
			attribute{"class", "entry"}, attribute{"width", "0.05"}, attribute{"color", colour}, attribute{"fillcolor",
				colour},
			attribute{"tooltip", escapeEntities(TooltipOf(s.from.Node) + " at " + TooltipOf(b.Node))})+"];")
	}
}

// drawBranchEdge draws the line from a policy to the point before a box.
func (d *clusterWriter) drawBranchEdge(s *branchPoint) {
	d.writeLine(1, QuoteNodeID(s.from.Node.ID)+":e -> "+QuoteNodeID(branchPointID(s))+":w ["+
		formatAttributes(attribute{"class", "reach"},
			attribute{"color", d.colorValue(kindColors()[s.from.kind%len(kindColors())].line)},
			attribute{"style", "solid"}, attribute{"penwidth", "1"}, attribute{"arrowhead", "none"}, attribute{"weight",
				"1"}, attribute{"tooltip", escapeEntities(TooltipOf(s.from.Node) + " at " + TooltipOf(s.to.Node))})+
		"];")
}
