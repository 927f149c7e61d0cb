package view

import (
	"cmp"
	"fmt"
)

// Table lists the edges of the graph, one per line.
func (t *Topology) Table(o TableOptions) Table {
	names := make(map[string]Cell, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		names[n.ID] = Cell{Text: cmp.Or(n.Collective(), targetName(n.Ref)+n.Suffix())}
	}
	name := func(id string) Cell {
		if c, known := names[id]; known {
			return c
		}
		return Cell{Text: id}
	}
	b := Block{Columns: []Column{{Name: "FROM", Rank: 2, Least: 24, KeepEnd: true}, {Name: "EDGE", Rank: 1, Least: 10}, {Name: "TO", Rank: 1, Least: 24, KeepEnd: true}}}
	shown := t.Edges[:o.limit(len(t.Edges))]
	for _, e := range shown {
		b.Rows = append(b.Rows, []Cell{name(e.From), edgeCell(e), name(e.To)})
	}
	out := Table{Footer: moreLine(len(t.Edges)-len(shown), "edge")}
	if len(b.Rows) > 0 {
		out.Blocks = []Block{b}
	}
	out.Footer = append(out.Footer, fmt.Sprintf("%s · %s", Counted(len(t.Nodes), "node"), Counted(len(t.Edges), "edge")))
	if said := t.CollapsedLine(); said != "" {
		out.Footer = append(out.Footer, said)
	}
	out.Footer = append(out.Footer, t.Closing()...)
	return out
}

// CollapsedLine says what nodes stand for in a topology that is drawn with less than there is, "" for one that is not.
func (t *Topology) CollapsedLine() string {
	switch t.Collapsed {
	case CollapseRules:
		return "rules are drawn as their routes (--collapse none draws them)"
	case CollapseRoute:
		return "routes that look alike are drawn as one, with their policies and Services (--collapse none draws all)"
	case CollapseNamespace:
		return "what is in a namespace is drawn as one, and so is what looks alike (--collapse none draws all)"
	}
	return ""
}

// edgeCell is the kind of an edge; an effective one may be partial. What became of a policy through a target stands behind it.
func edgeCell(e GraphEdge) Cell {
	text := cmp.Or(e.State, e.Kind)
	if e.State != "" && (e.Kind == EdgeTargets || e.State == EdgeDangling) {
		text = e.Kind + ": " + e.State
	}
	if e.Count > 1 {
		text += fmt.Sprintf(" ×%d", e.Count)
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
	case EdgeParent:
		return Dim
	}
	return Plain
}
