package graph

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// The kinds of edges of a Topology.
const (
	EdgeParent         = "parent"
	EdgeTargets        = "targets"
	EdgeEffective      = "effective"
	EdgeOverridden     = "overridden"
	EdgeConditionFalse = "conditionFalse" // also a state of EdgeTargets
	EdgeBypassed       = "bypassed"       // also a state of EdgeParent
)

// The states of edges of a Topology. GraphEdge says which edges have which.
const (
	EdgeFullyEffective  = "effective"
	EdgePartial         = "partial"
	EdgeFullyOverridden = "overridden"
	EdgeDangling        = "dangling"
	EdgeTaken           = "taken"
	EdgeStopped         = "stopped"
)

// Query is what a topology is about.
type Query struct {
	view.Query
	// the nodes in focus; with policies in focus too: only what is at most Depth edges from one of
	// them is shown, or all if there are none
	Focus           []topology.NodeID
	FocusPolicies   []*policy.Policy // the policies in focus
	Depth           int
	RequestNodes    []topology.NodeID // the nodes on the path of a request, which is marked
	RequestProblems []model.Problem   // of the request
	Request         *request.Answer   // the request, whose points are added; nil: there are none
	TakenPaths      *TakenPaths       // or the paths of a class of requests
	// nil: all policies; else this one, those that it competes with, and what it reaches
	Affected *policy.Policy
	Proxies  []ProxyFact // what proxies do otherwise than predicted, which is marked
}

// Build returns the targets asked for with everything above and below them, the policies that
// attach there, and where each is in force, partly in force or overridden.
func Build(r *resolve.Resolution, q Query) *Topology {
	d := newTopologyBuilder(newGraphScope(r, q))
	for id := range r.Len() {
		if d.shown[id] {
			d.addNode(topology.NodeID(id))
		}
	}
	d.addTrafficEdges()
	d.addEnforcement()
	d.addPolicies()
	d.addPoints()
	d.addIngresses()
	d.markProxies()
	return d.buildTopology()
}

// topologyBuilder builds a Topology. Nodes are numbered in the order in which they are added; those
// with one id have one number.
type topologyBuilder struct {
	*graphScope
	enforcementByTarget
	requestNodes   map[topology.NodeID]bool
	reported       map[*resolve.Verdict]bool
	problemsByNode map[int32][]*resolve.Verdict // by node, in which something was found

	nodes          []GraphNode
	numberByID     map[string]int32
	numberByNode   []int32 // by NodeID, -1: not drawn
	numberByPolicy map[*policy.Policy]int32
	edges          []edge
}

func newTopologyBuilder(o *graphScope) *topologyBuilder {
	d := &topologyBuilder{graphScope: o, enforcementByTarget: enforcementByTarget{graph: o.res.Graph,
		byTarget: map[policyTarget]*enforcement{}, placeSets: map[*policy.Policy]placeSet{}},
		requestNodes: map[topology.NodeID]bool{}, reported: map[*resolve.Verdict]bool{},
		problemsByNode: map[int32][]*resolve.Verdict{},
		numberByID:     map[string]int32{}, numberByNode: make([]int32,
			o.res.Len()), numberByPolicy: map[*policy.Policy]int32{}}
	for i := range d.numberByNode {
		d.numberByNode[i] = -1
	}
	for _, id := range o.query.RequestNodes {
		d.requestNodes[id] = true
	}
	if o.query.TakenPaths != nil {
		for _, id := range o.query.TakenPaths.nodes {
			d.requestNodes[id] = true
		}
	}
	return d
}

// filterByGraph returns a function that tells which problems matter to a graph: those of what is
// drawn.
func filterByGraph(r *resolve.Resolution, t *Topology) func(model.Problem) bool {
	return collect.FilterByObjects(func(add func(model.Ref)) {
		for i := range t.Nodes {
			add(t.Nodes[i].Ref)
			for _, member := range t.Nodes[i].Members {
				add(member)
			}
		}
	}, func(_ model.Problem, ref model.Ref) bool {
		return r.Kind(ref.GroupKind()) == nil && len(r.Lookup(ref)) == 0
	})
}
