package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// unattachedPolicy is the state of a policy that has no target, nor names one that is missing.
const unattachedPolicy = "not attached"

// policies chooses the policies to draw: those with a target that the drawing is about, those that something became of at one, and those
// that name a missing section of one; without targets asked for, all. Their targets are shown, whatever the drawing is about.
func (d *drawing) policies() {
	if d.query.Affected == nil {
		d.choosePolicies()
	}
	for _, k := range d.kinds {
		for _, p := range k.Policies {
			if !d.chosen[p] || d.query.Affected != nil && d.query.Affected != p {
				continue
			}
			for _, id := range k.TargetsOf(p) {
				d.shown[id] = true
			}
		}
	}
}

func (d *drawing) choosePolicies() {
	for _, k := range d.kinds {
		for _, p := range k.Policies {
			if d.query.Targets == nil || d.touches(k, p) {
				d.chosen[p] = true
			}
		}
	}
	if d.query.Targets == nil {
		return
	}
	for _, s := range d.settled {
		d.each(s, func(id topology.NodeID, stack resolve.StackID) {
			if _, seen := s.byStack[stack]; seen {
				return
			}
			for _, f := range s.of(stack) {
				d.chosen[f.policy] = true
			}
		})
	}
}

// touches reports whether a policy has a target that the drawing is about, or names a missing section of one.
func (d *drawing) touches(k *resolve.Kind, p *policy.Policy) bool {
	about := func(id topology.NodeID) bool { return d.scope[id] }
	if slices.ContainsFunc(k.TargetsOf(p), about) {
		return true
	}
	for i := range p.Refs {
		if ref, missing := k.Missing(p, i); missing && slices.ContainsFunc(d.res.Lookup(ref.Whole()), about) {
			return true
		}
	}
	return false
}

// policyNode is the number of a policy's node.
func (d *drawing) policyNode(p *policy.Policy) int32 {
	n, drawn := d.policy[p]
	if !drawn {
		n = d.add(refID(p.Ref()), p.Ref(), "policy", func() map[string]string { return map[string]string{"policyKind": p.Kind.GroupKind.String()} })
		d.policy[p] = n
	}
	return n
}

// targets draws the chosen policies, and the edges to their targets with what became of them there.
func (d *drawing) targets() {
	held := map[*policy.Policy]bool{}
	for _, k := range d.kinds {
		for _, p := range k.Policies {
			if d.chosen[p] {
				held[p] = d.targetsOf(k, p) || held[p] || slices.ContainsFunc(k.Apart(p), func(a policy.Apart) bool { return a.InForce })
			}
		}
	}
	for p, some := range held {
		if !some {
			d.nodes[d.policyNode(p)].Labels["state"] = unattachedPolicy
		}
	}
}

// targetsOf draws the edges to the targets of a policy of which the drawing is about, and to those that are missing. It reports whether the
// policy has any, or may.
func (d *drawing) targetsOf(k *resolve.Kind, p *policy.Policy) bool {
	from, targets := d.policyNode(p), k.TargetsOf(p)
	for _, id := range targets {
		if !d.shown[id] {
			continue
		}
		e := edge{from: from, to: d.node(id), kind: targetsEdge}
		for _, twin := range d.twins(id) {
			if f := d.through[attachment{p, twin}]; f != nil {
				e.add(f)
			}
		}
		d.edges = append(d.edges, e)
	}
	held := len(targets) > 0 || len(k.Gaps().Of(p)) > 0
	for i := range p.Refs {
		if ref, missing := k.Missing(p, i); missing {
			held = true
			d.edges = append(d.edges, edge{from: from, to: d.missing(ref, roleOf(ref.GroupKind())), kind: targetsEdge, dangling: true})
		}
	}
	return held
}

// twins are the nodes that stand for the same target: a Service as a backend and as a parent of routes, the instances of a route.
func (d *drawing) twins(id topology.NodeID) []topology.NodeID {
	if all := d.res.Lookup(d.res.Node(id).Ref); slices.Contains(all, id) {
		return all
	}
	return []topology.NodeID{id}
}

// onlyAffectedBy narrows the drawing to where something became of a policy, with what is above it and the sections and backends below it, and to
// the policies that it beats or loses to there.
func (d *drawing) onlyAffectedBy(p *policy.Policy) {
	d.chosen[p] = true
	up, below := make([]bool, d.res.Len()), make([]bool, d.res.Len())
	for _, s := range d.settled {
		if !s.kind.Has(p) {
			continue
		}
		d.each(s, func(id topology.NodeID, stack resolve.StackID) {
			if d.compete(p, s.of(stack)) {
				d.shown[id] = true
				d.climb(id, up)
				d.descend(id, below)
			}
		})
	}
	for id := range d.scope {
		d.scope[id] = d.scope[id] && (up[id] || below[id])
		d.shown[id], d.up[id] = d.shown[id] && d.scope[id], d.up[id] && up[id]
	}
	d.kinds = slices.DeleteFunc(d.kinds, func(k *resolve.Kind) bool { return !k.Has(p) })
	d.settled = slices.DeleteFunc(d.settled, func(s *settled) bool { return !s.kind.Has(p) })
}

// compete chooses the policies that beat p in a stack, or lost to it, and reports whether anything became of p there.
func (d *drawing) compete(p *policy.Policy, stack []layerFate) bool {
	held := false
	for i := range stack {
		switch f := &stack[i]; {
		case f.policy == p:
			held = true
			for _, by := range f.by {
				d.chosen[by] = true
			}
		case slices.Contains(f.by, p):
			d.chosen[f.policy] = true
		}
	}
	return held
}

// climb marks a node and all that is above it.
func (d *drawing) climb(id topology.NodeID, seen []bool) {
	if seen[id] {
		return
	}
	seen[id] = true
	if int(id) >= d.res.Graph.Len() {
		return
	}
	for _, p := range d.res.Graph.Parents(topology.All, id) {
		d.climb(p, seen)
	}
}

// descend marks a node, its sections, and the backends below them.
func (d *drawing) descend(id topology.NodeID, seen []bool) {
	if seen[id] || int(id) >= d.res.Graph.Len() {
		return
	}
	seen[id] = true
	n := d.res.Node(id)
	for _, c := range d.res.Graph.Children(topology.All, id) {
		child := d.res.Node(c)
		section := child.Ref.Section != "" && child.Ref.Whole() == n.Ref.Whole()
		backend := n.Role == topology.Rule && (child.Role == topology.Backend || child.Role == topology.Port)
		if section || backend {
			d.descend(c, seen)
		}
	}
}
