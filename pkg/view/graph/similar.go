package graph

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// similarity says which nodes may look alike.
type similarity struct {
	// look is what a node looks like by itself; false for one that is like no other.
	appearance   func(n *GraphNode) ([]string, bool)
	compareEdges bool // nodes that look alike also have the same parents and policies
}

// similarRoutes joins routes of one namespace that have the same parents and the same policies, and
// likewise what only they have.
func similarRoutes() similarity {
	return similarity{compareEdges: true, appearance: func(n *GraphNode) ([]string, bool) {
		switch role := topology.Role(n.Kind); role {
		case topology.GatewayClass:
			return nil, false
		case topology.Route, topology.Backend, topology.Port, topology.Opaque, policyKind,
			IngressKind:
			return append(appearanceOf(n), n.Ref.Namespace), true
		}
		return append(appearanceOf(n), n.Ref.Namespace), n.Labels["state"] == stateMissing
	}}
}

// similarNamespaces joins namespaces that have the same parents, and the same in force from above.
func similarNamespaces() similarity {
	return similarity{compareEdges: true, appearance: func(n *GraphNode) ([]string, bool) {
		return appearanceOf(n), topology.Role(n.Kind) == topology.Namespace
	}}
}

// similarGateways joins Gateways too, with the policies on them.
func similarGateways() similarity {
	return similarity{compareEdges: true, appearance: func(n *GraphNode) ([]string, bool) {
		return append(appearanceOf(n), n.Ref.Section, n.Labels[labelListeners]),
			topology.Role(n.Kind) != topology.GatewayClass
	}}
}

// similarKinds joins everything of one kind.
func similarKinds() similarity {
	return similarity{appearance: func(n *GraphNode) ([]string, bool) {
		return appearanceOf(n), true
	}}
}

// appearanceOf returns the texts that tell nodes of all sorts apart.
func appearanceOf(n *GraphNode) []string {
	return []string{n.Kind, n.Ref.Group, n.Ref.Kind, n.Labels["state"], n.Labels["request"], n.Labels[labelProxy],
		n.Labels[labelProtection], n.Labels[labelUnknown]}
}

// joinSimilar joins nodes that look alike. Nodes do if they have the same appearance and, where
// edges are compared, the edges that lead to them have the same state and come from nodes that look
// alike; policies also by the edges that start at them.
func (t *Topology) joinSimilar(level string, same similarity) *Topology {
	f := newFolding(t)
	c := coloring{folding: f, colors: make([]int32, len(t.Nodes)), joinable: make([]bool, len(t.Nodes))}
	c.colorByAppearance(same)
	if same.compareEdges {
		c.refine()
	}
	heads := map[int32]int32{}
	for i, color := range c.colors {
		if !c.joinable[i] {
			continue
		}
		head, known := heads[color]
		if !known {
			heads[color] = int32(i)
			continue
		}
		f.foldedInto[i], f.renamed[head] = head, true
	}
	return f.buildTopology(level, func(g *GraphNode, members []int32) { f.describeGroup(g, members) })
}

// coloring gives nodes the same color as long as they look alike.
type coloring struct {
	*folding
	colors   []int32
	joinable []bool // by node: it may be like others
}

// colorByAppearance gives nodes colors by their appearance. A policy on a node that is like no
// other is like no other.
func (c *coloring) colorByAppearance(same similarity) {
	known := map[string]int32{}
	for i := range c.from.Nodes {
		look, free := same.appearance(&c.from.Nodes[i])
		c.joinable[i] = free && !c.kept[i]
		if c.joinable[i] {
			c.colors[i] = assignNumber(known, fmt.Sprintf("%q", look))
		}
	}
	if !same.compareEdges {
		return
	}
	for i := range c.from.Nodes {
		if c.from.Nodes[i].Kind != policyKind || !c.joinable[i] {
			continue
		}
		for _, e := range c.edgesFrom(i) {
			c.joinable[i] = c.joinable[i] && (e.Kind != EdgeTargets || c.joinable[c.index[e.To]])
		}
	}
	for i := range c.colors {
		if !c.joinable[i] {
			c.colors[i] = assignNumber(known, "#"+c.from.Nodes[i].ID)
		}
	}
}

// refine gives nodes other colors if their edges differ, until that changes nothing.
func (c *coloring) refine() {
	type half struct{ says, other int32 }
	edges := make([][]half, len(c.colors))
	words := map[string]int32{}
	for i := range c.from.Edges {
		e := &c.from.Edges[i]
		from, to := c.index[e.From], c.index[e.To]
		if c.joinable[to] {
			edges[to] = append(edges[to], half{assignNumber(words, "in "+e.Kind+" "+e.State+" "+e.Proxy), int32(from)})
		}
		if c.joinable[from] && c.from.Nodes[from].Kind == policyKind {
			edges[from] = append(edges[from], half{assignNumber(words, "out "+e.Kind+" "+e.State+" "+e.Proxy),
				int32(to)})
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
			next[i] = assignNumber(known, string(key))
		}
		c.colors = next
		if len(known) == before {
			return
		}
		before = len(known)
	}
}

// assignNumber returns the number of a key. Keys are numbered in the order in which they are met.
func assignNumber(known map[string]int32, key string) int32 {
	n, ok := known[key]
	if !ok {
		n = int32(len(known))
		known[key] = n
	}
	return n
}
