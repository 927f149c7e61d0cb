package topology

import (
	"cmp"
	"slices"
)

// edge is one arrow of a family.
type edge struct{ from, to NodeID }

// links holds the edges of a graph by the node they start from: those of node i are to[start[i]:start[i+1]], sorted, each once.
type links struct {
	start []int32
	to    []NodeID
}

// newLinks orders the edges of a graph with n nodes. It is linear in both, but for the sorting of lists that came unsorted.
func newLinks(n int, edges []edge) links {
	start := make([]int32, n+1)
	for _, e := range edges {
		start[e.from+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	to := make([]NodeID, len(edges))
	next := slices.Clone(start[:n])
	for _, e := range edges {
		to[next[e.from]] = e.to
		next[e.from]++
	}
	return links{start, to}.tidy()
}

// tidy sorts each node's list, drops repetitions and moves the lists together.
func (l links) tidy() links {
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

// reversed turns every arrow round. The lists come out sorted because the arrows are visited by ascending start.
func (l links) reversed() links {
	back := make([]edge, 0, len(l.to))
	for from := range len(l.start) - 1 {
		for _, to := range l.of(NodeID(from)) {
			back = append(back, edge{to, NodeID(from)})
		}
	}
	return newLinks(len(l.start)-1, back)
}

// of lists the nodes that id has arrows to.
func (l links) of(id NodeID) []NodeID {
	if l.start == nil {
		return nil
	}
	return l.to[l.start[id]:l.start[id+1]:l.start[id+1]]
}

// family is one named set of edges.
type family struct {
	children, parents links
	order             []NodeID
}

// newFamily builds a family over nodes whose levels, given from the top, are such that every edge leads downwards.
func newFamily(nodes []Node, edges []edge, levels []Role) family {
	children := newLinks(len(nodes), edges)
	return family{children: children, parents: children.reversed(), order: inOrder(nodes, levels)}
}

// inOrder lists the nodes by level, and within a level by id.
func inOrder(nodes []Node, levels []Role) []NodeID {
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
	if at := slices.Index(levels, Rule); at >= 0 && len(instances) > 0 { // routes that others delegate to stand below rules
		slices.SortStableFunc(instances, func(a, b NodeID) int {
			return cmp.Or(cmp.Compare(nodes[a].Hop, nodes[b].Hop), cmp.Compare(slices.Index(levels, nodes[a].Role), slices.Index(levels, nodes[b].Role)))
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
	families map[string]family
	above    links
	extended []string // the families of extensions
}

// Children lists the nodes right below id in the family, sorted, each once.
func (a *adjacency) Children(family string, id NodeID) []NodeID {
	return a.families[family].children.of(id)
}

// Parents lists the nodes right above id in the family, sorted, each once.
func (a *adjacency) Parents(family string, id NodeID) []NodeID {
	return a.families[family].parents.of(id)
}

// Order lists the nodes of the family's roles, every parent before its children. Nodes that no traffic reaches are in it too: a route
// that nothing accepts, its rules, a Service that no rule names. A path starts at a class, at a Gateway that names none, or at a Service
// that is a parent.
func (a *adjacency) Order(family string) []NodeID { return a.families[family].order }

// Above lists the nodes whose policies hold at id as well without being on the path, least specific first: the Namespace of a
// gateway, a route or a backend; for a port its Namespace, then its Service.
func (a *adjacency) Above(id NodeID) []NodeID { return a.above.of(id) }

// Below lists the nodes right below id in any family, sorted, each once.
func (a *adjacency) Below(id NodeID) []NodeID {
	out := a.Children(All, id)
	for _, name := range a.extended {
		if more := a.Children(name, id); len(more) > 0 {
			out = append(slices.Clone(out), more...)
			slices.Sort(out)
			out = slices.Compact(out)
		}
	}
	return out
}

// Over lists the nodes right above id in any family, and those whose policies hold at it as well.
func (a *adjacency) Over(id NodeID) []NodeID {
	out := slices.Concat(a.Parents(All, id), a.Above(id))
	for _, name := range a.extended {
		out = append(out, a.Parents(name, id)...)
	}
	return out
}

// WorkloadsIn lists the workloads of a namespace, by its node, sorted.
func (a *adjacency) WorkloadsIn(namespace NodeID) []NodeID { return a.Children(Namespaced, namespace) }
