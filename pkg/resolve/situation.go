package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// internSituations interns what holds at every target of a scope whose fold depends on the target:
// by the parts, and by the key of the situation.
func (k *scopeEngine) internSituations(found map[topology.NodeID]partSet,
	tell func(topology.NodeID) *policy.Situation) {
	k.situations = map[StackID]*policy.Situation{}
	for i := range k.res.Graph.Len() {
		id := topology.NodeID(i)
		if !k.HasResultsAtNode(k.res.Graph.Node(id)) {
			continue
		}
		at := tell(id)
		if at == nil || len(found[id]) == 0 && !at.AlwaysInForce {
			continue
		}
		stack := k.internStack(found[id], "\xfe"+at.Key)
		delete(k.stackNames, stack)
		k.situations[stack] = at
		k.contexts[id] = []StackID{stack}
		k.hasBuiltinResults = k.hasBuiltinResults || len(found[id]) == 0
	}
}

// IsInUse reports whether the kind has an answer anywhere: it has policies, or something that no
// policy wrote is in force.
func (k *Kind) IsInUse() bool { return len(k.Policies) > 0 || k.hasBuiltinResults }

// buildSituated lays out a stack whose fold depends on the target: what is built in, then the parts
// in the order of the target.
func (k *scopeEngine) buildSituated(s StackID, at *policy.Situation) *Verdict {
	o := &Verdict{}
	runs := 0
	add := func(a policy.Attached, uncertain bool) {
		node, level := at.Place(a.Policy)
		a.Node = node
		i := len(o.Layers)
		l := Layer{Policy: a.Policy, Node: node, Level: level, orderUncertain: uncertain, ageIgnored: uncertain,
			kind: k.Kind, attached: a, run: runs}
		o.Layers = append(o.Layers, l)
		// the fold reads policies itself, and accounts for what it read
		o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(level), Target: i,
			Blocks: []merge.Block{{Kind: merge.Bare}}, Written: l.blocksAtPlace(), Unwritten: a.Policy.Builtin != "",
			Meta: a.Policy})
	}
	for _, p := range at.Builtins {
		if p.Builtin == "" { // settings of another object
			own := *p
			own.Kind = k.Kind.Kind
			p = &own
		}
		add(policy.Attached{Policy: p, Ref: -1}, false)
	}
	parts := make([]policy.Attached, 0, len(k.stacks[s]))
	for _, i := range k.stacks[s] {
		parts = append(parts, k.parts[i])
	}
	compare := func(a, b policy.Attached) int { return at.Compare(a.Policy, b.Policy) }
	if at.Compare == nil {
		compare = func(policy.Attached, policy.Attached) int { return 0 }
	}
	slices.SortStableFunc(parts, compare)
	// parts that the target does not tell apart are ordered by themselves: one without an age does
	// not affect the others
	for len(parts) > 0 {
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

// plansOf returns the plans of a stack that has been laid out.
func (k *scopeEngine) plansOf(s StackID, o *Verdict) []merge.Plan {
	at := k.situations[s]
	if at == nil {
		return k.PlansFor(func(string) string { return "" })
	}
	layers := make([]*policy.Policy, len(o.Layers))
	for i, l := range o.Layers {
		layers[i] = l.Policy
	}
	return []merge.Plan{{Func: at.Fold(layers), Ordered: k.Scope.Result.IsOrdered()}}
}
