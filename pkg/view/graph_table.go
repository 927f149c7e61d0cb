package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Table lists the edges of the graph, one per line.
func (t *Topology) Table(o TableOptions) Table {
	names := make(map[string]Cell, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		names[n.ID] = Cell{Text: cmp.Or(n.CollectiveName(), targetName(n.Ref)+n.MeshSuffix())}
	}
	name := func(id string) Cell {
		if c, known := names[id]; known {
			return c
		}
		return Cell{Text: id}
	}
	b := Block{Columns: []Column{{Name: "FROM", Rank: 2, MinWidth: 24, KeepEnd: true}, {Name: "EDGE", Rank: 1, MinWidth: 10}, {Name: "TO", Rank: 1, MinWidth: 24, KeepEnd: true}}}
	shown := t.Edges[:o.countShown(len(t.Edges))]
	for _, e := range shown {
		b.Rows = append(b.Rows, []Cell{name(e.From), edgeCell(e), name(e.To)})
	}
	out := Table{Footer: formatMoreLine(len(t.Edges)-len(shown), "edge")}
	if len(b.Rows) > 0 {
		out.Blocks = []Block{b}
	}
	out.Footer = append(out.Footer, fmt.Sprintf("%s · %s", FormatCount(len(t.Nodes), "node"), FormatCount(len(t.Edges), "edge")))
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
		return "routes that look alike are drawn as one, with their policies and Services" + t.joinedLine() + " (--collapse none draws all)"
	case CollapseNamespace:
		return "what is in a namespace is drawn as one, and so is what looks alike" + t.joinedLine() + " (--collapse none draws all)"
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

// edgeCell returns the kind of an edge; an effective one may be partial. The state of a policy at a
// target stands behind it.
func edgeCell(e GraphEdge) Cell {
	text := cmp.Or(e.State, e.Kind)
	if e.State != "" && (e.Kind == EdgeTargets || e.State == EdgeDangling) {
		text = e.Kind + ": " + e.State
	}
	text = strings.Replace(text, EdgeConditionFalse, conditionFalseText, 1)
	if e.Count > 1 {
		text += fmt.Sprintf(" ×%d", e.Count)
	}
	if e.Proxy != "" {
		return Cell{Text: text + ", proxy: " + e.Proxy, Tone: Bad}
	}
	return Cell{Text: text, Tone: edgeTone(cmp.Or(e.State, e.Kind))}
}

func edgeTone(what string) Tone {
	switch what {
	case EdgeEffective, EdgeTaken:
		return Good
	case EdgePartial:
		return Partly
	case EdgeOverridden, EdgeDangling:
		return Bad
	case EdgeParent, EdgeConditionFalse:
		return Dim
	}
	return Plain
}
