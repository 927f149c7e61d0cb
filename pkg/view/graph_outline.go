package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// outline says what a drawing is about, and what of it is drawn.
type outline struct {
	res     *resolve.Resolution
	query   GraphQuery
	scope   []bool          // by NodeID: what the drawing is about
	up      []bool          // of these, the targets and what is above them
	shown   []bool          // by NodeID: what has a node
	kinds   []*resolve.Kind // that the drawing is about
	settled []*layerFates   // by kind
	chosen  map[*policy.Policy]bool
}

func newOutline(r *resolve.Resolution, q GraphQuery) *outline {
	o := &outline{res: r, query: q, scope: make([]bool, r.Len()), up: make([]bool, r.Len()), shown: make([]bool, r.Len()), chosen: map[*policy.Policy]bool{}}
	for _, k := range r.Kinds {
		if q.Kinds == nil || slices.Contains(q.Kinds, k.GroupKind) {
			o.kinds = append(o.kinds, k)
		}
	}
	o.choose()
	o.foldStacks()
	if q.Affected != nil {
		o.onlyAffectedBy(q.Affected)
	}
	for _, id := range q.Focus {
		o.shown[id] = true
	}
	o.policies()
	return o
}

// choose marks what the drawing is about: the targets and all that is above and below them. Of that, namespaces and ports have nodes only
// when something targets them.
func (o *outline) choose() {
	if o.query.Targets == nil {
		for id := range o.res.Len() {
			role := o.res.Node(topology.NodeID(id)).Role
			o.scope[id], o.up[id] = true, true
			o.shown[id] = role != topology.Namespace && role != topology.Port && role != topology.Opaque
		}
		return
	}
	var mark func(topology.NodeID, []bool, func(string, topology.NodeID) []topology.NodeID)
	mark = func(id topology.NodeID, seen []bool, next func(string, topology.NodeID) []topology.NodeID) {
		if seen[id] {
			return
		}
		seen[id], o.scope[id] = true, true
		o.shown[id] = o.shown[id] || o.res.Node(id).Role != topology.Port
		for _, n := range next(topology.All, id) {
			mark(n, seen, next)
		}
	}
	down := make([]bool, o.res.Len())
	for _, id := range o.query.Targets {
		if int(id) < o.res.Graph.Len() {
			mark(id, o.up, o.res.Graph.Parents)
			mark(id, down, o.res.Graph.Children)
		}
		o.shown[id], o.scope[id] = true, true
	}
}

// foldStacks folds what the drawing needs.
func (o *outline) foldStacks() {
	for _, k := range o.kinds {
		if !k.InUse() {
			continue
		}
		if o.query.Targets == nil {
			k.Fold()
		}
		o.settled = append(o.settled, &layerFates{kind: k, byStack: map[resolve.StackID][]layerFate{}})
	}
}

// each calls see for every stack of the kind that reaches an effective target of which the drawing is about, targets in order.
func (o *outline) each(s *layerFates, see func(id topology.NodeID, stack resolve.StackID)) {
	s.kind.EachContext(func(id topology.NodeID, stack resolve.StackID) {
		if o.scope[id] && (s.kind.Scope == nil || len(s.kind.Paths(id, stack)) > 0) {
			see(id, stack)
		}
	})
}

// policies chooses the policies to draw: those with a target that the drawing is about, those that something became of at one, and those
// that name a missing section of one; without targets asked for, all. Their targets are shown, whatever the drawing is about.
func (o *outline) policies() {
	if o.query.Affected == nil {
		o.choosePolicies()
	}
	for _, k := range o.kinds {
		for _, p := range k.Policies {
			if !o.chosen[p] || o.query.Affected != nil && o.query.Affected != p {
				continue
			}
			for _, id := range k.TargetsOf(p) {
				o.shown[id] = true
			}
		}
	}
}

func (o *outline) choosePolicies() {
	for _, k := range o.kinds {
		for _, p := range k.Policies {
			if o.query.Targets == nil || o.touches(k, p) {
				o.chosen[p] = true
			}
		}
	}
	if o.query.Targets == nil {
		return
	}
	for _, s := range o.settled {
		o.each(s, func(id topology.NodeID, stack resolve.StackID) {
			if _, seen := s.byStack[stack]; seen {
				return
			}
			for _, f := range s.of(stack) {
				o.chosen[f.policy] = true
			}
		})
	}
}

// touches reports whether a policy has a target that the drawing is about, or names a missing section of one.
func (o *outline) touches(k *resolve.Kind, p *policy.Policy) bool {
	about := func(id topology.NodeID) bool { return o.scope[id] }
	if slices.ContainsFunc(k.TargetsOf(p), about) {
		return true
	}
	for i := range p.Refs {
		if ref, missing := k.Missing(p, i); missing && slices.ContainsFunc(o.res.Lookup(ref.WithoutSection()), about) {
			return true
		}
	}
	return false
}

// onlyAffectedBy narrows the drawing to where something became of a policy, with what is above it and the sections and backends below it, and to
// the policies that it beats or loses to there.
func (o *outline) onlyAffectedBy(p *policy.Policy) {
	o.chosen[p] = true
	up, below := make([]bool, o.res.Len()), make([]bool, o.res.Len())
	for _, s := range o.settled {
		if !s.kind.Has(p) {
			continue
		}
		o.each(s, func(id topology.NodeID, stack resolve.StackID) {
			if o.compete(p, s.of(stack)) {
				o.shown[id] = true
				o.climb(id, up)
				o.descend(id, below)
			}
		})
	}
	for id := range o.scope {
		o.scope[id] = o.scope[id] && (up[id] || below[id])
		o.shown[id], o.up[id] = o.shown[id] && o.scope[id], o.up[id] && up[id]
	}
	o.kinds = slices.DeleteFunc(o.kinds, func(k *resolve.Kind) bool { return !k.Has(p) })
	o.settled = slices.DeleteFunc(o.settled, func(s *layerFates) bool { return !s.kind.Has(p) })
}

// compete chooses the policies that beat p in a stack, or lost to it, and reports whether anything became of p there.
func (o *outline) compete(p *policy.Policy, stack []layerFate) bool {
	held := false
	for i := range stack {
		switch f := &stack[i]; {
		case f.policy == p:
			held = true
			for _, by := range f.by {
				o.chosen[by] = true
			}
		case slices.Contains(f.by, p):
			o.chosen[f.policy] = true
		}
	}
	return held
}

// climb marks a node and all that is above it.
func (o *outline) climb(id topology.NodeID, seen []bool) {
	if seen[id] {
		return
	}
	seen[id] = true
	if int(id) >= o.res.Graph.Len() {
		return
	}
	for _, p := range o.res.Graph.Parents(topology.All, id) {
		o.climb(p, seen)
	}
}

// descend marks a node, its sections, and the backends below them.
func (o *outline) descend(id topology.NodeID, seen []bool) {
	if seen[id] || int(id) >= o.res.Graph.Len() {
		return
	}
	seen[id] = true
	n := o.res.Node(id)
	for _, c := range o.res.Graph.Children(topology.All, id) {
		child := o.res.Node(c)
		section := child.Ref.Section != "" && child.Ref.WithoutSection() == n.Ref.WithoutSection()
		backend := n.Role == topology.Rule && (child.Role == topology.Backend || child.Role == topology.Port)
		if section || backend {
			o.descend(c, seen)
		}
	}
}
