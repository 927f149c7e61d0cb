package view

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// similarity says which nodes may look alike.
type similarity struct {
	// look is what a node looks like by itself; false for one that is like no other.
	look func(n *GraphNode) ([]string, bool)
	deep bool // what is like has to have the same above it, and the same policies
}

// similarRoutes draws routes of one namespace as one that have the same parents and the same policies, and likewise what only they have.
func similarRoutes() similarity {
	return similarity{deep: true, look: func(n *GraphNode) ([]string, bool) {
		switch role := topology.Role(n.Kind); role {
		case topology.GatewayClass:
			return nil, false
		case topology.Route, topology.Backend, topology.Port, topology.Opaque, policyKind:
			return append(looks(n), n.Ref.Namespace), true
		}
		return append(looks(n), n.Ref.Namespace), n.Labels["state"] == absent
	}}
}

// similarNamespaces draws namespaces as one that have the same parents, and the same in force from above.
func similarNamespaces() similarity {
	return similarity{deep: true, look: func(n *GraphNode) ([]string, bool) {
		return looks(n), topology.Role(n.Kind) == topology.Namespace
	}}
}

// similarGateways draws Gateways as one too, with the policies on them.
func similarGateways() similarity {
	return similarity{deep: true, look: func(n *GraphNode) ([]string, bool) {
		return append(looks(n), n.Ref.Section, n.Labels[labelListens]), topology.Role(n.Kind) != topology.GatewayClass
	}}
}

// similarKinds draws everything of one kind as one.
func similarKinds() similarity {
	return similarity{look: func(n *GraphNode) ([]string, bool) {
		return looks(n), true
	}}
}

// looks is what tells nodes of all sorts apart.
func looks(n *GraphNode) []string {
	return []string{n.Kind, n.Ref.Group, n.Ref.Kind, n.Labels["state"], n.Labels["request"], n.Labels[labelProxy]}
}

// joinSimilar draws nodes that look alike as one. Nodes do if they look so by themselves and, where that is asked for, the edges that lead to them
// say the same and come from nodes that look alike; so do policies by the edges that start at them.
func (t *Topology) joinSimilar(level string, same similarity) *Topology {
	f := newFolding(t)
	c := coloring{folding: f, colors: make([]int32, len(t.Nodes)), free: make([]bool, len(t.Nodes))}
	c.start(same)
	if same.deep {
		c.refine()
	}
	heads := map[int32]int32{}
	for i, color := range c.colors {
		if !c.free[i] {
			continue
		}
		head, known := heads[color]
		if !known {
			heads[color] = int32(i)
			continue
		}
		f.into[i], f.renamed[head] = head, true
	}
	return f.topology(level, func(g *GraphNode, members []int32) { f.asGroup(g, members) })
}

// coloring tells nodes apart that do not look alike, by their colors.
type coloring struct {
	*folding
	colors []int32
	free   []bool // by node: it may be like others
}

// start colors nodes by what they look like by themselves. A policy on something that is like nothing else is like nothing else.
func (c *coloring) start(same similarity) {
	known := map[string]int32{}
	for i := range c.from.Nodes {
		look, free := same.look(&c.from.Nodes[i])
		c.free[i] = free && !c.kept[i]
		if c.free[i] {
			c.colors[i] = number(known, fmt.Sprintf("%q", look))
		}
	}
	if !same.deep {
		return
	}
	for i := range c.from.Nodes {
		if c.from.Nodes[i].Kind != policyKind || !c.free[i] {
			continue
		}
		for _, e := range c.out(i) {
			c.free[i] = c.free[i] && (e.Kind != EdgeTargets || c.free[c.index[e.To]])
		}
	}
	for i := range c.colors {
		if !c.free[i] {
			c.colors[i] = number(known, "#"+c.from.Nodes[i].ID)
		}
	}
}

// refine tells nodes apart whose edges differ, until that tells no more apart.
func (c *coloring) refine() {
	type half struct{ says, other int32 }
	edges := make([][]half, len(c.colors))
	words := map[string]int32{}
	for i := range c.from.Edges {
		e := &c.from.Edges[i]
		from, to := c.index[e.From], c.index[e.To]
		if c.free[to] {
			edges[to] = append(edges[to], half{number(words, "in "+e.Kind+" "+e.State+" "+e.Proxy), int32(from)})
		}
		if c.free[from] && c.from.Nodes[from].Kind == policyKind {
			edges[from] = append(edges[from], half{number(words, "out "+e.Kind+" "+e.State+" "+e.Proxy), int32(to)})
		}
	}
	var seen []uint64
	var key []byte
	for before := -1; ; {
		known := map[string]int32{}
		next := make([]int32, len(c.colors))
		for i := range c.colors {
			seen, key = seen[:0], binary.AppendUvarint(key[:0], uint64(c.colors[i]))
			for _, h := range edges[i] {
				seen = append(seen, uint64(h.says)<<32|uint64(c.colors[h.other]))
			}
			slices.Sort(seen)
			for _, s := range slices.Compact(seen) {
				key = binary.AppendUvarint(key, s)
			}
			next[i] = number(known, string(key))
		}
		c.colors = next
		if len(known) == before {
			return
		}
		before = len(known)
	}
}

// number numbers keys in the order in which they are met.
func number(known map[string]int32, key string) int32 {
	n, ok := known[key]
	if !ok {
		n = int32(len(known))
		known[key] = n
	}
	return n
}
