package topology

import (
	"cmp"
	"slices"
)

// Edge is one arrow of a family.
type Edge struct{ From, To NodeID }

// edgeLists holds the edges of a graph by the node they start from: those of node i are
// to[start[i]:start[i+1]], sorted, each once.
type edgeLists struct {
	start []int32
	to    []NodeID
}

// newEdgeLists orders the edges of a graph with n nodes. It is linear in both, but for the sorting
// of lists that came unsorted.
func newEdgeLists(n int, edges []Edge) edgeLists {
	start := make([]int32, n+1)
	for _, e := range edges {
		start[e.From+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	to := make([]NodeID, len(edges))
	next := slices.Clone(start[:n])
	for _, e := range edges {
		to[next[e.From]] = e.To
		next[e.From]++
	}
	return edgeLists{start, to}.sortLists()
}

// sortLists sorts each node's list, drops repetitions and moves the lists together.
func (l edgeLists) sortLists() edgeLists {
	begin, kept := int32(0), int32(0)
	for i := range len(l.start) - 1 {
		end := l.start[i+1]
		list := l.to[begin:end]
		if !slices.IsSorted(list) {
			slices.Sort(list)
		}
		kept += int32(copy(l.to[kept:], slices.Compact(list)))
		l.start[i+1], begin = kept, end
	}
	l.to = l.to[:kept]
	return l
}

// reverseEdges turns every edge round. The lists come out sorted because the edges are visited by
// ascending start.
func (l edgeLists) reverseEdges() edgeLists {
	back := make([]Edge, 0, len(l.to))
	for from := range len(l.start) - 1 {
		for _, to := range l.targetsOf(NodeID(from)) {
			back = append(back, Edge{to, NodeID(from)})
		}
	}
	return newEdgeLists(len(l.start)-1, back)
}

// targetsOf lists the nodes that id has edges to.
func (l edgeLists) targetsOf(id NodeID) []NodeID {
	if l.start == nil {
		return nil
	}
	return l.to[l.start[id]:l.start[id+1]:l.start[id+1]]
}

// edgeFamily is one named set of edges.
type edgeFamily struct {
	children, parents edgeLists
	order             []NodeID
}

// newEdgeFamily builds a family over nodes whose levels, given from the top, are such that every
// edge leads downwards.
func newEdgeFamily(nodes []Node, edges []Edge, levels []Role) edgeFamily {
	children := newEdgeLists(len(nodes), edges)
	return edgeFamily{children: children, parents: children.reverseEdges(), order: orderByLevel(nodes, levels)}
}

// orderByLevel lists the nodes by level, and within a level by id.
func orderByLevel(nodes []Node, levels []Role) []NodeID {
	byLevel := make([][]NodeID, len(levels))
	var instances []NodeID
	n := 0
	for id := range nodes {
		switch i := slices.Index(levels, nodes[id].Role); {
		case i < 0:
			continue
		case nodes[id].Hop > 0:
			instances = append(instances, NodeID(id))
		default:
			byLevel[i] = append(byLevel[i], NodeID(id))
		}
		n++
	}
	// routes that others delegate to stand below rules
	if at := slices.Index(levels, Rule); at >= 0 && len(instances) > 0 {
		slices.SortStableFunc(instances, func(a, b NodeID) int {
			return cmp.Or(cmp.Compare(nodes[a].Hop, nodes[b].Hop), cmp.Compare(slices.Index(levels, nodes[a].Role),
				slices.Index(levels, nodes[b].Role)))
		})
		byLevel[at] = append(byLevel[at], instances...)
	}
	order := make([]NodeID, 0, n)
	for _, ids := range byLevel {
		order = append(order, ids...)
	}
	return order
}

// adjacency is how the nodes of a graph are connected.
type adjacency struct {
	families          map[string]edgeFamily
	above             edgeLists
	extensionFamilies []string // the families of extensions
}

// Children lists the nodes right below id in the family, sorted, each once.
func (a *adjacency) Children(family string, id NodeID) []NodeID {
	return a.families[family].children.targetsOf(id)
}

// Parents lists the nodes right above id in the family, sorted, each once.
func (a *adjacency) Parents(family string, id NodeID) []NodeID {
	return a.families[family].parents.targetsOf(id)
}

// Order lists the nodes of the family's roles, every parent before its children. Nodes that no
// traffic reaches are in it too: a route that nothing accepts, its rules, a Service that no rule
// names. A path starts at a class, at a Gateway that names none, or at a Service that is a parent.
func (a *adjacency) Order(family string) []NodeID { return a.families[family].order }

// Above lists the nodes whose policies hold at id as well without being on the path, least specific
// first: the Namespace of a gateway, a route or a backend; for a port its Namespace, then its
// Service.
func (a *adjacency) Above(id NodeID) []NodeID { return a.above.targetsOf(id) }

// AllChildren lists the nodes right below id in any family, sorted, each once.
func (a *adjacency) AllChildren(id NodeID) []NodeID {
	out := a.Children(All, id)
	for _, name := range a.extensionFamilies {
		if more := a.Children(name, id); len(more) > 0 {
			out = append(slices.Clone(out), more...)
			slices.Sort(out)
			out = slices.Compact(out)
		}
	}
	return out
}

// AllParents lists the nodes right above id in any family, and those whose policies hold at it as
// well.
func (a *adjacency) AllParents(id NodeID) []NodeID {
	out := slices.Concat(a.Parents(All, id), a.Above(id))
	for _, name := range a.extensionFamilies {
		out = append(out, a.Parents(name, id)...)
	}
	return out
}

// WorkloadsIn lists the workloads of a namespace, by its node, sorted.
func (a *adjacency) WorkloadsIn(namespace NodeID) []NodeID { return a.Children(Namespaced, namespace) }
