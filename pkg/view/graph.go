package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The kinds of edges of a Topology.
const (
	EdgeParent     = "parent"
	EdgeTargets    = "targets"
	EdgeEffective  = "effective"
	EdgeOverridden = "overridden"
	EdgeIdle       = "conditionFalse" // also a state of EdgeTargets
)

// The states of edges of a Topology. GraphEdge says which edges have which.
const (
	EdgeWhole    = "effective"
	EdgePartial  = "partial"
	EdgeLost     = "overridden"
	EdgeDangling = "dangling"
	EdgeTaken    = "taken"
)

// GraphQuery is what a drawing is about.
type GraphQuery struct {
	Query
	Focus    []topology.NodeID // with On, what is drawn: both nil: all; else only what is at most Depth edges from one of these, policies included
	On       []*policy.Policy  // the policies in focus
	Depth    int
	Taken    []topology.NodeID // the nodes on the way of a request, which is marked
	Told     []model.Problem   // of the request
	Ways     *WaysTaken        // or the ways of a class of requests
	Affected *policy.Policy    // nil: all policies; else this one, those that it competes with, and what it reaches
	Proxies  []ProxyFact       // what proxies do otherwise than predicted, which is marked
}

// Graph draws the targets asked for with everything above and below them, the policies that attach there, and where each is in
// force, partly in force or overridden.
func Graph(r *resolve.Resolution, q GraphQuery) *Topology {
	d := newDrawing(newOutline(r, q))
	for id := range r.Len() {
		if d.shown[id] {
			d.node(topology.NodeID(id))
		}
	}
	d.traffic()
	d.fates()
	d.targets()
	d.witness()
	return d.finish()
}

// drawing is a Topology being made. Nodes are numbered in the order in which they are drawn; those with one id have one number.
type drawing struct {
	*outline
	ledger
	taken    map[topology.NodeID]bool
	told     map[*resolve.Verdict]bool
	problems map[int32][]*resolve.Verdict // by node, in which something was found

	nodes    []GraphNode
	number   map[string]int32
	numberOf []int32 // by NodeID, -1: not drawn
	policy   map[*policy.Policy]int32
	edges    []edge
}

func newDrawing(o *outline) *drawing {
	d := &drawing{outline: o, ledger: ledger{graph: o.res.Graph, through: map[attachment]*fate{}, places: map[*policy.Policy]placeSet{}},
		taken: map[topology.NodeID]bool{}, told: map[*resolve.Verdict]bool{}, problems: map[int32][]*resolve.Verdict{},
		number: map[string]int32{}, numberOf: make([]int32, o.res.Len()), policy: map[*policy.Policy]int32{}}
	for i := range d.numberOf {
		d.numberOf[i] = -1
	}
	for _, id := range o.query.Taken {
		d.taken[id] = true
	}
	if o.query.Ways != nil {
		for _, id := range o.query.Ways.nodes {
			d.taken[id] = true
		}
	}
	return d
}
