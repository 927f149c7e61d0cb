package graph

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// edgeKind is what an edge says: that traffic flows, that a policy has a target, or how far a
// policy is in force.
type edgeKind uint8

const (
	enforcementEdge edgeKind = iota
	parentEdge
	targetsEdge
)

// edge joins two nodes of a topology by their numbers.
type edge struct {
	from, to        int32
	kind            edgeKind
	taken, dangling bool
	stopped         bool     // something before it denies the request
	differs         bool     // a proxy does not do what is predicted
	paths           []string // of an Ingress that lead there
	enforcement
}

// mergeEdge merges an edge of the same kind between the same nodes into this one.
func (e *edge) mergeEdge(x *edge) {
	e.taken, e.dangling, e.differs = e.taken || x.taken, e.dangling && x.dangling, e.differs || x.differs
	e.stopped, e.paths = e.stopped || x.stopped, mergePaths(e.paths, x.paths)
	e.winners = slices.Clip(e.winners)
	e.combine(&x.enforcement)
}

// addTrafficEdges adds the edges on which traffic flows between the nodes, and those from parents
// that are not in the input.
func (d *topologyBuilder) addTrafficEdges() {
	for id := range d.res.Graph.Len() {
		from := topology.NodeID(id)
		if !d.shown[from] {
			continue
		}
		for _, to := range d.res.Graph.AllChildren(from) {
			if d.shown[to] {
				d.edges = append(d.edges, edge{from: d.numberByNode[from], to: d.numberByNode[to], kind: parentEdge,
					taken:    d.isOnTakenPath(from, to),
					dangling: d.isAbsent(from) || d.isAbsent(to)})
			}
		}
		if d.atOrAbove[from] && d.res.Node(from).Role == topology.Route {
			d.addMissingParents(from)
		}
	}
}

// isAbsent reports whether a node is named and not in the input, and is not assumed to exist all
// the same.
func (d *topologyBuilder) isAbsent(id topology.NodeID) bool {
	n := d.res.Node(id)
	return n.Object == nil && d.absenceState(n) == stateMissing
}

// addMissingParents adds the parents of a route that are not in the input, and missing sections of
// parents.
func (d *topologyBuilder) addMissingParents(route topology.NodeID) {
	g := d.res.Graph
	for _, a := range g.ParentVerdicts(route) {
		if a.State != topology.NoMatchingParent || a.Listener != topology.None {
			continue
		}
		role := roleOfKind(a.Parent.GroupKind())
		switch {
		case gatewayapi.IsMeshParent(a.Parent.GroupKind()):
			role = topology.Frontend
		case role != topology.Gateway && role != topology.ListenerSet:
			continue
		}
		if d.isParentMissing(a.Parent) {
			d.edges = append(d.edges, edge{from: d.addMissingNode(a.Parent, role), to: d.numberByNode[route],
				kind: parentEdge, dangling: true})
		}
	}
}

// isParentMissing reports whether what a parentRef names is not in the input: the object, or the
// section that it asks for.
func (d *topologyBuilder) isParentMissing(parent model.Ref) bool {
	if d.res.Snapshot.Get(parent.WithoutSection()) == nil {
		return true
	}
	return parent.Section != "" && len(d.res.Graph.Lookup(parent)) == 0
}

// addPolicyEdges adds edges from policies to an effective target, by how far they are in force
// there.
func (d *topologyBuilder) addPolicyEdges(at topology.NodeID, fates []layerEnforcement) {
	for i := range fates {
		f := &fates[i]
		if !d.chosenPolicies[f.policy] {
			continue
		}
		e := edge{from: d.addPolicyNode(f.policy), to: d.numberByNode[at], kind: enforcementEdge,
			enforcement: f.enforcement}
		if slices.Contains(e.winners, f.policy) { // at another of its own targets
			e.winners = slices.DeleteFunc(slices.Clone(e.winners), func(p *policy.Policy) bool { return p == f.policy })
		}
		d.edges = append(d.edges, e)
	}
}

// buildTopology sorts what was added and returns it in the shape of the contract.
func (d *topologyBuilder) buildTopology() *Topology {
	out := &Topology{Nodes: make([]GraphNode, len(d.nodes)), Edges: []GraphEdge{}}
	order := make([]int32, len(d.nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(d.nodes[a].ID, d.nodes[b].ID) })
	rank := make([]int32, len(d.nodes))
	for i, n := range order {
		out.Nodes[i], rank[n] = d.nodes[n], int32(i)
	}
	slices.SortStableFunc(d.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(rank[a.from], rank[b.from]), cmp.Compare(rank[a.to], rank[b.to]),
			cmp.Compare(a.kind, b.kind))
	})
	merged := d.edges[:0]
	for i := range d.edges {
		e := &d.edges[i]
		if last := len(merged) - 1; last >= 0 && merged[last].from == e.from && merged[last].to == e.to &&
			merged[last].kind == e.kind {
			merged[last].mergeEdge(e)
			continue
		}
		merged = append(merged, *e)
	}
	out.Edges = slices.Grow(out.Edges, len(merged))
	for i := range merged {
		out.Edges = append(out.Edges, d.exportEdge(&merged[i]))
	}
	d.narrowToFocus(out)
	d.addRequests(out)
	out.Finish("Topology", d.collectProblems(out))
	out.LimitRelevance(filterByGraph(d.res, out))
	return out
}

// exportEdge returns an edge in the shape of the contract.
func (d *topologyBuilder) exportEdge(e *edge) GraphEdge {
	out := GraphEdge{From: d.nodes[e.from].ID, To: d.nodes[e.to].ID}
	if e.differs {
		out.Proxy = ProxyDiffers
	}
	switch e.kind {
	case parentEdge:
		out.Kind, out.Paths = EdgeParent, e.paths
		if e.dangling {
			out.State = EdgeDangling
		}
		switch {
		case e.taken:
			out.State = EdgeTaken
		case e.stopped:
			out.State = EdgeStopped
		case e.bypassed:
			out.State = EdgeBypassed
		}
		return out
	case targetsEdge:
		out.Kind, out.State = EdgeTargets, e.edgeState()
		if e.dangling {
			out.State = EdgeDangling
		}
	default:
		out.Kind = e.edgeState()
		if out.Kind == EdgePartial {
			out.Kind, out.State = EdgeEffective, EdgePartial
		}
	}
	if e.lost {
		for _, p := range e.winners {
			out.By = append(out.By, refID(p.Ref()))
		}
		slices.Sort(out.By)
		out.By = slices.Compact(out.By)
	}
	return out
}

// collectProblems returns the problems of the input, and those that were found at the nodes.
func (d *topologyBuilder) collectProblems(t *Topology) []model.Problem {
	a := collect.New(d.res, view.Query{Kinds: d.query.Kinds})
	for _, s := range d.enforcements {
		if len(s.byStack) > 0 {
			a.MarkKind(s.kind.GroupKind)
		}
	}
	for _, n := range t.Nodes {
		for _, o := range d.problemsByNode[d.numberByID[n.ID]] {
			if !d.reported[o] {
				d.reported[o] = true
				a.AddProblems(o.Problems...)
			}
		}
	}
	a.AddProblems(d.query.RequestProblems...)
	a.AddProblems(d.pointProblems...)
	a.AddProblems(d.collectIngressProblems()...)
	if d.query.TakenPaths != nil {
		a.AddProblems(d.query.TakenPaths.problems...)
	}
	return a.CollectProblems()
}
