package attach

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rejectEverywhere is rejectLosers for kinds of which a policy that loses one target is out
// everywhere (engine E8). Policies are asked in the order of the comparator and keep what they
// name, in the order of their references, up to the first target that an earlier one has.
func (k targetContest) rejectEverywhere() {
	targets := make(map[*policy.Policy][]policy.Attached, len(k.Policies))
	ids := make([]topology.NodeID, 0, len(k.Table))
	for id, p := range k.Table {
		ids = append(ids, id)
		for _, a := range p.Policies {
			targets[a.Policy] = append(targets[a.Policy], a)
		}
	}
	slices.Sort(ids)
	var all []policy.Attached
	for _, p := range k.Policies {
		if as := targets[p]; as != nil {
			slices.SortFunc(as, func(a, b policy.Attached) int {
				return cmp.Or(cmp.Compare(a.Ref, b.Ref),
					cmp.Compare(a.Node, b.Node))
			})
			all = append(all, as[0])
		}
	}
	ordered, ageIgnored := k.Order(all)
	taken, lostTo := map[topology.NodeID]policy.Attached{}, map[*policy.Policy]defeat{}
	for _, first := range ordered {
		for _, a := range targets[first.Policy] {
			if by, ok := taken[a.Node]; ok {
				lostTo[a.Policy] = defeat{by.Policy, DecisionBetween(k.Kind, by, first, ageIgnored)}
				break
			}
			taken[a.Node] = first
		}
	}
	k.RejectedAt = map[topology.NodeID][]Rejection{}
	for _, id := range ids {
		at := k.Table[id]
		var kept []policy.Attached
		for _, a := range at.Policies {
			lost, ok := lostTo[a.Policy]
			if !ok {
				kept = append(kept, a)
				continue
			}
			v := Rejection{Attached: a, By: lost.by, Decision: lost.decision}
			k.Rejected = append(k.Rejected, v)
			k.RejectedAt[id] = append(k.RejectedAt[id], v)
		}
		at.Policies = kept
		k.Table[id] = at
	}
}
