package render

import (
	"bufio"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// factWidth is how much of a fact stands in a node.
const factWidth = 48

// legend says what the edges mean.
func legend(t *view.Topology) []string {
	out := []string{"grey: traffic", "blue dashed: targets", "green: in force", "orange dashed: partly in force", "red dotted: overridden"}
	if slices.ContainsFunc(t.Edges, func(e view.GraphEdge) bool { return e.State == "taken" }) {
		out = append(out, "thick purple: the request")
	}
	if said := t.CollapsedLine(); said != "" {
		out = append(out, said)
	}
	return out
}

// edgeWord is what an edge is drawn as.
func edgeWord(e view.GraphEdge) string {
	if e.Kind == view.EdgeTargets && e.State != view.EdgeDangling {
		return e.Kind
	}
	return cmp.Or(e.State, e.Kind)
}

// lines writes lines with an indent.
type lines struct{ w *bufio.Writer }

func (l lines) line(indent int, s string) {
	_, _ = l.w.WriteString(strings.Repeat("  ", indent) + s + "\n")
}

// pen draws nodes, and the groups around them, in one language.
type pen interface {
	open(indent int, g group)
	node(indent int, n *view.GraphNode)
	close(indent int)
}

// group is a namespace, or an object that is drawn around its sections.
type group struct {
	label    string
	isObject bool
}

// drawNodes draws the nodes, those of a namespace in its group, sorted.
func drawNodes(p pen, nodes []view.GraphNode) {
	byNamespace := map[string][]view.GraphNode{}
	for _, n := range nodes {
		byNamespace[n.Ref.Namespace] = append(byNamespace[n.Ref.Namespace], n)
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		if namespace == "" {
			drawObjects(p, byNamespace[namespace], 1)
			continue
		}
		p.open(1, group{label: namespace})
		drawObjects(p, byNamespace[namespace], 2)
		p.close(1)
	}
}

// drawObjects draws the objects of one namespace; one with sections is drawn around them.
func drawObjects(p pen, nodes []view.GraphNode, indent int) {
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
			for i := range own {
				p.node(indent, &own[i])
			}
			continue
		}
		p.open(indent, group{label: object.Kind + " " + object.Name, isObject: true})
		for i := range own {
			p.node(indent+1, &own[i])
		}
		p.close(indent)
	}
}

// sortedEdges lists the edges in a stable order, each once.
func sortedEdges(t *view.Topology) []view.GraphEdge {
	edges := slices.Clone(t.Edges)
	slices.SortFunc(edges, func(a, b view.GraphEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	return slices.CompactFunc(edges, func(a, b view.GraphEdge) bool {
		return a.From == b.From && a.To == b.To && a.Kind == b.Kind && a.State == b.State
	})
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
