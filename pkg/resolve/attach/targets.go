package attach

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

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

	Virtual        []topology.Node // targets outside the graph, numbered after its nodes
	byRef          map[model.Ref]topology.NodeID
	findersByKind  map[*policy.Kind][]policy.Finder // by kind and reference form; made when asked for
	objectsByLabel map[labelIndex]map[labelKey][]*model.Object
}

// NewTargets returns the targets in a graph of the snapshot.
func NewTargets(in *model.Snapshot, g *topology.Graph, problems []model.Problem) *Targets {
	return &Targets{Snapshot: in, Graph: g, Problems: problems, byRef: map[model.Ref]topology.NodeID{},
		objectsByLabel: map[labelIndex]map[labelKey][]*model.Object{}}
}

// Node returns a target by its id: of the graph, or one that no graph knows.
func (r *Targets) Node(id topology.NodeID) *topology.Node {
	if n := int(id) - r.Graph.Len(); n >= 0 {
		return &r.Virtual[n]
	}
	return r.Graph.Node(id)
}

// Len returns the number of nodes, those outside the graph included.
func (r *Targets) Len() int { return r.Graph.Len() + len(r.Virtual) }

// Lookup lists the nodes of a target, those outside the graph included.
func (r *Targets) Lookup(ref model.Ref) []topology.NodeID {
	ids := r.Graph.Lookup(ref)
	if id, ok := r.byRef[ref]; ok {
		return append(ids[:len(ids):len(ids)], id)
	}
	return ids
}

// OpaqueNode returns the node of a target that has none in the graph (gep713 P14).
func (r *Targets) OpaqueNode(ref model.Ref, o *model.Object) topology.NodeID {
	if id, ok := r.byRef[ref]; ok {
		return id
	}
	id := topology.NodeID(r.Graph.Len() + len(r.Virtual))
	r.Virtual = append(r.Virtual, topology.Node{Role: topology.Opaque, Ref: ref, Object: o})
	r.byRef[ref] = id
	return id
}

// IsClusterScoped reports whether objects of a kind that policies target have no namespace.
func IsClusterScoped(gk model.GroupKind) bool {
	return gk == ClassKind || gk == NamespaceKind
}

// The kinds whose gaps matter beside those of the nodes.
var (
	ClassKind     = model.GroupKind{Group: gatewayv1.GroupName, Kind: "GatewayClass"}
	GatewayKind   = model.GroupKind{Group: gatewayv1.GroupName, Kind: "Gateway"}
	GrantKind     = model.GroupKind{Group: gatewayv1.GroupName, Kind: "ReferenceGrant"}
	ServiceKind   = model.GroupKind{Kind: "Service"}
	NamespaceKind = model.GroupKind{Kind: "Namespace"}
)
