package resolve

import (
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// inError is the fact of a path that leads through a node at which some policy is in error, by the node's number.
const inError = "in error"

// faulty are the nodes at which policies are in error that are not so everywhere.
func (k *Kind) faulty() map[topology.NodeID]bool {
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

// blocks are what a policy brings into a stack: all it has, or a place only where it is in error on the way.
func (k *Kind) blocks(s StackID, a policy.Attached) []merge.Block {
	p := a.Policy
	if len(p.Faults) == 0 || k.InError != policy.Claim {
		return a.Sets()
	}
	id, err := strconv.Atoi(k.fact(s, inError))
	if err != nil || p.Faults[k.res.Node(topology.NodeID(id)).Ref] == "" {
		return a.Sets()
	}
	return p.Claiming()
}
