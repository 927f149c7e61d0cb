package view

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// edgeKind is what an edge of a drawing says: that traffic flows, that a policy has a target, or what became of a policy.
type edgeKind uint8

const (
	fateEdge edgeKind = iota
	parentEdge
	targetsEdge
)

// edge joins two nodes of a drawing by their numbers.
type edge struct {
	from, to        int32
	kind            edgeKind
	taken, dangling bool
	differs         bool // a proxy does not do what is predicted
	fate
}

// join adds an edge of the same kind between the same nodes.
func (e *edge) join(x *edge) {
	e.taken, e.dangling, e.differs = e.taken || x.taken, e.dangling && x.dangling, e.differs || x.differs
	e.by = slices.Clip(e.by)
	e.add(&x.fate)
}

// traffic draws the edges on which traffic flows between what is drawn, and those from parents that are not in the input.
func (d *drawing) traffic() {
	for id := range d.res.Graph.Len() {
		from := topology.NodeID(id)
		if !d.shown[from] {
			continue
		}
		for _, to := range d.res.Graph.Below(from) {
			if d.shown[to] {
				d.edges = append(d.edges, edge{from: d.numberOf[from], to: d.numberOf[to], kind: parentEdge, taken: d.passes(from, to),
					dangling: d.isAbsent(from) || d.isAbsent(to)})
			}
		}
		if d.up[from] && d.res.Node(from).Role == topology.Route {
			d.missingParents(from)
		}
	}
}

// isAbsent reports whether a node is named and not in the input, and is not assumed to exist all the same.
func (d *drawing) isAbsent(id topology.NodeID) bool {
	n := d.res.Node(id)
	return n.Object == nil && d.absence(n) == absent
}

// missingParents draws the parents of a route that are not in the input, and sections of parents.
func (d *drawing) missingParents(route topology.NodeID) {
	g := d.res.Graph
	for _, a := range g.Verdicts(route) {
		if a.State != topology.NoMatchingParent || a.Listener != topology.None {
			continue
		}
		role := roleOf(a.Parent.GroupKind())
		switch {
		case topology.MeshParent(a.Parent.GroupKind()):
			role = topology.Frontend
		case role != topology.Gateway && role != topology.ListenerSet:
			continue
		}
		if d.lacks(a.Parent) {
			d.edges = append(d.edges, edge{from: d.missing(a.Parent, role), to: d.numberOf[route], kind: parentEdge, dangling: true})
		}
	}
}

// lacks reports whether what a parentRef names is not in the input: the object, or the section that it asks for.
func (d *drawing) lacks(parent model.Ref) bool {
	if d.res.Snapshot.Get(parent.WithoutSection()) == nil {
		return true
	}
	return parent.Section != "" && len(d.res.Graph.Lookup(parent)) == 0
}

// drawFates draws what became of the policies at an effective target.
func (d *drawing) drawFates(at topology.NodeID, fates []layerFate) {
	for i := range fates {
		f := &fates[i]
		if !d.chosen[f.policy] {
			continue
		}
		e := edge{from: d.policyNode(f.policy), to: d.numberOf[at], kind: fateEdge, fate: f.fate}
		if slices.Contains(e.by, f.policy) { // at another of its own targets
			e.by = slices.DeleteFunc(slices.Clone(e.by), func(p *policy.Policy) bool { return p == f.policy })
		}
		d.edges = append(d.edges, e)
	}
}

// finish sorts what was drawn and puts it into the shape of the contract.
func (d *drawing) finish() *Topology {
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
		return cmp.Or(cmp.Compare(rank[a.from], rank[b.from]), cmp.Compare(rank[a.to], rank[b.to]), cmp.Compare(a.kind, b.kind))
	})
	merged := d.edges[:0]
	for i := range d.edges {
		e := &d.edges[i]
		if last := len(merged) - 1; last >= 0 && merged[last].from == e.from && merged[last].to == e.to && merged[last].kind == e.kind {
			merged[last].join(e)
			continue
		}
		merged = append(merged, *e)
	}
	out.Edges = slices.Grow(out.Edges, len(merged))
	for i := range merged {
		out.Edges = append(out.Edges, d.export(&merged[i]))
	}
	d.narrow(out)
	d.requests(out)
	out.Seal("Topology", d.said(out))
	out.touches = touchingDrawn(d.res, out)
	return out
}

// export is an edge in the shape of the contract.
func (d *drawing) export(e *edge) GraphEdge {
	out := GraphEdge{From: d.nodes[e.from].ID, To: d.nodes[e.to].ID}
	if e.differs {
		out.Proxy = ProxyDiffers
	}
	switch e.kind {
	case parentEdge:
		out.Kind = EdgeParent
		if e.dangling {
			out.State = EdgeDangling
		}
		if e.taken {
			out.State = EdgeTaken
		}
		return out
	case targetsEdge:
		out.Kind, out.State = EdgeTargets, e.state()
		if e.dangling {
			out.State = EdgeDangling
		}
	default:
		out.Kind = e.state()
		if out.Kind == EdgePartial {
			out.Kind, out.State = EdgeEffective, EdgePartial
		}
	}
	if e.lost {
		for _, p := range e.by {
			out.By = append(out.By, refID(p.Ref()))
		}
		slices.Sort(out.By)
		out.By = slices.Compact(out.By)
	}
	return out
}

// said are the problems of the input, and those that were found at what is drawn.
func (d *drawing) said(t *Topology) []model.Problem {
	a := collector{res: d.res, query: Query{Kinds: d.query.Kinds}, kinds: map[model.GroupKind]bool{}}
	for _, s := range d.settled {
		if len(s.byStack) > 0 {
			a.kinds[s.kind.GroupKind] = true
		}
	}
	for _, n := range t.Nodes {
		for _, o := range d.problems[d.number[n.ID]] {
			if !d.told[o] {
				d.told[o] = true
				a.found = append(a.found, o.Problems...)
			}
		}
	}
	a.found = append(a.found, d.query.Told...)
	if d.query.Ways != nil {
		a.found = append(a.found, d.query.Ways.problems...)
	}
	return a.problems()
}
