package picture

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// writeFlat writes t for programs that read topologies: every target, section and policy is a node,
// declared with the label "Kind\nnamespace/name", and sections are called gateway#listener and
// route#rule. Edges are those of traffic and those from a policy to its target; where policies are
// in force is not in it. Nodes and edges carry their kind as a class.
func writeFlat(d indentWriter, t *graph.Topology, o DOTOptions) {
	c := newPalette()
	d.writeLine(0, "digraph dopolicy {")
	d.writeLine(1, "graph ["+formatAttributes(attribute{"rankdir", "LR"},
		attribute{"bgcolor", c.ground.valueIn(o.Theme)})+"];")
	d.writeLine(1, "node ["+formatAttributes(attribute{"fontname", fontName}, attribute{"fontsize", "11"},
		attribute{"fontcolor", c.text.valueIn(o.Theme)}, attribute{"color", c.frame.valueIn(o.Theme)})+"];")
	d.writeLine(1, "edge ["+formatAttributes(attribute{"fontname", fontName}, attribute{"fontsize", "9"},
		attribute{"fontcolor", c.muted.valueIn(o.Theme)})+"];")
	nodes := slices.Clone(t.Nodes)
	slices.SortFunc(nodes, func(a, b graph.GraphNode) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID),
			a.Ref.Compare(b.Ref))
	})
	nodes = slices.CompactFunc(nodes, func(a, b graph.GraphNode) bool { return a.ID == b.ID })
	kinds, drawn := listPolicyKinds(nodes), map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		drawn[n.ID] = true
		shape, fill := "box", c.body
		if n.Kind == policyRole {
			shape, fill = "note", kindColors()[slices.Index(kinds, policyKindOf(n))%len(kindColors())].fill
		}
		d.writeLine(1, QuoteNodeID(n.ID)+" [label="+formatFlatLabel(n)+", "+formatAttributes(attribute{"shape", shape},
			attribute{"style", map[bool]string{true: "filled,dashed", false: "filled"}[isMissing(n) ||
				n.Labels[graph.LabelVerdict] == string(point.Bypassed)]}, attribute{
				"fillcolor", fill.valueIn(o.Theme)},
			attribute{"class", n.Kind}, attribute{"id", formatElementID(n.ID)}, attribute{"URL",
				escapeEntities(o.linkOf(n.ID))})+"];")
	}
	for _, e := range sortEdges(t) {
		if drawn[e.From] && drawn[e.To] && (e.Kind == graph.EdgeParent || e.Kind == graph.EdgeTargets) {
			s := findLineStyle(e.State, e.Kind)
			d.writeLine(1, QuoteNodeID(e.From)+" -> "+QuoteNodeID(e.To)+" ["+
				formatAttributes(attribute{"class", e.Kind}, attribute{"color", s.colour.valueIn(o.Theme)},
					attribute{"style", s.style},
					attribute{"penwidth", s.width}, attribute{"arrowhead", s.arrow}, attribute{"label",
						(&pictureEdge{Label: e.PathText(1), count: e.Count, differs: e.Proxy != ""}).formatLabel()})+"];")
		}
	}
	d.writeLine(0, "}")
}

// formatFlatLabel is the kind and the full name, one a line.
func formatFlatLabel(n *graph.GraphNode) string {
	if len(n.Members) > 0 {
		return quoteDOT(cmp.Or(n.Ref.Kind, n.Kind), memberTitle(n))
	}
	if n.IsPoint() {
		return quoteDOT(n.Labels[graph.LabelPoint]+" "+n.Labels[graph.LabelVerdict], n.Ref.FullName())
	}
	name := n.Ref.FullName()
	if n.Ref.Section != "" {
		name += "#" + n.Ref.Section
	}
	return quoteDOT(n.Ref.Kind, name)
}
