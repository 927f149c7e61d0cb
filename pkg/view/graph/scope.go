package graph

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// graphScope says what a topology is about, and which nodes it shows.
type graphScope struct {
	res            *resolve.Resolution
	query          Query
	inScope        []bool             // by NodeID: what the drawing is about
	atOrAbove      []bool             // of these, the targets and what is above them
	shown          []bool             // by NodeID: what has a node
	kinds          []*resolve.Kind    // that the drawing is about
	enforcements   []*kindEnforcement // by kind
	chosenPolicies map[*policy.Policy]bool
	points         []point.Point   // of the request that is asked about
	pointProblems  []model.Problem // what is not known of them
}

func newGraphScope(r *resolve.Resolution, q Query) *graphScope {
	o := &graphScope{res: r, query: q, inScope: make([]bool, r.Len()), atOrAbove: make([]bool, r.Len()),
		shown: make([]bool, r.Len()), chosenPolicies: map[*policy.Policy]bool{}}
	for _, k := range r.Kinds {
		if q.Kinds == nil || slices.Contains(q.Kinds, k.GroupKind) {
			o.kinds = append(o.kinds, k)
		}
	}
	o.findPoints()
	o.markScope()
	o.foldStacks()
	if q.Affected != nil {
		o.narrowToAffected(q.Affected)
	}
	for _, id := range q.Focus {
		o.shown[id] = true
	}
	o.selectPolicies()
	return o
}

// markScope marks what the topology is about: the targets and all that is above and below them. Of
// that, namespaces and ports have nodes only when something targets them.
func (o *graphScope) markScope() {
	if o.query.Targets == nil {
		for id := range o.res.Len() {
			role := o.res.Node(topology.NodeID(id)).Role
			o.inScope[id], o.atOrAbove[id] = true, true
			o.shown[id] = role != topology.Namespace && role != topology.Port && role != topology.Opaque
		}
		return
	}
	var mark func(topology.NodeID, []bool, func(string, topology.NodeID) []topology.NodeID)
	mark = func(id topology.NodeID, seen []bool, next func(string, topology.NodeID) []topology.NodeID) {
		if seen[id] {
			return
		}
		seen[id], o.inScope[id] = true, true
		o.shown[id] = o.shown[id] || o.res.Node(id).Role != topology.Port
		for _, n := range next(topology.All, id) {
			mark(n, seen, next)
		}
	}
	down := make([]bool, o.res.Len())
	for _, id := range o.query.Targets {
		if int(id) < o.res.Graph.Len() {
			mark(id, o.atOrAbove, o.res.Graph.Parents)
			mark(id, down, o.res.Graph.Children)
		}
		o.shown[id], o.inScope[id] = true, true
	}
}

// foldStacks folds the stacks that the topology needs.
func (o *graphScope) foldStacks() {
	for _, k := range o.kinds {
		if !k.IsInUse() {
			continue
		}
		if o.query.Targets == nil {
			k.FoldAll()
		}
		o.enforcements = append(o.enforcements, &kindEnforcement{kind: k,
			byStack: map[resolve.StackID][]layerEnforcement{}})
	}
}

// eachStack calls see for every stack of the kind that reaches an effective target in the scope,
// targets in order.
func (o *graphScope) eachStack(s *kindEnforcement, see func(id topology.NodeID, stack resolve.StackID)) {
	s.kind.EachContext(func(id topology.NodeID, stack resolve.StackID) {
		if o.inScope[id] && (s.kind.Scope == nil || len(s.kind.Paths(id, stack)) > 0) {
			see(id, stack)
		}
	})
}

// selectPolicies chooses the policies to show: those with a target in the scope, those that are in
// force or lost at one, and those that name a missing section of one; without targets asked for,
// all. Their targets are shown, whatever the scope is.
func (o *graphScope) selectPolicies() {
	if o.query.Affected == nil {
		o.selectScopePolicies()
		o.choosePointPolicies()
	}
	for _, k := range o.kinds {
		for _, p := range k.Policies {
			if !o.chosenPolicies[p] || o.query.Affected != nil && o.query.Affected != p {
				continue
			}
			for _, id := range k.TargetsOf(p) {
				o.shown[id] = true
			}
		}
	}
}

func (o *graphScope) selectScopePolicies() {
	for _, k := range o.kinds {
		for _, p := range k.Policies {
			if o.query.Targets == nil || o.hasTargetInScope(k, p) {
				o.chosenPolicies[p] = true
			}
		}
	}
	if o.query.Targets == nil {
		return
	}
	for _, s := range o.enforcements {
		o.eachStack(s, func(id topology.NodeID, stack resolve.StackID) {
			if _, seen := s.byStack[stack]; seen {
				return
			}
			for _, f := range s.ofStack(stack) {
				o.chosenPolicies[f.policy] = true
			}
		})
	}
}

// hasTargetInScope reports whether a policy has a target in the scope, or names a missing section
// of one.
func (o *graphScope) hasTargetInScope(k *resolve.Kind, p *policy.Policy) bool {
	about := func(id topology.NodeID) bool { return o.inScope[id] }
	if slices.ContainsFunc(k.TargetsOf(p), about) {
		return true
	}
	for i := range p.Refs {
		if ref, missing := k.MissingTarget(p, i); missing &&
			slices.ContainsFunc(o.res.Lookup(ref.WithoutSection()), about) {
			return true
		}
	}
	return false
}

// narrowToAffected narrows the scope to where a policy is in force or lost, with what is above it
// and the sections and backends below it, and to the policies that it beats or loses to there.
func (o *graphScope) narrowToAffected(p *policy.Policy) {
	o.chosenPolicies[p] = true
	up, below := make([]bool, o.res.Len()), make([]bool, o.res.Len())
	for _, s := range o.enforcements {
		if !s.kind.HasPolicy(p) {
			continue
		}
		o.eachStack(s, func(id topology.NodeID, stack resolve.StackID) {
			if o.addCompetitors(p, s.ofStack(stack)) {
				o.shown[id] = true
				o.markAbove(id, up)
				o.markBelow(id, below)
			}
		})
	}
	for id := range o.inScope {
		o.inScope[id] = o.inScope[id] && (up[id] || below[id])
		o.shown[id], o.atOrAbove[id] = o.shown[id] && o.inScope[id], o.atOrAbove[id] && up[id]
	}
	o.kinds = slices.DeleteFunc(o.kinds, func(k *resolve.Kind) bool { return !k.HasPolicy(p) })
	o.enforcements = slices.DeleteFunc(o.enforcements, func(s *kindEnforcement) bool { return !s.kind.HasPolicy(p) })
}

// addCompetitors chooses the policies that beat p in a stack, or lost to it, and reports whether p
// is in the stack.
func (o *graphScope) addCompetitors(p *policy.Policy, stack []layerEnforcement) bool {
	held := false
	for i := range stack {
		switch f := &stack[i]; {
		case f.policy == p:
			held = true
			for _, by := range f.winners {
				o.chosenPolicies[by] = true
			}
		case slices.Contains(f.winners, p):
			o.chosenPolicies[f.policy] = true
		}
	}
	return held
}

// markAbove marks a node and all that is above it.
func (o *graphScope) markAbove(id topology.NodeID, seen []bool) {
	if seen[id] {
		return
	}
	seen[id] = true
	if int(id) >= o.res.Graph.Len() {
		return
	}
	for _, p := range o.res.Graph.Parents(topology.All, id) {
		o.markAbove(p, seen)
	}
}

// markBelow marks a node, its sections, and the backends below them.
func (o *graphScope) markBelow(id topology.NodeID, seen []bool) {
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
			o.markBelow(c, seen)
		}
	}
}
