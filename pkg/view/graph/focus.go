package graph

import "slices"

// narrowToFocus keeps of the topology what is near the focus: the nodes that are at most Depth
// edges from it, in either direction, and the edges between them. From a policy in focus it is one
// edge to those that beat it.
func (d *topologyBuilder) narrowToFocus(t *Topology) {
	t.Focus = d.focusIDs()
	if d.query.Focus == nil && d.query.FocusPolicies == nil {
		return
	}
	next := map[string][]string{}
	for _, e := range t.Edges {
		next[e.From] = append(next[e.From], e.To)
		next[e.To] = append(next[e.To], e.From)
	}
	for _, p := range d.query.FocusPolicies {
		own := refID(p.Ref())
		for _, e := range t.Edges {
			if e.From == own {
				next[own] = append(next[own], e.By...)
			}
		}
	}
	near := map[string]bool{}
	level := t.Focus
	for depth := 0; depth <= d.query.Depth && len(level) > 0; depth++ {
		var further []string
		for _, id := range level {
			if !near[id] {
				near[id] = true
				further = append(further, next[id]...)
			}
		}
		level = further
	}
	t.Nodes = slices.DeleteFunc(t.Nodes, func(n GraphNode) bool { return !near[n.ID] })
	t.Edges = slices.DeleteFunc(t.Edges, func(e GraphEdge) bool { return !near[e.From] || !near[e.To] })
}

// focusIDs returns the ids of what the topology is about: what was asked for with a focus, and the
// policy whose reach it shows.
func (d *topologyBuilder) focusIDs() []string {
	var out []string
	for _, id := range d.query.Focus {
		out = append(out, nodeID(d.res.Node(id)))
	}
	for _, p := range d.query.FocusPolicies {
		out = append(out, refID(p.Ref()))
	}
	if d.query.Affected != nil {
		out = append(out, refID(d.query.Affected.Ref()))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
