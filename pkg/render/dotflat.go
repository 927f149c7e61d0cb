package render

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// writeFlat writes t for programs that read topologies: every target, section and policy is a node, declared with the label
// "Kind\nnamespace/name", and sections are called gateway#listener and route#rule. Edges are those of traffic and those from a policy to
// its target; where policies are in force is not in it. Nodes and edges carry their kind as a class.
func writeFlat(d lines, t *view.Topology, o DOTOptions) {
	c := colours()
	d.line(0, "digraph dopolicy {")
	d.line(1, "graph ["+attributes(attribute{"rankdir", "LR"}, attribute{"bgcolor", c.ground.on(o.Theme)})+"];")
	d.line(1, "node ["+attributes(attribute{"fontname", fontName}, attribute{"fontsize", "11"}, attribute{"fontcolor", c.text.on(o.Theme)}, attribute{"color", c.frame.on(o.Theme)})+"];")
	d.line(1, "edge ["+attributes(attribute{"fontname", fontName}, attribute{"fontsize", "9"}, attribute{"fontcolor", c.muted.on(o.Theme)})+"];")
	nodes := slices.Clone(t.Nodes)
	slices.SortFunc(nodes, func(a, b view.GraphNode) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.Ref.Compare(b.Ref)) })
	nodes = slices.CompactFunc(nodes, func(a, b view.GraphNode) bool { return a.ID == b.ID })
	kinds, drawn := policyKinds(nodes), map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		drawn[n.ID] = true
		shape, fill := "box", c.body
		if n.Kind == policyRole {
			shape, fill = "note", hues()[slices.Index(kinds, policyKind(n))%len(hues())].fill
		}
		d.line(1, dotID(n.ID)+" [label="+flatLabel(n)+", "+attributes(attribute{"shape", shape}, attribute{"style", map[bool]string{true: "filled,dashed", false: "filled"}[missing(n)]}, attribute{"fillcolor", fill.on(o.Theme)},
			attribute{"class", n.Kind}, attribute{"id", svgID(n.ID)}, attribute{"URL", shown(o.link(n.ID))})+"];")
	}
	for _, e := range sortedEdges(t) {
		if drawn[e.From] && drawn[e.To] && (e.Kind == view.EdgeParent || e.Kind == view.EdgeTargets) {
			s := strokeOf(e.State, e.Kind)
			d.line(1, dotID(e.From)+" -> "+dotID(e.To)+" ["+attributes(attribute{"class", e.Kind}, attribute{"color", s.colour.on(o.Theme)}, attribute{"style", s.style},
				attribute{"penwidth", s.width}, attribute{"arrowhead", s.arrow}, attribute{"label", (&line{count: e.Count, differs: e.Proxy != ""}).words()})+"];")
		}
	}
	d.line(0, "}")
}

// flatLabel is the kind and the full name, one a line.
func flatLabel(n *view.GraphNode) string {
	if len(n.Members) > 0 {
		return dotText(cmp.Or(n.Ref.Kind, n.Kind), memberTitle(n))
	}
	name := n.Ref.FullName()
	if n.Ref.Section != "" {
		name += "#" + n.Ref.Section
	}
	return dotText(n.Ref.Kind, name)
}
