package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// fate is what became of a policy: at one effective target, or at all that it reaches through one of its targets.
type fate struct {
	won, lost bool
	idle      bool             // a block does not apply, because its condition is false
	by        []*policy.Policy // whom it lost to, each once
}

// add joins what became of the policy elsewhere.
func (f *fate) add(x *fate) {
	f.won, f.lost, f.idle = f.won || x.won, f.lost || x.lost, f.idle || x.idle
	for _, p := range x.by {
		if !slices.Contains(f.by, p) {
			f.by = append(f.by, p)
		}
	}
}

// state is the word of a GraphEdge for it.
func (f *fate) state() string {
	switch {
	case f.won && (f.lost || f.idle):
		return EdgePartial
	case f.won:
		return EdgeWhole
	case f.lost:
		return EdgeLost
	case f.idle:
		return EdgeIdle
	}
	return ""
}

// attachment is a policy at a target.
type attachment struct {
	policy *policy.Policy
	node   topology.NodeID
}

// layerFate is what became of one layer of a stack.
type layerFate struct {
	attachment
	part *policy.Policy // itself, or the part of it that the layer is
	fate
}

// layerFates is what became of the layers of the stacks of one kind.
type layerFates struct {
	kind    *resolve.Kind
	byStack map[resolve.StackID][]layerFate
}

// of is what became of the layers of a stack of which anything did: settings that nobody else wanted and that had nothing to do are nobody's
// loss.
func (s *layerFates) of(stack resolve.StackID) []layerFate {
	if known, ok := s.byStack[stack]; ok {
		return known
	}
	o := s.kind.Verdict(stack)
	all := make([]layerFate, len(o.Layers))
	for i, l := range o.Layers {
		all[i] = layerFate{attachment: attachment{l.Policy.Base(), l.Node}, part: l.Policy}
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
		lost := &all[l.From.Layer].fate
		if l.Reason == merge.ConditionFalse { // nobody overrides it
			lost.idle = true
			continue
		}
		lost.lost = true
		for _, to := range l.To {
			if w := o.Layers[to.Layer].Policy; w.Builtin == "" && !slices.Contains(lost.by, w.Base()) {
				lost.by = append(lost.by, w.Base())
			}
		}
	}
	all = slices.DeleteFunc(all, func(f layerFate) bool { return f.part.Builtin != "" || f.state() == "" })
	s.byStack[stack] = all
	return all
}

// fates draws what became of the policies at every effective target, and gathers what became of them through each of their own targets.
func (d *drawing) fates() {
	for _, s := range d.settled {
		counted := map[resolve.StackID]bool{} // of kinds without scopes, a stack says all by itself
		at := topology.None
		var here []layerFate // what became of policies at that node, each once
		flush := func() {
			if at != topology.None && d.shown[at] {
				d.drawFates(at, here)
			}
			here = here[:0]
		}
		d.each(s, func(id topology.NodeID, stack resolve.StackID) {
			if id != at {
				flush()
				at = id
			}
			d.found(s.kind, id, stack)
			for i := range s.of(stack) {
				f := &s.byStack[stack][i]
				here = joinFate(here, f)
				if s.kind.Scope != nil || !counted[stack] {
					d.count(s.kind, f, id)
				}
			}
			counted[stack] = true
		})
		flush()
	}
}

// joinFate adds what became of one layer to what became of the policies.
func joinFate(all []layerFate, f *layerFate) []layerFate {
	for i := range all {
		if all[i].policy == f.policy {
			all[i].add(&f.fate)
			return all
		}
	}
	own := *f
	own.by = slices.Clip(f.by)
	return append(all, own)
}

// ledger has what became of policies through each of their targets.
type ledger struct {
	graph   *topology.Graph
	through map[attachment]*fate
	places  map[*policy.Policy]placeSet           // of parts of policies
	above   map[topology.NodeID][]topology.NodeID // of the kind aboveOf, by node
	aboveOf *resolve.Kind
}

// count adds what became of a layer to what became of its policy through the target that the layer stands for.
func (l *ledger) count(k *resolve.Kind, f *layerFate, id topology.NodeID) {
	add := func(target topology.NodeID) {
		at := attachment{f.policy, target}
		if l.through[at] == nil {
			l.through[at] = &fate{}
		}
		l.through[at].add(&f.fate)
	}
	if k.Scope == nil {
		add(f.node)
		return
	}
	if l.places[f.part] == nil {
		l.places[f.part] = placesOf(f.part)
	}
	for _, target := range l.over(k, id) {
		if l.places[f.part][target] {
			add(target)
		}
	}
}

// over lists a node, what is above it in the kind's family, and where it comes into play.
func (l *ledger) over(k *resolve.Kind, id topology.NodeID) []topology.NodeID {
	if known, ok := l.above[id]; ok && l.aboveOf == k {
		return known
	}
	if l.aboveOf != k {
		l.aboveOf, l.above = k, map[topology.NodeID][]topology.NodeID{}
	}
	if int(id) >= l.graph.Len() {
		return []topology.NodeID{id}
	}
	next := slices.Clone(l.graph.Parents(k.Family, id))
	for _, u := range l.graph.Uses(id) {
		next = append(next, u.At)
	}
	l.above[id] = []topology.NodeID{id} // whatever a vendor's links are, this ends
	out := []topology.NodeID{id}
	for _, n := range next {
		out = append(out, l.over(k, n)...)
	}
	slices.Sort(out)
	l.above[id] = slices.Compact(out)
	return l.above[id]
}

// placeSet are the nodes that were found for a part of a policy.
type placeSet map[topology.NodeID]bool

func placesOf(part *policy.Policy) placeSet {
	out := make(placeSet, len(part.Places))
	for _, id := range part.Places {
		out[id] = true
	}
	return out
}

// found notes what was found when a stack that is drawn was folded.
func (d *drawing) found(k *resolve.Kind, id topology.NodeID, stack resolve.StackID) {
	if o := k.Verdict(stack); len(o.Problems) > 0 && d.shown[id] {
		at := d.numberOf[id]
		if list := d.problems[at]; len(list) == 0 || list[len(list)-1] != o {
			d.problems[at] = append(list, o)
		}
	}
}
