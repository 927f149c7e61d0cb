package attach

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// spot is where policies meet: a target, or a place of it.
type spot struct {
	node  topology.NodeID
	place string
}

// contestant is a policy at a spot.
type contestant struct {
	policy.Attached
	spot
}

// rejectEverywhere is rejectLosers for kinds of which a policy that loses one target is out
// everywhere (engine E8). Policies are asked in the order of the comparator and keep what they
// name, in the order of their references, up to the first target that an earlier one has.
func (k targetContest) rejectEverywhere() {
	targets := make(map[*policy.Policy][]contestant, len(k.Policies))
	for _, m := range k.listMeetings() {
		for _, a := range m.policies {
			targets[a.Policy] = append(targets[a.Policy], contestant{a, spot{m.node, m.place}})
		}
	}
	var all []policy.Attached
	for _, p := range k.Policies {
		if as := targets[p]; as != nil {
			slices.SortFunc(as, func(a, b contestant) int {
				return cmp.Or(cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.node, b.node))
			})
			all = append(all, as[0].Attached)
		}
	}
	ordered, ageIgnored := k.Order(all)
	taken, lostTo := map[spot]policy.Attached{}, map[*policy.Policy]defeat{}
	for _, first := range ordered {
		for _, a := range targets[first.Policy] {
			if by, ok := taken[a.spot]; ok {
				lostTo[a.Policy] = defeat{by.Policy, DecisionBetween(k.Kind, by, first, ageIgnored)}
				break
			}
			taken[a.spot] = first
		}
	}
	k.RejectedAt = map[topology.NodeID][]Rejection{}
	for _, id := range slices.Sorted(maps.Keys(k.Table)) {
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
