package graph

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// enforcement says how far a policy is in force: at one effective target, or at all that it reaches
// through one of its targets.
type enforcement struct {
	won, lost      bool
	conditionFalse bool             // a block does not apply, because its condition is false
	bypassed       bool             // in force for other traffic than the request that is asked about
	winners        []*policy.Policy // whom it lost to, each once
}

// combine adds how far the policy is in force elsewhere.
func (f *enforcement) combine(x *enforcement) {
	f.won, f.lost, f.conditionFalse = f.won || x.won, f.lost || x.lost, f.conditionFalse || x.conditionFalse
	f.bypassed = f.bypassed || x.bypassed
	for _, p := range x.winners {
		if !slices.Contains(f.winners, p) {
			f.winners = append(f.winners, p)
		}
	}
}

// edgeState returns the state of a GraphEdge for it.
func (f *enforcement) edgeState() string {
	switch {
	case f.won && (f.lost || f.conditionFalse):
		return EdgePartial
	case f.won:
		return EdgeFullyEffective
	case f.lost:
		return EdgeFullyOverridden
	case f.conditionFalse:
		return EdgeConditionFalse
	case f.bypassed:
		return EdgeBypassed
	}
	return ""
}

// policyTarget is a policy at a target.
type policyTarget struct {
	policy *policy.Policy
	node   topology.NodeID
}

// layerEnforcement says how far one layer of a stack is in force.
type layerEnforcement struct {
	policyTarget
	part *policy.Policy // itself, or the part of it that the layer is
	enforcement
}

// kindEnforcement says how far the layers of the stacks of one kind are in force.
type kindEnforcement struct {
	kind    *resolve.Kind
	byStack map[resolve.StackID][]layerEnforcement
}

// ofStack returns the layers of a stack that are in force, lost or have a false condition. Settings
// that nobody else wanted and that had nothing to do are nobody's loss.
func (s *kindEnforcement) ofStack(stack resolve.StackID) []layerEnforcement {
	if known, ok := s.byStack[stack]; ok {
		return known
	}
	o := s.kind.Verdict(stack)
	all := make([]layerEnforcement, len(o.Layers))
	for i, l := range o.Layers {
		all[i] = layerEnforcement{policyTarget: policyTarget{l.Policy.Base(), l.Node}, part: l.Policy}
	}
	for _, r := range o.Result.Rules {
		for _, f := range r.From {
			all[f.Layer].won = true
		}
	}
	for _, l := range o.Losses() {
		if l.Reason == merge.NoEffect {
			continue
		}
		lost := &all[l.From.Layer].enforcement
		if l.Reason == merge.ConditionFalse { // nobody overrides it
			lost.conditionFalse = true
			continue
		}
		lost.lost = true
		for _, to := range l.To {
			if w := o.Layers[to.Layer].Policy; w.Builtin == "" && !slices.Contains(lost.winners, w.Base()) {
				lost.winners = append(lost.winners, w.Base())
			}
		}
	}
	all = slices.DeleteFunc(all, func(f layerEnforcement) bool { return f.part.Builtin != "" || f.edgeState() == "" })
	s.byStack[stack] = all
	return all
}

// addEnforcement adds edges from the policies to every effective target, and sums up how far they
// are in force through each of their own targets.
func (d *topologyBuilder) addEnforcement() {
	for _, s := range d.enforcements {
		// a stack of a kind without scopes is counted once, as it is the same everywhere
		counted := map[resolve.StackID]bool{}
		at := topology.None
		var here []layerEnforcement // what became of policies at that node, each once
		flush := func() {
			if at != topology.None && d.shown[at] {
				d.addPolicyEdges(at, here)
			}
			here = here[:0]
		}
		d.eachStack(s, func(id topology.NodeID, stack resolve.StackID) {
			if id != at {
				flush()
				at = id
			}
			d.addFoundProblems(s.kind, id, stack)
			for i := range s.ofStack(stack) {
				f := &s.byStack[stack][i]
				here = addLayerEnforcement(here, f)
				if s.kind.Scope != nil || !counted[stack] {
					d.addLayer(s.kind, f, id)
				}
			}
			counted[stack] = true
		})
		flush()
	}
}

// addLayerEnforcement adds how far one layer is in force to the entry of its policy.
func addLayerEnforcement(all []layerEnforcement, f *layerEnforcement) []layerEnforcement {
	for i := range all {
		if all[i].policy == f.policy {
			all[i].combine(&f.enforcement)
			return all
		}
	}
	own := *f
	own.winners = slices.Clip(f.winners)
	return append(all, own)
}

// enforcementByTarget says how far policies are in force through each of their targets.
type enforcementByTarget struct {
	graph     *topology.Graph
	byTarget  map[policyTarget]*enforcement
	placeSets map[*policy.Policy]placeSet           // of parts of policies
	aboveNode map[topology.NodeID][]topology.NodeID // of the kind aboveOf, by node
	aboveKind *resolve.Kind
}

// addLayer adds how far a layer is in force to its policy, at the target that the layer stands for.
func (l *enforcementByTarget) addLayer(k *resolve.Kind, f *layerEnforcement, id topology.NodeID) {
	add := func(target topology.NodeID) {
		at := policyTarget{f.policy, target}
		if l.byTarget[at] == nil {
			l.byTarget[at] = &enforcement{}
		}
		l.byTarget[at].combine(&f.enforcement)
	}
	if k.Scope == nil {
		add(f.node)
		return
	}
	if l.placeSets[f.part] == nil {
		l.placeSets[f.part] = newPlaceSet(f.part)
	}
	for _, target := range l.nodesAbove(k, id) {
		if l.placeSets[f.part][target] {
			add(target)
		}
	}
}

// nodesAbove returns a node, what is above it in the kind's family, and where it is used.
func (l *enforcementByTarget) nodesAbove(k *resolve.Kind, id topology.NodeID) []topology.NodeID {
	if known, ok := l.aboveNode[id]; ok && l.aboveKind == k {
		return known
	}
	if l.aboveKind != k {
		l.aboveKind, l.aboveNode = k, map[topology.NodeID][]topology.NodeID{}
	}
	if int(id) >= l.graph.Len() {
		return []topology.NodeID{id}
	}
	next := slices.Clone(l.graph.Parents(k.Family, id))
	for _, u := range l.graph.Uses(id) {
		next = append(next, u.At)
	}
	l.aboveNode[id] = []topology.NodeID{id} // so that a circle in a vendor's links ends
	out := []topology.NodeID{id}
	for _, n := range next {
		out = append(out, l.nodesAbove(k, n)...)
	}
	slices.Sort(out)
	l.aboveNode[id] = slices.Compact(out)
	return l.aboveNode[id]
}

// placeSet are the nodes that were found for a part of a policy.
type placeSet map[topology.NodeID]bool

func newPlaceSet(part *policy.Policy) placeSet {
	out := make(placeSet, len(part.Places))
	for _, id := range part.Places {
		out[id] = true
	}
	return out
}

// addFoundProblems notes what was found when a stack that is shown was folded.
func (d *topologyBuilder) addFoundProblems(k *resolve.Kind, id topology.NodeID, stack resolve.StackID) {
	if o := k.Verdict(stack); len(o.Problems) > 0 && d.shown[id] {
		at := d.numberByNode[id]
		if list := d.problemsByNode[at]; len(list) == 0 || list[len(list)-1] != o {
			d.problemsByNode[at] = append(list, o)
		}
	}
}
