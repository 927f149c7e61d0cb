package render

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// factWidth is how much of a fact stands in a node.
const factWidth = 48

// legend says what the edges mean.
const legend = "grey: traffic   blue dashed: targets   green: in force   orange dashed: partly in force   red dotted: overridden"

// writeDOT writes t for Graphviz: namespaces as clusters, in them every object with its sections, policies as notes. Nodes and edges
// are sorted; whatever names contain, the text is valid DOT.
func writeDOT(w *bufio.Writer, t *view.Topology) {
	d := dot{w: w}
	d.line(0, "digraph dopolicy {")
	d.line(1, `graph [rankdir=LR, fontname="Helvetica"];`)
	d.line(1, `node [fontname="Helvetica", fontsize=11, shape=box];`)
	d.line(1, `edge [fontname="Helvetica", fontsize=9];`)
	d.namespaces(t.Nodes)
	edges := slices.Clone(t.Edges)
	slices.SortFunc(edges, func(a, b view.GraphEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	for _, e := range slices.Compact(edges) {
		d.line(1, fmt.Sprintf("%s -> %s [%s];", dotID(e.From), dotID(e.To), edgeStyle(e)))
	}
	d.line(1, "label="+dotText(legend)+"; labelloc=b;") // last, so that clusters do not inherit it
	d.line(0, "}")
}

// dot writes lines with an indent.
type dot struct {
	w        *bufio.Writer
	clusters int
}

func (d *dot) line(indent int, s string) {
	_, _ = d.w.WriteString(strings.Repeat("  ", indent) + s + "\n")
}

// namespaces writes the nodes, those of a namespace in its cluster.
func (d *dot) namespaces(nodes []view.GraphNode) {
	byNamespace := map[string][]view.GraphNode{}
	for _, n := range nodes {
		byNamespace[n.Ref.Namespace] = append(byNamespace[n.Ref.Namespace], n)
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		if namespace == "" {
			d.objects(byNamespace[namespace], 1)
			continue
		}
		d.open(1, namespace, `style="rounded"; color="#bdbdbd";`)
		d.objects(byNamespace[namespace], 2)
		d.line(1, "}")
	}
}

func (d *dot) open(indent int, label, attributes string) {
	d.line(indent, fmt.Sprintf("subgraph cluster_%d {", d.clusters))
	d.line(indent+1, fmt.Sprintf("label=%s; %s", dotText(label), attributes))
	d.clusters++
}

// objects writes the objects of one namespace; one with sections is drawn around them.
func (d *dot) objects(nodes []view.GraphNode, indent int) {
	slices.SortFunc(nodes, func(a, b view.GraphNode) int { return cmp.Or(a.Ref.Compare(b.Ref), cmp.Compare(a.ID, b.ID)) })
	for len(nodes) > 0 {
		object := nodes[0].Ref.Whole()
		end := slices.IndexFunc(nodes, func(n view.GraphNode) bool { return n.Ref.Whole() != object })
		if end < 0 {
			end = len(nodes)
		}
		own := nodes[:end]
		nodes = nodes[end:]
		if own[len(own)-1].Ref.Section == "" {
			d.nodes(own, indent)
			continue
		}
		d.open(indent, object.Kind+" "+object.Name, `style="dashed"; color="#9e9e9e";`)
		d.nodes(own, indent+1)
		d.line(indent, "}")
	}
}

func (d *dot) nodes(nodes []view.GraphNode, indent int) {
	for i := range nodes {
		n := &nodes[i]
		d.line(indent, fmt.Sprintf("%s [label=%s, %s];", dotID(n.ID), dotText(nodeLabel(n)...), nodeStyle(n)))
	}
}

// nodeLabel is the kind, the name and the facts of a node, one a line.
func nodeLabel(n *view.GraphNode) []string {
	lines := []string{n.Ref.Kind, n.Ref.Name}
	if n.Ref.Section != "" {
		lines = []string{n.Kind, n.Ref.Section}
	}
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		if fact := n.Labels[key]; fact != "" && key != "policyKind" {
			if runes := []rune(fact); len(runes) > factWidth {
				fact = string(runes[:factWidth-1]) + "…"
			}
			lines = append(lines, key+": "+fact)
		}
	}
	return lines
}

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
	switch cmp.Or(e.State, e.Kind) {
	case "parent":
		return `color="#9e9e9e", style=solid`
	case "targets":
		return `color="#1565c0", style=dashed, arrowhead=vee`
	case "effective":
		return `color="#2e7d32", style=solid, penwidth=1.5, constraint=false`
	case "partial":
		return `color="#ef6c00", style=dashed, penwidth=1.5, constraint=false`
	case "overridden":
		return `color="#c62828", style=dotted, penwidth=1.5, constraint=false`
	}
	return `color="#616161", style=solid, label=` + dotText(cmp.Or(e.State, e.Kind))
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
