package view

import "slices"

// narrow leaves of the drawing what is near the focus: the nodes that are at most q.Depth edges from it, in either direction, and the
// edges between them.
func (d *drawing) narrow(q GraphQuery) {
	next := map[string][]string{}
	for _, e := range d.out.Edges {
		next[e.From] = append(next[e.From], e.To)
		next[e.To] = append(next[e.To], e.From)
	}
	near := map[string]bool{}
	var level []string
	for _, id := range q.Focus {
		level = append(level, nodeID(d.res.Node(id)))
	}
	for depth := 0; depth <= q.Depth && len(level) > 0; depth++ {
		var further []string
		for _, id := range level {
			if !near[id] {
				near[id] = true
				further = append(further, next[id]...)
			}
		}
		level = further
	}
	d.out.Nodes = slices.DeleteFunc(d.out.Nodes, func(n GraphNode) bool { return !near[n.ID] })
	d.out.Edges = slices.DeleteFunc(d.out.Edges, func(e GraphEdge) bool { return !near[e.From] || !near[e.To] })
}
