package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// situate interns what holds at every target of a scope whose fold depends on the target: by the parts, and by the key of the situation.
func (k *Kind) situate(found map[topology.NodeID]set, tell func(topology.NodeID) *policy.Situation) {
	s := k.scoped
	s.situations = map[StackID]*policy.Situation{}
	for i := range k.res.Graph.Len() {
		id := topology.NodeID(i)
		if !k.ReachesNode(k.res.Graph.Node(id)) {
			continue
		}
		at := tell(id)
		if at == nil || len(found[id]) == 0 && !at.Bare {
			continue
		}
		stack := s.intern(found[id], "\xfe"+at.Key)
		delete(s.names, stack)
		s.situations[stack] = at
		k.at[id] = []StackID{stack}
		s.bare = s.bare || len(found[id]) == 0
	}
}

// InUse reports whether the kind has an answer anywhere: it has policies, or something that no policy wrote is in force.
func (k *Kind) InUse() bool { return len(k.Policies) > 0 || k.scoped != nil && k.scoped.bare }

// buildSituated lays out a stack whose fold depends on the target: what is built in, then the parts in the order of the target.
func (k *Kind) buildSituated(s StackID, at *policy.Situation) *Verdict {
	o := &Verdict{}
	runs := 0
	add := func(a policy.Attached, uncertain bool) {
		node, level := at.Place(a.Policy)
		a.Node = node
		i := len(o.Layers)
		l := Layer{Policy: a.Policy, Node: node, Level: level, uncertain: uncertain, timeless: uncertain, kind: k, attached: a, run: runs}
		o.Layers = append(o.Layers, l)
		o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(level), Target: i, Blocks: []merge.Block{{Kind: merge.Bare}}, Wrote: l.sets(), Unwritten: a.Policy.Builtin != "", Meta: a.Policy}) // the fold reads policies itself, and accounts for what it read
	}
	for _, p := range at.Builtins {
		add(policy.Attached{Policy: p, Ref: -1}, false)
	}
	parts := make([]policy.Attached, 0, len(k.scoped.stacks[s]))
	for _, i := range k.scoped.stacks[s] {
		parts = append(parts, k.scoped.parts[i])
	}
	compare := func(a, b policy.Attached) int { return at.Compare(a.Policy, b.Policy) }
	if at.Compare == nil {
		compare = func(policy.Attached, policy.Attached) int { return 0 }
	}
	slices.SortStableFunc(parts, compare)
	for len(parts) > 0 { // those that the target does not tell apart are ordered as sets of their own: one without an age spoils no other
		n := 1
		for n < len(parts) && compare(parts[0], parts[n]) == 0 {
			n++
		}
		run, ageIgnored := k.Order(parts[:n])
		for _, a := range run {
			add(a, ageIgnored)
		}
		parts = parts[n:]
		runs++
	}
	return o
}

// plansOf are the plans for a stack that has been built.
func (k *Kind) plansOf(s StackID, o *Verdict) []merge.Plan {
	if k.scoped == nil || k.scoped.situations[s] == nil {
		return k.plans(s)
	}
	layers := make([]*policy.Policy, len(o.Layers))
	for i, l := range o.Layers {
		layers[i] = l.Policy
	}
	return []merge.Plan{{Func: k.scoped.situations[s].Fold(layers), Ordered: k.Scope.Result.Ordered()}}
}
