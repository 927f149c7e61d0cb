package render

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// writeMermaid writes t as a Mermaid flowchart, grouped like DOT. Nodes are n0, n1, … in the order in which they are drawn; names stand
// in quoted labels only, so that whatever they contain, the text is a valid flowchart and holds no directive.
func writeMermaid(w *bufio.Writer, t *view.Topology) {
	m := &mermaid{lines: lines{w}, ids: map[string]string{}, links: map[string][]string{}}
	m.line(0, "flowchart LR")
	drawNodes(m, t.Nodes)
	edges := sortedEdges(t)
	for _, e := range edges {
		m.known(e.From)
		m.known(e.To)
	}
	for i, e := range edges {
		kind := edgeWord(e)
		arrow, styled := mermaidArrows()[kind]
		if !styled {
			arrow = mermaidArrow{line: "-->|" + mermaidText(kind) + "|"}
		}
		m.line(1, m.ids[e.From]+" "+arrow.line+" "+m.ids[e.To])
		m.links[kind] = append(m.links[kind], strconv.Itoa(i))
	}
	m.line(1, "legend["+mermaidText(legend(t)...)+"]:::legend")
	m.styles()
}

// mermaid draws nodes for Mermaid.
type mermaid struct {
	lines
	ids    map[string]string   // of nodes, by their names
	links  map[string][]string // numbers of the edges, by kind
	groups []string            // the groups with their classes
}

// mermaidArrow is how edges of one kind are drawn.
type mermaidArrow struct{ line, style string }

func mermaidArrows() map[string]mermaidArrow {
	return map[string]mermaidArrow{
		"parent":     {"-->", "stroke:#9e9e9e"},
		"taken":      {"==>", "stroke:#6a1b9a,stroke-width:4px"},
		"targets":    {"-.->", "stroke:#1565c0"},
		"effective":  {"==>", "stroke:#2e7d32"},
		"partial":    {"-.->", "stroke:#ef6c00,stroke-width:2px"},
		"overridden": {"-.->", "stroke:#c62828,stroke-width:2px,stroke-dasharray:1 4"},
	}
}

func (m *mermaid) open(indent int, g group) {
	id := "g" + strconv.Itoa(len(m.groups))
	m.line(indent, "subgraph "+id+"["+mermaidText(g.label)+"]")
	m.groups = append(m.groups, id+map[bool]string{false: " namespace", true: " object"}[g.isObject])
}

func (m *mermaid) node(indent int, n *view.GraphNode) {
	id, known := m.ids[n.ID]
	if !known {
		id = "n" + strconv.Itoa(len(m.ids))
		m.ids[n.ID] = id
	}
	label := mermaidText(nodeLabel(n)...)
	switch {
	case n.Kind == "policy":
		m.line(indent, id+">"+label+"]:::policy")
	case n.Ref.Section != "":
		m.line(indent, id+"("+label+"):::section")
	default:
		m.line(indent, id+"["+label+"]:::target")
	}
}

func (m *mermaid) close(indent int) { m.line(indent, "end") }

// known draws the end of an edge that is not among the nodes.
func (m *mermaid) known(name string) {
	if _, known := m.ids[name]; !known {
		m.ids[name] = "n" + strconv.Itoa(len(m.ids))
		m.line(1, m.ids[name]+"["+mermaidText(name)+"]")
	}
}

// styles writes the colours, which are those of DOT.
func (m *mermaid) styles() {
	for _, kind := range []string{"parent", "taken", "targets", "effective", "partial", "overridden"} {
		if len(m.links[kind]) > 0 {
			m.line(1, "linkStyle "+strings.Join(m.links[kind], ",")+" "+mermaidArrows()[kind].style)
		}
	}
	for _, g := range m.groups {
		m.line(1, "class "+g)
	}
	for _, class := range []string{
		"policy fill:#fff8e1,stroke:#8d6e63,color:#212121", "target fill:#e3f2fd,stroke:#616161,color:#212121", "section fill:#f5f5f5,stroke:#616161,color:#212121",
		"namespace fill:none,stroke:#bdbdbd", "object fill:none,stroke:#9e9e9e,stroke-dasharray:5 5", "legend fill:none,stroke:none",
	} {
		m.line(1, "classDef "+class)
	}
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
