package render

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// writeDOT writes t for Graphviz: namespaces as clusters, in them every object with its sections, policies as notes. Nodes and edges
// are sorted; whatever names contain, the text is valid DOT.
func writeDOT(w *bufio.Writer, t *view.Topology) {
	d := &dot{lines: lines{w}}
	d.line(0, "digraph dopolicy {")
	d.line(1, `graph [rankdir=LR, fontname="Helvetica"];`)
	d.line(1, `node [fontname="Helvetica", fontsize=11, shape=box];`)
	d.line(1, `edge [fontname="Helvetica", fontsize=9];`)
	drawNodes(d, t.Nodes)
	for _, e := range sortedEdges(t) {
		d.line(1, fmt.Sprintf("%s -> %s [%s];", dotID(e.From), dotID(e.To), edgeStyle(e)))
	}
	d.line(1, "label="+dotText(strings.Join(legend(t), "   "))+"; labelloc=b;") // last, so that clusters do not inherit it
	d.line(0, "}")
}

// dot draws nodes for Graphviz.
type dot struct {
	lines
	clusters int
}

func (d *dot) open(indent int, g group) {
	attributes := map[bool]string{false: `style="rounded"; color="#bdbdbd";`, true: `style="dashed"; color="#9e9e9e";`}
	d.line(indent, fmt.Sprintf("subgraph cluster_%d {", d.clusters))
	d.line(indent+1, fmt.Sprintf("label=%s; %s", dotText(g.label), attributes[g.isObject]))
	d.clusters++
}

func (d *dot) node(indent int, n *view.GraphNode) {
	d.line(indent, fmt.Sprintf("%s [label=%s, %s];", dotID(n.ID), dotText(nodeLabel(n)...), nodeStyle(n)))
}

func (d *dot) close(indent int) { d.line(indent, "}") }

// nodeStyle tells policies from targets, and objects from their sections, by shape.
func nodeStyle(n *view.GraphNode) string {
	switch {
	case n.Kind == "policy":
		return `shape=note, style=filled, fillcolor="#fff8e1"`
	case n.Ref.Section != "":
		return `shape=box, style="rounded,filled", fillcolor="#f5f5f5"`
	}
	return `shape=box, style=filled, fillcolor="#e3f2fd"`
}

// edgeStyle tells the kinds of edges apart by colour and by stroke. Only traffic gives the drawing its order.
func edgeStyle(e view.GraphEdge) string {
	switch edgeWord(e) {
	case "parent":
		return `color="#9e9e9e", style=solid`
	case "taken":
		return `color="#6a1b9a", style=solid, penwidth=3`
	case "targets":
		return `color="#1565c0", style=dashed, arrowhead=vee`
	case "effective":
		return `color="#2e7d32", style=solid, penwidth=1.5, constraint=false`
	case "partial":
		return `color="#ef6c00", style=dashed, penwidth=1.5, constraint=false`
	case "overridden":
		return `color="#c62828", style=dotted, penwidth=1.5, constraint=false`
	}
	return `color="#616161", style=solid, label=` + dotText(edgeWord(e))
}

// dotText is a quoted label of several lines.
func dotText(lines ...string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = quote.Replace(Escape(s))
	}
	return `"` + strings.Join(out, `\n`) + `"`
}

// dotID is a quoted node name. What is not plain is written as %XX, so that different names stay different and quoting has no cases.
func dotID(id string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_./: #@,=", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
