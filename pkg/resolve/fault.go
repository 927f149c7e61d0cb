package resolve

import (
	"cmp"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// errorFact is the fact of a path that leads through a node at which some policy is in error, by
// the node's number.
const errorFact = "in error"

// faultNodes returns the nodes at which policies are in error that are not so everywhere.
func (k *pathEngine) faultNodes() map[topology.NodeID]bool {
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

// blocksOf returns what a policy brings into a stack: all it has, unless it is in error on the way,
// with the reason. Then it has a place at most.
func (k stackLayout) blocksOf(a policy.Attached) (blocks []merge.Block, fault string) {
	p, left := a.Policy, false
	if len(p.Faults) == 0 || k.InError == policy.VoidResult {
		return a.BlocksAtTarget(), ""
	}
	for s := k.stack; s != 0; s = k.steps[s].under {
		if f := k.steps[s].fact; f.name == errorFact {
			if id, err := strconv.Atoi(f.value); err == nil {
				ref := k.res.Node(topology.NodeID(id)).Ref
				fault, left = cmp.Or(p.Faults[ref], fault), left || p.YieldsAt[ref]
			}
		}
	}
	switch {
	case fault == "":
		return a.BlocksAtTarget(), ""
	case k.InError == policy.HoldPlace && !left:
		return p.PlaceholderBlocks(), fault
	}
	return p.DroppedBlocks(), fault
}
