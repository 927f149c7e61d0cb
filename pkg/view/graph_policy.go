package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// unattachedPolicy is the state of a policy that has no target, nor names one that is missing.
const unattachedPolicy = "not attached"

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
