package picture

import (
	"bufio"
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// factWidth is how much of a fact stands in a node.
const factWidth = 48

// indentWriter writes lines with an indent.
type indentWriter struct{ w *bufio.Writer }

func (l indentWriter) writeLine(indent int, s string) {
	_, _ = l.w.WriteString(strings.Repeat("  ", indent) + s + "\n")
}

// sortEdges lists the edges in a stable order, each once.
func sortEdges(t *graph.Topology) []graph.GraphEdge {
	edges := slices.Clone(t.Edges)
	slices.SortFunc(edges, func(a, b graph.GraphEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.State, b.State))
	})
	return slices.CompactFunc(edges, func(a, b graph.GraphEdge) bool {
		return a.From == b.From && a.To == b.To && a.Kind == b.Kind && a.State == b.State
	})
}
