package picture

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// WriteMermaid writes t as a Mermaid flowchart that shows what the DOT layout for people shows:
// objects are frames around their sections, which name the policies that are in force there. Nodes
// are n0, n1, … in the order in which they are drawn; names stand in quoted labels only, so that
// whatever they contain, the text is a valid flowchart and holds no directive.
func WriteMermaid(w *bufio.Writer, t *graph.Topology) {
	m := &mermaidWriter{indentWriter: indentWriter{w}, picture: NewPicture(t), ids: map[*graph.GraphNode]string{},
		links: map[string][]string{}, styles: lineStyles(), verdicts: map[string]bool{}}
	m.writeLine(0, "flowchart LR")
	m.drawFrames()
	for i := range m.picture.Edges {
		m.drawEdge(i, &m.picture.Edges[i])
	}
	m.writeLine(1, "legend["+QuoteMermaid(m.formatLegend()...)+"]:::legend")
	m.writeStyles()
}

// mermaidWriter draws a picture for Mermaid.
type mermaidWriter struct {
	indentWriter
	*picture
	ids    map[*graph.GraphNode]string
	links  map[string][]string // numbers of the edges, by what they are drawn as
	groups []string            // the groups with their classes
	styles map[string]lineStyle

	verdicts map[string]bool // that have a class of their own
}

// drawFrames draws the nodes, those of a namespace in its frame.
func (m *mermaidWriter) drawFrames() {
	boxes, notes := m.Boxes, m.notes
	for len(boxes)+len(notes) > 0 {
		name, indent := nextNamespace(boxes, notes), 1
		if name != "" {
			m.openGroup(1, "namespace", name)
			indent = 2
		}
		for ; len(notes) > 0 && FrameOf(notes[0].Node) == name; notes = notes[1:] {
			n := notes[0]
			text := []string{n.Node.Ref.Kind, n.Node.Ref.Name}
			if state := n.Node.Labels["state"]; state != "" {
				text = append(text, state)
			}
			if all := n.Node.CollectiveName(); all != "" {
				text = []string{all}
			}
			m.writeLine(indent, m.nodeID(n.Node)+">"+QuoteMermaid(clipLines(text)...)+"]:::kind"+
				strconv.Itoa(n.kind%len(kindColors())))
		}
		for ; len(boxes) > 0 && FrameOf(boxes[0].Node) == name; boxes = boxes[1:] {
			m.drawBox(indent, boxes[0])
		}
		if name != "" {
			m.writeLine(1, "end")
		}
	}
}

// clipLines cuts every line to what fits into a node.
func clipLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = clipText(s, factWidth)
	}
	return out
}

// nodeID is the name of a node, which is given when it is drawn.
func (m *mermaidWriter) nodeID(n *graph.GraphNode) string {
	if m.ids[n] == "" {
		m.ids[n] = "n" + strconv.Itoa(len(m.ids))
	}
	return m.ids[n]
}

func (m *mermaidWriter) openGroup(indent int, class, label string) {
	id := "g" + strconv.Itoa(len(m.groups))
	m.writeLine(indent, "subgraph "+id+"["+QuoteMermaid(clipText(label, factWidth))+"]")
	m.groups = append(m.groups, id+" "+class)
}

// drawBox draws an object, around its sections if it has some.
func (m *mermaidWriter) drawBox(indent int, b *targetBox) {
	if len(b.Rows) > 1 {
		m.openGroup(indent, "object", b.Node.Ref.Kind+" "+b.Node.Ref.Name)
		indent++
	}
	text := []string{b.Node.Ref.Kind + b.Node.MeshSuffix(), b.Node.Ref.Name}
	if all := b.Node.CollectiveName(); all != "" {
		text = []string{memberTitle(b.Node)}
	}
	if b.Node.IsPoint() {
		text[0] = b.Node.PointName()
	}
	verdict := b.Node.Labels[graph.LabelVerdict]
	if verdict != "" {
		text = append(text, verdict)
	}
	text = append(text, boxFacts(b)...)
	if isMissing(b.Node) {
		text = append(text, b.Node.Labels["state"])
	}
	class := "target"
	switch {
	case verdict != "" && verdict != string(point.Allowed):
		class = verdict
		m.verdicts[verdict] = true
	case b.Node.Labels["request"] != "":
		class = "request"
	case b.dangles:
		class = "missing"
	}
	m.writeLine(indent, m.nodeID(b.Node)+"["+
		QuoteMermaid(clipLines(append(text, m.formatChips(b.Rows[0], b.Node)...))...)+"]:::"+class)
	for _, r := range b.Rows[1:] {
		m.drawRow(indent, r)
	}
	if len(b.Rows) > 1 {
		m.writeLine(indent-1, "end")
	}
}

// drawRow draws a section.
func (m *mermaidWriter) drawRow(indent int, r *boxRow) {
	text := []string{r.Node.Ref.Section}
	if all := r.Node.CollectiveName(); all != "" {
		text = []string{memberTitle(r.Node)}
	}
	if fact := sectionFact(r.Node); fact != "" {
		text = append(text, fact)
	}
	class := "section"
	if r.Node.Labels["request"] != "" {
		class = "request"
	}
	m.writeLine(indent, m.nodeID(r.Node)+"("+QuoteMermaid(clipLines(append(text, m.formatChips(r, r.Node)...))...)+
		"):::"+class)
}

// formatChips returns the policies of a row as text, a line for each kind and state.
func (m *mermaidWriter) formatChips(r *boxRow, at *graph.GraphNode) []string {
	var out []string
	for k, kind := range m.Kinds {
		last := ""
		for i, c := range r.Chips[kind] {
			mark, _ := StateSign(c.State)
			switch {
			case i >= chipsShown-1 && len(r.Chips[kind]) > chipsShown:
				if i == chipsShown-1 {
					out = append(out, fmt.Sprintf("and %d more", len(r.Chips[kind])-i))
				}
			case c.State == last:
				out[len(out)-1] += ", " + c.FormatLabel(at) + c.deviationMark()
			default:
				out = append(out, mark+" "+m.kindName(k)+" "+c.FormatLabel(at)+c.deviationMark())
			}
			last = c.State
		}
	}
	return out
}

// drawEdge draws a line: its arrow says the state as the dashes do, which not every program draws.
func (m *mermaidWriter) drawEdge(number int, l *pictureEdge) {
	what := l.State
	if _, known := m.styles[what]; !known {
		what = l.Kind
	}
	arrow := map[string]string{"taken": "==>", "effective": "==>", "partial": "-.->", "overridden": "-.->",
		"conditionFalse": "-.->", "dangling": "-.-x", "stopped": "-.->", "bypassed": "-.-"}[what]
	if arrow == "" {
		arrow = "-->"
	}
	label := l.formatLabel()
	if _, known := m.styles[what]; !known {
		label = strings.TrimSpace(l.Kind + " " + label)
	} else {
		m.links[what] = append(m.links[what], strconv.Itoa(number))
	}
	if label != "" {
		arrow += "|" + QuoteMermaid(label) + "|"
	}
	m.writeLine(1, m.ids[nodeDrawnAt(l.From)]+" "+arrow+" "+m.ids[nodeDrawnAt(l.to)])
}

// listStates returns the states in the order of legends.
func listStates() []string {
	return []string{graph.EdgeParent, "taken", "stopped", graph.EdgeBypassed, graph.EdgeEffective, "partial", graph.EdgeOverridden,
		graph.EdgeConditionFalse, graph.EdgeDangling, graph.EdgeTargets}
}

// formatLegend says what lines and signs mean, of those that are there.
func (m *mermaidWriter) formatLegend() []string {
	var out []string
	lines := map[string]string{graph.EdgeParent: "grey line", "taken": "thick purple line",
		graph.EdgeEffective: "green line", "partial": "orange dashes", graph.EdgeOverridden: "red dots",
		graph.EdgeConditionFalse: "grey dots",
		graph.EdgeStopped:        "purple dashes", graph.EdgeBypassed: "grey dashes",
		graph.EdgeDangling: "dark dashes with a cross", graph.EdgeTargets: "blue-grey line"}
	for _, state := range listStates() {
		var signs []string
		if len(m.links[state]) > 0 {
			signs = append(signs, lines[state])
		}
		if m.states[state] {
			mark, _ := StateSign(state)
			signs = append(signs, mark)
		}
		if len(signs) > 0 {
			out = append(out, strings.Join(signs, ", ")+": "+m.describeState(state, m.styles[state]))
		}
	}
	if m.differs {
		out = append(out, deviationSign+": "+deviationMeaning)
	}
	out = append(out, m.asked...)
	if m.caption != "" {
		out = append(out, m.caption)
	}
	if len(out) == 0 {
		out = append(out, "nothing to draw")
	}
	return out
}

// writeStyles writes the colours, which are those of DOT on light ground.
func (m *mermaidWriter) writeStyles() {
	for _, state := range listStates() {
		if len(m.links[state]) == 0 {
			continue
		}
		p := m.styles[state]
		style := "stroke:" + p.colour.light + ",stroke-width:" + p.width + "px"
		if p.dashes != "" {
			style += ",stroke-dasharray:" + p.dashes
		}
		m.writeLine(1, "linkStyle "+strings.Join(m.links[state], ",")+" "+style)
	}
	for _, g := range m.groups {
		m.writeLine(1, "class "+g)
	}
	c := newPalette()
	class := func(name string, fill, stroke, text themeColor, more string) {
		m.writeLine(1, "classDef "+name+" fill:"+fill.light+",stroke:"+stroke.light+",color:"+text.light+more)
	}
	class("target", c.head, c.frame, c.text, "")
	class("section", c.body, c.frame, c.text, "")
	class("missing", c.head, c.missing, c.text, ",stroke-dasharray:5 2")
	class("request", c.body, c.request, c.text, ",stroke-width:2px")
	if m.verdicts[string(point.Denied)] {
		class(string(point.Denied), c.body, c.overridden, c.text, ",stroke-width:3px")
	}
	if m.verdicts[string(point.Depends)] {
		class(string(point.Depends), c.body, c.partial, c.text, ",stroke-width:2px")
	}
	if m.verdicts[string(point.Bypassed)] {
		class(string(point.Bypassed), c.ground, c.muted, c.muted, ",stroke-dasharray:5 3")
	}
	class("namespace", c.group, c.groupFrame, c.muted, "")
	class("object", c.ground, c.groupFrame, c.muted, "")
	for i, h := range kindColors() {
		if slices.ContainsFunc(m.notes, func(n *policyNote) bool { return n.kind%len(kindColors()) == i }) {
			class("kind"+strconv.Itoa(i), h.fill, h.line, c.text, "")
		}
	}
	m.writeLine(1, "classDef legend fill:none,stroke:none")
}

// QuoteMermaid is a quoted label of several lines. Letters, digits and a few marks stand for
// themselves, and everything else as the code of the character: nothing ends the quotes, and
// nothing is Markdown, HTML or a directive. A colon stands for itself in front of a space: with a
// code behind it, Mermaid takes it for a style.
func QuoteMermaid(texts ...string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, text := range texts {
		if i > 0 {
			b.WriteString("<br/>")
		}
		text = escape.Escape(text)
		for at, r := range text {
			switch {
			case r == ':' && strings.HasPrefix(text[at+1:], " "):
				b.WriteRune(r)
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ./,=-@", r),
				r >= 0xa0:
				b.WriteRune(r)
			default:
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
