package graph

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// A focus leaves the nodes that are so many edges away, and the edges between these.
func TestGraphFocus(t *testing.T) {
	r := viewtest.PaintedResolution(t)
	all := Build(r, Query{})
	far := distances(all)
	for focus := range r.Graph.Len() {
		id := topology.NodeID(focus)
		for depth := range 5 {
			near := func(node string) bool { d, linked := far[nodeID(r.Node(id))][node]; return linked && d <= depth }
			got := Build(r, Query{Focus: []topology.NodeID{id}, Depth: depth})
			if _, drawn := far[nodeID(r.Node(id))]; !drawn {
				if len(got.Nodes) == 0 || got.Nodes[0].Ref != r.Node(id).Ref && depth == 0 {
					t.Errorf("%s is not drawn: %v", r.Node(id).Ref, got.Nodes)
				}
				continue
			}
			nodes := slices.DeleteFunc(slices.Clone(all.Nodes), func(n GraphNode) bool { return !near(n.ID) })
			edges := slices.DeleteFunc(slices.Clone(all.Edges), func(e GraphEdge) bool {
				return !near(e.From) ||
					!near(e.To)
			})
			if !slices.EqualFunc(got.Nodes, nodes, func(a, b GraphNode) bool { return a.ID == b.ID }) ||
				!slices.EqualFunc(got.Edges, edges, func(a, b GraphEdge) bool {
					return a.From == b.From && a.To == b.To && a.Kind == b.Kind && a.State == b.State
				}) {
				t.Errorf("%s, depth %d: got %v, want %v", r.Node(id).Ref, depth, got.Nodes, nodes)
			}
		}
	}
}

// distances is how many edges lie between nodes that any lie between.
func distances(t *Topology) map[string]map[string]int {
	far := map[string]map[string]int{}
	for _, n := range t.Nodes {
		far[n.ID] = map[string]int{n.ID: 0}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range t.Edges {
			for _, from := range far {
				for _, way := range [][2]string{{e.From, e.To}, {e.To, e.From}} {
					start, linked := from[way[0]]
					if old, known := from[way[1]]; linked && (!known || start+1 < old) {
						from[way[1]], changed = start+1, true
					}
				}
			}
		}
	}
	return far
}
