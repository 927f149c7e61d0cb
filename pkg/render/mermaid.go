package render

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// writeMermaid writes t as a Mermaid flowchart that shows what the DOT layout for people shows: objects are frames around their sections,
// which name the policies that are in force there. Nodes are n0, n1, … in the order in which they are drawn; names stand in quoted labels
// only, so that whatever they contain, the text is a valid flowchart and holds no directive.
func writeMermaid(w *bufio.Writer, t *view.Topology) {
	m := &mermaid{lines: lines{w}, picture: newPicture(t), ids: map[*view.GraphNode]string{}, links: map[string][]string{}, pens: pens()}
	m.line(0, "flowchart LR")
	m.frames()
	for i := range m.picture.lines {
		m.edge(i, &m.picture.lines[i])
	}
	m.line(1, "legend["+mermaidText(m.legend()...)+"]:::legend")
	m.styles()
}

// mermaid draws a picture for Mermaid.
type mermaid struct {
	lines
	*picture
	ids    map[*view.GraphNode]string
	links  map[string][]string // numbers of the edges, by what they are drawn as
	groups []string            // the groups with their classes
	pens   map[string]stroke
}

// frames draws the nodes, those of a namespace in its frame.
func (m *mermaid) frames() {
	boxes, notes := m.boxes, m.notes
	for len(boxes)+len(notes) > 0 {
		name, indent := next(boxes, notes), 1
		if name != "" {
			m.open(1, "namespace", name)
			indent = 2
		}
		for ; len(notes) > 0 && cluster(notes[0].node) == name; notes = notes[1:] {
			n := notes[0]
			text := []string{n.node.Ref.Kind, n.node.Ref.Name}
			if state := n.node.Labels["state"]; state != "" {
				text = append(text, state)
			}
			if all := n.node.Collective(); all != "" {
				text = []string{all}
			}
			m.line(indent, m.id(n.node)+">"+mermaidText(clipped(text)...)+"]:::kind"+strconv.Itoa(n.kind%len(hues())))
		}
		for ; len(boxes) > 0 && cluster(boxes[0].node) == name; boxes = boxes[1:] {
			m.box(indent, boxes[0])
		}
		if name != "" {
			m.line(1, "end")
		}
	}
}

// clipped cuts every line to what fits into a node.
func clipped(lines []string) []string {
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = clip(s, factWidth)
	}
	return out
}

// id is the name of a node, which is given when it is drawn.
func (m *mermaid) id(n *view.GraphNode) string {
	if m.ids[n] == "" {
		m.ids[n] = "n" + strconv.Itoa(len(m.ids))
	}
	return m.ids[n]
}

func (m *mermaid) open(indent int, class, label string) {
	id := "g" + strconv.Itoa(len(m.groups))
	m.line(indent, "subgraph "+id+"["+mermaidText(clip(label, factWidth))+"]")
	m.groups = append(m.groups, id+" "+class)
}

// box draws an object, around its sections if it has some.
func (m *mermaid) box(indent int, b *box) {
	if len(b.rows) > 1 {
		m.open(indent, "object", b.node.Ref.Kind+" "+b.node.Ref.Name)
		indent++
	}
	text := []string{b.node.Ref.Kind + b.node.Suffix(), b.node.Ref.Name}
	if all := b.node.Collective(); all != "" {
		text = []string{memberTitle(b.node)}
	}
	text = append(text, facts(b)...)
	if missing(b.node) {
		text = append(text, b.node.Labels["state"])
	}
	class := "target"
	switch {
	case b.node.Labels["request"] != "":
		class = "request"
	case b.dangles:
		class = "missing"
	}
	m.line(indent, m.id(b.node)+"["+mermaidText(clipped(append(text, m.chips(b.rows[0], b.node)...))...)+"]:::"+class)
	for _, r := range b.rows[1:] {
		m.row(indent, r)
	}
	if len(b.rows) > 1 {
		m.line(indent-1, "end")
	}
}

// row draws a section.
func (m *mermaid) row(indent int, r *row) {
	text := []string{r.node.Ref.Section}
	if all := r.node.Collective(); all != "" {
		text = []string{memberTitle(r.node)}
	}
	if fact := sectionFact(r.node); fact != "" {
		text = append(text, fact)
	}
	class := "section"
	if r.node.Labels["request"] != "" {
		class = "request"
	}
	m.line(indent, m.id(r.node)+"("+mermaidText(clipped(append(text, m.chips(r, r.node)...))...)+"):::"+class)
}

// chips are the policies of a row as text, a line for each kind and state.
func (m *mermaid) chips(r *row, at *view.GraphNode) []string {
	var out []string
	for k, kind := range m.kinds {
		last := ""
		for i, c := range r.chips[kind] {
			mark, _ := sign(c.state)
			switch {
			case i >= chipsShown-1 && len(r.chips[kind]) > chipsShown:
				if i == chipsShown-1 {
					out = append(out, fmt.Sprintf("and %d more", len(r.chips[kind])-i))
				}
			case c.state == last:
				out[len(out)-1] += ", " + c.label(at) + c.doubt()
			default:
				out = append(out, mark+" "+m.kindName(k)+" "+c.label(at)+c.doubt())
			}
			last = c.state
		}
	}
	return out
}

// edge draws a line: its arrow says the state as the dashes do, which not every program draws.
func (m *mermaid) edge(number int, l *line) {
	what := l.state
	if _, known := m.pens[what]; !known {
		what = l.kind
	}
	arrow := map[string]string{"taken": "==>", "effective": "==>", "partial": "-.->", "overridden": "-.->", "conditionFalse": "-.->", "dangling": "-.-x"}[what]
	if arrow == "" {
		arrow = "-->"
	}
	label := l.words()
	if _, known := m.pens[what]; !known {
		label = strings.TrimSpace(l.kind + " " + label)
	} else {
		m.links[what] = append(m.links[what], strconv.Itoa(number))
	}
	if label != "" {
		arrow += "|" + mermaidText(label) + "|"
	}
	m.line(1, m.ids[nodeAt(l.from)]+" "+arrow+" "+m.ids[nodeAt(l.to)])
}

// drawnStates are the states in the order of legends.
func drawnStates() []string {
	return []string{view.EdgeParent, "taken", view.EdgeEffective, "partial", view.EdgeOverridden, view.EdgeIdle, view.EdgeDangling, view.EdgeTargets}
}

// legend says what lines and signs mean, of those that are there.
func (m *mermaid) legend() []string {
	var out []string
	lines := map[string]string{view.EdgeParent: "grey line", "taken": "thick purple line", view.EdgeEffective: "green line", "partial": "orange dashes", view.EdgeOverridden: "red dots", view.EdgeIdle: "grey dots",
		view.EdgeDangling: "dark dashes with a cross", view.EdgeTargets: "blue-grey line"}
	for _, state := range drawnStates() {
		var signs []string
		if len(m.links[state]) > 0 {
			signs = append(signs, lines[state])
		}
		if m.states[state] {
			mark, _ := sign(state)
			signs = append(signs, mark)
		}
		if len(signs) > 0 {
			out = append(out, strings.Join(signs, ", ")+": "+m.means(state, m.pens[state]))
		}
	}
	if m.differs {
		out = append(out, differs+": "+differsMeans)
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

// styles writes the colours, which are those of DOT on light ground.
func (m *mermaid) styles() {
	for _, state := range drawnStates() {
		if len(m.links[state]) == 0 {
			continue
		}
		p := m.pens[state]
		style := "stroke:" + p.colour.light + ",stroke-width:" + p.width + "px"
		if p.dashes != "" {
			style += ",stroke-dasharray:" + p.dashes
		}
		m.line(1, "linkStyle "+strings.Join(m.links[state], ",")+" "+style)
	}
	for _, g := range m.groups {
		m.line(1, "class "+g)
	}
	c := colours()
	class := func(name string, fill, stroke, text shade, more string) {
		m.line(1, "classDef "+name+" fill:"+fill.light+",stroke:"+stroke.light+",color:"+text.light+more)
	}
	class("target", c.head, c.frame, c.text, "")
	class("section", c.body, c.frame, c.text, "")
	class("missing", c.head, c.missing, c.text, ",stroke-dasharray:5 2")
	class("request", c.body, c.request, c.text, ",stroke-width:2px")
	class("namespace", c.group, c.groupFrame, c.muted, "")
	class("object", c.ground, c.groupFrame, c.muted, "")
	for i, h := range hues() {
		if slices.ContainsFunc(m.notes, func(n *note) bool { return n.kind%len(hues()) == i }) {
			class("kind"+strconv.Itoa(i), h.fill, h.line, c.text, "")
		}
	}
	m.line(1, "classDef legend fill:none,stroke:none")
}

// mermaidText is a quoted label of several lines. Letters, digits and a few marks stand for themselves, and everything else as the code of
// the character: nothing ends the quotes, and nothing is Markdown, HTML or a directive. A colon stands for itself in front of a space:
// with a code behind it, Mermaid takes it for a style.
func mermaidText(texts ...string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, text := range texts {
		if i > 0 {
			b.WriteString("<br/>")
		}
		text = Escape(text)
		for at, r := range text {
			switch {
			case r == ':' && strings.HasPrefix(text[at+1:], " "):
				b.WriteRune(r)
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ./,=-@", r), r >= 0xa0:
				b.WriteRune(r)
			default:
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
