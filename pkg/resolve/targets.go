package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Targets is what policies can be attached to: the nodes of a graph, and further ones that no graph
// knows. Problems are those found so far.
type Targets struct {
	Snapshot *model.Snapshot
	Graph    *topology.Graph
	Problems []model.Problem

	virtual        []topology.Node // targets outside the graph, numbered after its nodes
	byRef          map[model.Ref]topology.NodeID
	findersByKind  map[*policy.Kind][]policy.Finder // by kind and reference form; made when asked for
	objectsByLabel map[labelIndex]map[labelKey][]*model.Object
}

// newTargets returns the targets in a graph of the snapshot.
func newTargets(in *model.Snapshot, g *topology.Graph, problems []model.Problem) *Targets {
	return &Targets{Snapshot: in, Graph: g, Problems: problems, byRef: map[model.Ref]topology.NodeID{}, objectsByLabel: map[labelIndex]map[labelKey][]*model.Object{}}
}

// Node returns a target by its id: of the graph, or one that no graph knows.
func (r *Targets) Node(id topology.NodeID) *topology.Node {
	if n := int(id) - r.Graph.Len(); n >= 0 {
		return &r.virtual[n]
	}
	return r.Graph.Node(id)
}

// Len returns the number of nodes, those outside the graph included.
func (r *Targets) Len() int { return r.Graph.Len() + len(r.virtual) }

// Lookup lists the nodes of a target, those outside the graph included.
func (r *Targets) Lookup(ref model.Ref) []topology.NodeID {
	ids := r.Graph.Lookup(ref)
	if id, ok := r.byRef[ref]; ok {
		return append(ids[:len(ids):len(ids)], id)
	}
	return ids
}

// opaqueNode returns the node of a target that has none in the graph (gep713 P14).
func (r *Targets) opaqueNode(ref model.Ref, o *model.Object) topology.NodeID {
	if id, ok := r.byRef[ref]; ok {
		return id
	}
	id := topology.NodeID(r.Graph.Len() + len(r.virtual))
	r.virtual = append(r.virtual, topology.Node{Role: topology.Opaque, Ref: ref, Object: o})
	r.byRef[ref] = id
	return id
}
