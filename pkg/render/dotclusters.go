package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// fontName is a font whose widths Graphviz knows without having it, and that others stand in for everywhere.
const fontName = "Arial"

// clusters draws a picture with namespaces as frames.
type clusters struct {
	lines
	*picture
	o DOTOptions
	c ink
}

func writeClusters(l lines, p *picture, o DOTOptions) {
	d := &clusters{lines: l, picture: p, o: o, c: colours()}
	d.line(0, "digraph dopolicy {")
	d.line(1, "graph ["+attributes(attribute{"rankdir", "LR"}, attribute{"newrank", "true"}, attribute{"mclimit", "4"}, attribute{"nodesep", "0.16"}, attribute{"ranksep", "0.55"}, attribute{"pad", "0.2"},
		attribute{"bgcolor", d.value(d.c.ground)}, attribute{"fontname", fontName}, attribute{"fontsize", "11"}, attribute{"fontcolor", d.value(d.c.muted)})+"];")
	d.line(1, "node ["+attributes(attribute{"shape", "plain"}, attribute{"fontname", fontName}, attribute{"fontsize", "11"}, attribute{"fontcolor", d.value(d.c.text)})+"];")
	d.line(1, "edge ["+attributes(attribute{"fontname", fontName}, attribute{"fontsize", "9"}, attribute{"fontcolor", d.value(d.c.muted)}, attribute{"arrowsize", "0.7"})+"];")
	d.frames()
	d.columns()
	for i := range d.picture.lines {
		d.edge(&d.picture.lines[i])
	}
	for _, b := range d.boxes {
		d.entryEdge(b)
	}
	for _, s := range d.spreads {
		d.spreadEdge(s)
	}
	if legend := d.legend(); legend != "" { // last, so that clusters do not inherit it
		d.line(1, `labelloc="b"; label=<`+legend+`>;`)
	}
	d.line(0, "}")
}

// value is a colour in the theme.
func (d *clusters) value(s shade) string { return s.on(d.o.Theme) }

// frames draws the nodes, those of a namespace in its frame.
func (d *clusters) frames() {
	boxes, notes := d.boxes, d.notes
	for n := 0; len(boxes)+len(notes) > 0; n++ {
		name := next(boxes, notes)
		indent := 1
		if name != "" {
			d.line(1, fmt.Sprintf("subgraph cluster_%d {", n))
			d.line(2, "graph ["+attributes(attribute{"label", shown(clip(Escape(name), factWidth))}, attribute{"class", "namespace"}, attribute{"tooltip", shown("namespace " + name)}, attribute{"style", "rounded,filled"},
				attribute{"color", d.value(d.c.groupFrame)}, attribute{"fillcolor", d.value(d.c.group)}, attribute{"labeljust", "l"}, attribute{"margin", "10"})+"];")
			indent = 2
		}
		for ; len(notes) > 0 && cluster(notes[0].node) == name; notes = notes[1:] {
			d.note(indent, notes[0])
		}
		for ; len(boxes) > 0 && cluster(boxes[0].node) == name; boxes = boxes[1:] {
			d.entry(indent, boxes[0])
			d.spreadPoints(indent, boxes[0])
			d.box(indent, boxes[0])
		}
		if name != "" {
			d.line(1, "}")
		}
	}
}

// next is the first namespace of what is left.
func next(boxes []*box, notes []*note) string {
	if len(boxes) == 0 {
		return cluster(notes[0].node)
	}
	if len(notes) == 0 {
		return cluster(boxes[0].node)
	}
	return min(cluster(boxes[0].node), cluster(notes[0].node))
}

// columns keeps what is of one column in one column, and the columns in their order.
func (d *clusters) columns() {
	var ids [][]string
	put := func(column int, id string) {
		for len(ids) <= column {
			ids = append(ids, nil)
		}
		ids[column] = append(ids[column], dotID(id))
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
	for _, s := range d.spreads {
		put(s.to.column-1, spreadID(s))
	}
	before := ""
	for _, column := range ids {
		if len(column) == 0 {
			continue
		}
		if len(column) > 1 {
			d.line(1, "{ rank=same; "+strings.Join(column, "; ")+"; }")
		}
		if before != "" {
			d.line(1, before+" -> "+column[0]+" ["+attributes(attribute{"style", "invis"}, attribute{"weight", "0"})+"];")
		}
		before = column[0]
	}
}

// edge draws a line. Lines between columns leave to the right and arrive from the left.
func (d *clusters) edge(l *line) {
	s := strokeOf(l.state, l.kind)
	label := l.words()
	means, ink := d.means(l.state, s), ""
	if l.differs {
		means, ink = means+", and a proxy does otherwise", d.value(d.c.overridden)
	}
	class := strings.TrimSpace(l.kind + " " + l.state)
	if l.state == l.kind {
		class = l.kind
	}
	if l.differs {
		class += " differs"
	}
	free, weight := "", "4"
	if l.kind != view.EdgeParent {
		weight = "2"
	}
	if l.from.column() >= l.to.column() || isFate(l.kind) {
		free, weight = "false", "1"
	}
	arrow, head := s.arrow, d.end(l.to, false)
	if l.enters() {
		arrow, head = "none", dotID(entryID(l.to.box))+":w"
	}
	tail := d.end(l.from, true)
	if l.from.column() == l.to.column() { // Graphviz 2.43 loses the arrowheads of lines between ports of one column
		tail, head = dotID(l.from.id()), dotID(l.to.id())
	}
	if l.via != nil {
		tail, free, weight = dotID(spreadID(l.via))+":e", "", "1"
	}
	d.line(1, tail+" -> "+head+" ["+attributes(attribute{"class", class}, attribute{"id", "e-" + svgID(nodeAt(l.from).ID) + "--" + svgID(nodeAt(l.to).ID) + "-" + l.kind},
		attribute{"color", d.value(s.colour)}, attribute{"style", s.style}, attribute{"penwidth", s.width}, attribute{"arrowhead", arrow}, attribute{"constraint", free}, attribute{"weight", weight},
		attribute{"label", shown(Escape(label))}, attribute{"fontcolor", ink}, attribute{"tooltip", shown(titled(nodeAt(l.from)) + " → " + titled(nodeAt(l.to)) + ": " + means)})+"];")
}

// words are what stands at a line.
func (l *line) words() string {
	out := strings.TrimSpace(l.label + " " + times(l.count))
	if l.differs {
		out = strings.TrimSpace(out + " " + differs)
	}
	return out
}

// nodeAt is the node drawn at a place.
func nodeAt(p drawnAt) *view.GraphNode {
	if p.note != nil {
		return p.note.node
	}
	return p.box.rows[p.row].node
}

// end is one end of an edge: a node, or the left or right side of a row of it.
func (d *clusters) end(p drawnAt, tail bool) string {
	if p.note != nil {
		return dotID(p.note.node.ID) + map[bool]string{true: ":e", false: ""}[tail]
	}
	if tail && (p.row > 0 || len(d.kindsIn(p.box)) > 0) {
		return dotID(p.box.node.ID) + ":" + port(p.row, true) + ":e"
	}
	if tail { // its head is one cell
		return dotID(p.box.node.ID) + ":" + port(p.row, false) + ":e"
	}
	return dotID(p.box.node.ID) + ":" + port(p.row, false) + ":w"
}

// port is the name of a row's first or last cell.
func port(row int, last bool) string {
	return map[bool]string{true: "o", false: "i"}[last] + strconv.Itoa(row)
}

// times is how many edges a line stands for.
func times(count int) string {
	if count < 2 {
		return ""
	}
	return "×" + strconv.Itoa(count)
}

// entryID is the name of the point where traffic to a box comes together.
func entryID(b *box) string { return b.node.ID + " entry" }

// entry is a point before a box, beside the policies on it: all traffic to the box goes through it, and not around the frame that it stands in.
func (d *clusters) entry(indent int, b *box) {
	if b.entry == nil {
		return
	}
	s := strokeOf(b.entry.state, b.entry.kind)
	d.line(indent, dotID(entryID(b))+" ["+attributes(attribute{"shape", "point"}, attribute{"class", "entry"}, attribute{"width", "0.03"}, attribute{"color", d.value(s.colour)}, attribute{"fillcolor", d.value(s.colour)},
		attribute{"tooltip", shown("traffic to " + titled(b.node))})+"];")
}

// entryEdge leads from the point into the box.
func (d *clusters) entryEdge(b *box) {
	if b.entry == nil {
		return
	}
	s := strokeOf(b.entry.state, b.entry.kind)
	d.line(1, dotID(entryID(b))+":e -> "+d.end(drawnAt{box: b}, false)+" ["+attributes(attribute{"class", strings.TrimSpace("parent " + b.entry.state)}, attribute{"color", d.value(s.colour)}, attribute{"style", s.style},
		attribute{"penwidth", s.width}, attribute{"arrowhead", s.arrow}, attribute{"weight", "8"}, attribute{"tooltip", shown("traffic to " + titled(b.node))})+"];")
}

// spreadID is the name of the point before a box from which the lines of a policy spread.
func spreadID(s *spread) string { return s.to.node.ID + " from " + s.from.node.ID }

// spreadPoints are the points before a box.
func (d *clusters) spreadPoints(indent int, b *box) {
	for _, s := range d.spreads {
		if s.to != b {
			continue
		}
		colour := d.value(hues()[s.from.kind%len(hues())].line)
		d.line(indent, dotID(spreadID(s))+" ["+attributes(attribute{"shape", "point"}, attribute{"class", "entry"}, attribute{"width", "0.05"}, attribute{"color", colour}, attribute{"fillcolor", colour},
			attribute{"tooltip", shown(titled(s.from.node) + " at " + titled(b.node))})+"];")
	}
}

// spreadEdge leads from a policy to the point before a box.
func (d *clusters) spreadEdge(s *spread) {
	d.line(1, dotID(s.from.node.ID)+":e -> "+dotID(spreadID(s))+":w ["+attributes(attribute{"class", "reach"}, attribute{"color", d.value(hues()[s.from.kind%len(hues())].line)},
		attribute{"style", "solid"}, attribute{"penwidth", "1"}, attribute{"arrowhead", "none"}, attribute{"weight", "1"}, attribute{"tooltip", shown(titled(s.from.node) + " at " + titled(s.to.node))})+"];")
}
