package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table lists the edges of the graph, one per line.
func (t *Topology) Table(o view.TableOptions) view.Table {
	names := make(map[string]view.Cell, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		names[n.ID] = view.Cell{Text: n.FullText()}
	}
	name := func(id string) view.Cell {
		if c, known := names[id]; known {
			return c
		}
		return view.Cell{Text: id}
	}
	b := view.Block{Columns: []view.Column{{Name: "FROM", Rank: 2, MinWidth: 24},
		{Name: "EDGE", Rank: 1, MinWidth: 10}, {Name: "TO", Rank: 1, MinWidth: 24}}}
	shown := t.Edges[:o.CountShown(len(t.Edges))]
	for _, e := range shown {
		b.Rows = append(b.Rows, []view.Cell{name(e.From), edgeCell(e), name(e.To)})
	}
	var out view.Table
	if rest := len(t.Edges) - len(shown); rest > 0 {
		out.Footer = []string{fmt.Sprintf("… and %d more %s (-o table shows all)", rest, view.InflectNoun(rest, "edge"))}
	}
	if len(b.Rows) > 0 {
		out.Blocks = []view.Block{b}
	}
	out.Footer = append(out.Footer, fmt.Sprintf("%s · %s", view.FormatCount(len(t.Nodes), "node"),
		view.FormatCount(len(t.Edges), "edge")))
	out.Footer = append(out.Footer, t.RequestLines()...)
	if said := t.CollapsedLine(); said != "" {
		out.Footer = append(out.Footer, said)
	}
	out.Footer = append(out.Footer, t.IncompleteLines()...)
	return out
}

// CollapsedLine says what the nodes of a collapsed topology stand for, "" for a topology that is
// not collapsed.
func (t *Topology) CollapsedLine() string {
	switch t.Collapsed {
	case CollapseRules:
		return "rules are drawn as their routes (--collapse none draws them)"
	case CollapseRoute:
		return "routes that look alike are drawn as one, with their policies and Services" + t.joinedLine() +
			" (--collapse none draws all)"
	case CollapseNamespace:
		return "what is in a namespace is drawn as one, and so is what looks alike" + t.joinedLine() +
			" (--collapse none draws all)"
	}
	return ""
}

// joinedLine counts the objects that share nodes, by kind: ": 60 HTTPRoutes as 3, 2 Services as 1";
// "" if none do.
func (t *Topology) joinedLine() string {
	objects, nodes := map[string]int{}, map[string]int{}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Ref.Name == "" && len(n.Members) > 0 {
			sections := 0
			for _, m := range n.Members {
				if m.Section != "" {
					sections++
					continue
				}
				objects[m.Kind]++
			}
			if sections < len(n.Members) && topology.Role(n.Kind) != topology.Namespace {
				nodes[n.Ref.Kind]++
			}
		}
	}
	var out []string
	for _, kind := range slices.SortedFunc(maps.Keys(objects), compareKinds) {
		text := formatPlural(objects[kind], kind)
		if nodes[kind] > 0 {
			text += fmt.Sprintf(" as %d", nodes[kind])
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// maxTablePaths is how many paths of Ingresses are listed at an edge.
const maxTablePaths = 3

// edgeCell returns the kind of an edge; an effective one may be partial. The state of a policy at a
// target stands behind it.
func edgeCell(e GraphEdge) view.Cell {
	text := cmp.Or(e.State, e.Kind)
	if e.State != "" && (e.Kind == EdgeTargets || e.State == EdgeDangling) {
		text = e.Kind + ": " + e.State
	}
	text = strings.Replace(text, EdgeConditionFalse, conditionFalseText, 1)
	if len(e.Paths) > 0 {
		text += ": " + e.PathText(maxTablePaths)
	}
	if e.Count > 1 {
		text += fmt.Sprintf(" ×%d", e.Count)
	}
	if e.Proxy != "" {
		return view.Cell{Text: text + ", proxy: " + e.Proxy, Tone: view.Bad}
	}
	return view.Cell{Text: text, Tone: edgeTone(cmp.Or(e.State, e.Kind))}
}

func edgeTone(what string) view.Tone {
	switch what {
	case EdgeEffective, EdgeTaken:
		return view.Good
	case EdgePartial:
		return view.Partly
	case EdgeOverridden, EdgeDangling:
		return view.Bad
	case EdgeParent, EdgeConditionFalse, EdgeBypassed, EdgeStopped:
		return view.Dim
	}
	return view.Plain
}
