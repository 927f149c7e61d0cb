package view

import (
	"slices"

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
	Affected *policy.Policy    // nil: all policies; else this one, those that it competes with, and what it reaches
}

// Graph draws the targets asked for with everything above and below them, the policies that attach there, and where each is in
// force, partly in force or overridden.
func Graph(r *resolve.Resolution, q GraphQuery) *Topology {
	d := newDrawing(r, q)
	d.choose()
	d.settle()
	if q.Affected != nil {
		d.onlyAffectedBy(q.Affected)
	}
	for _, id := range q.Focus {
		d.shown[id] = true
	}
	d.policies()
	for id := range r.Len() {
		if d.shown[id] {
			d.node(topology.NodeID(id))
		}
	}
	d.traffic()
	d.fates()
	d.targets()
	return d.finish()
}

// drawing is a Topology being made. Nodes are numbered in the order in which they are drawn; those with one id have one number.
type drawing struct {
	res   *resolve.Resolution
	query GraphQuery

	scope  []bool // by NodeID: what the drawing is about
	up     []bool // of these, the targets and what is above them
	shown  []bool // by NodeID: what has a node
	taken  map[topology.NodeID]bool
	kinds  []*resolve.Kind // that the drawing is about
	chosen map[*policy.Policy]bool

	settled  []*settled                            // by kind
	through  map[attachment]*fate                  // what became of policies, by target
	places   map[*policy.Policy]placeSet           // of parts of policies
	above    map[topology.NodeID][]topology.NodeID // of the kind aboveOf, by node
	aboveOf  *resolve.Kind
	told     map[*resolve.Verdict]bool
	problems map[int32][]*resolve.Verdict // by node, in which something was found

	nodes    []GraphNode
	number   map[string]int32
	numberOf []int32 // by NodeID, -1: not drawn
	policy   map[*policy.Policy]int32
	edges    []edge
}

func newDrawing(r *resolve.Resolution, q GraphQuery) *drawing {
	d := &drawing{res: r, query: q, shown: make([]bool, r.Len()), scope: make([]bool, r.Len()), up: make([]bool, r.Len()), taken: map[topology.NodeID]bool{},
		chosen: map[*policy.Policy]bool{}, through: map[attachment]*fate{}, places: map[*policy.Policy]placeSet{}, problems: map[int32][]*resolve.Verdict{}, told: map[*resolve.Verdict]bool{},
		number: map[string]int32{}, numberOf: make([]int32, r.Len()), policy: map[*policy.Policy]int32{}}
	for i := range d.numberOf {
		d.numberOf[i] = -1
	}
	for _, id := range q.Taken {
		d.taken[id] = true
	}
	for _, k := range r.Kinds {
		if q.Kinds == nil || slices.Contains(q.Kinds, k.GroupKind) {
			d.kinds = append(d.kinds, k)
		}
	}
	return d
}

// choose marks what the drawing is about: the targets and all that is above and below them. Of that, namespaces and ports have nodes only
// when something targets them.
func (d *drawing) choose() {
	if d.query.Targets == nil {
		for id := range d.res.Len() {
			role := d.res.Node(topology.NodeID(id)).Role
			d.scope[id], d.up[id] = true, true
			d.shown[id] = role != topology.Namespace && role != topology.Port && role != topology.Opaque
		}
		return
	}
	var mark func(topology.NodeID, []bool, func(string, topology.NodeID) []topology.NodeID)
	mark = func(id topology.NodeID, seen []bool, next func(string, topology.NodeID) []topology.NodeID) {
		if seen[id] {
			return
		}
		seen[id], d.scope[id] = true, true
		d.shown[id] = d.shown[id] || d.res.Node(id).Role != topology.Port
		for _, n := range next(topology.All, id) {
			mark(n, seen, next)
		}
	}
	down := make([]bool, d.res.Len())
	for _, id := range d.query.Targets {
		if int(id) < d.res.Graph.Len() {
			mark(id, d.up, d.res.Graph.Parents)
			mark(id, down, d.res.Graph.Children)
		}
		d.shown[id], d.scope[id] = true, true
	}
}
