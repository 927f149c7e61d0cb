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
