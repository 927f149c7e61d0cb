package resolve

import (
	"cmp"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// inError is the fact of a path that leads through a node at which some policy is in error, by the node's number.
const inError = "in error"

// faulty are the nodes at which policies are in error that are not so everywhere.
func (k *routed) faulty() map[topology.NodeID]bool {
	out := map[topology.NodeID]bool{}
	for _, p := range k.Policies {
		for ref := range p.Faults {
			for _, id := range k.res.Graph.Lookup(ref) {
				out[id] = true
			}
		}
	}
	return out
}

// blocks are what a policy brings into a stack: all it has, unless it is in error on the way, with the reason. Then it has a place at most.
func (k layout) blocks(a policy.Attached) (blocks []merge.Block, fault string) {
	p, left := a.Policy, false
	if len(p.Faults) == 0 || k.InError == policy.Poison {
		return a.Sets(), ""
	}
	for s := k.stack; s != 0; s = k.list[s].under {
		if f := k.list[s].fact; f.name == inError {
			if id, err := strconv.Atoi(f.value); err == nil {
				ref := k.res.Node(topology.NodeID(id)).Ref
				fault, left = cmp.Or(p.Faults[ref], fault), left || p.Left[ref]
			}
		}
	}
	switch {
	case fault == "":
		return a.Sets(), ""
	case k.InError == policy.Claim && !left:
		return p.Claiming(), fault
	}
	return p.Dropped(), fault
}
