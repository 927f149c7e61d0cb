package graph

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// stateNotAttached is the state of a policy that has no target, nor names one that is missing.
const stateNotAttached = "not attached"

// addPolicyNode returns the number of a policy's node, and adds the node if it is not there.
func (d *topologyBuilder) addPolicyNode(p *policy.Policy) int32 {
	n, drawn := d.numberByPolicy[p]
	if !drawn {
		n = d.addGraphNode(refID(p.Ref()), p.Ref(), "policy",
			func() map[string]string { return map[string]string{"policyKind": p.Kind.GroupKind.String()} })
		d.numberByPolicy[p] = n
	}
	return n
}

// addPolicies adds the chosen policies, and the edges to their targets with how far they are in
// force there.
func (d *topologyBuilder) addPolicies() {
	held := map[*policy.Policy]bool{}
	for _, k := range d.kinds {
		for _, p := range k.Policies {
			if d.chosenPolicies[p] {
				held[p] = d.addTargetEdges(k, p) || held[p] ||
					slices.ContainsFunc(k.UnattachedTargets(p),
						func(a policy.UnattachedTarget) bool { return a.InForce })
			}
		}
	}
	for p, some := range held {
		if !some {
			d.nodes[d.addPolicyNode(p)].Labels["state"] = stateNotAttached
		}
	}
}

// addTargetEdges adds the edges to the targets of a policy that are shown, and to those that are
// missing. It reports whether the policy has any, or may have.
func (d *topologyBuilder) addTargetEdges(k *resolve.Kind, p *policy.Policy) bool {
	from, targets := d.addPolicyNode(p), k.TargetsOf(p)
	for _, id := range targets {
		if !d.shown[id] {
			continue
		}
		e := edge{from: from, to: d.addNode(id), kind: targetsEdge}
		for _, twin := range d.nodesOfTarget(id) {
			if f := d.byTarget[policyTarget{p, twin}]; f != nil {
				e.combine(f)
			}
		}
		d.edges = append(d.edges, e)
	}
	held := len(targets) > 0 || len(k.Gaps().Of(p)) > 0
	for i := range p.Refs {
		if ref, missing := k.MissingTarget(p, i); missing {
			held = true
			d.edges = append(d.edges, edge{from: from, to: d.addMissingNode(ref, roleOfKind(ref.GroupKind())),
				kind: targetsEdge, dangling: true})
		}
	}
	return held
}

// nodesOfTarget returns the nodes that stand for the same target: a Service as a backend and as a
// parent of routes, the instances of a route.
func (d *topologyBuilder) nodesOfTarget(id topology.NodeID) []topology.NodeID {
	if all := d.res.Lookup(d.res.Node(id).Ref); slices.Contains(all, id) {
		return all
	}
	return []topology.NodeID{id}
}
