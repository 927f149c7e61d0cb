package attach

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rejectClashing keeps policies beside each other on one target as long as no two of them set the
// same rule: the later of two that do is rejected, there or, if the kind says so, everywhere
// (engine E8). Targets are visited in the order of their references, so that the outcome does not
// depend on the order of the input.
func (k targetContest) rejectClashing() {
	places := k.listContests()
	if !k.RejectsWhole {
		for _, m := range places {
			k.rejectAt(m.node, k.findLosers([]meeting{m}))
		}
		return
	}
	lost := k.findLosers(places)
	k.res.Problems = append(k.res.Problems, k.reportOrderDependent(places)...)
	for id := range k.Table {
		k.rejectAt(id, lost)
	}
	slices.SortFunc(k.Rejected, func(a, b Rejection) int {
		if c := a.Attached.Policy.Ref().Compare(b.Attached.Policy.Ref()); c != 0 {
			return c
		}
		return int(a.Attached.Node - b.Attached.Node)
	})
}

// findLosers maps the policies that do not stay to those that keep them out, visiting places one by
// one. Who has lost is in nobody's way any more.
func (k targetContest) findLosers(places []meeting) map[*policy.Policy]defeat {
	lost := map[*policy.Policy]defeat{}
	for _, m := range places {
		for i, a := range m.policies {
			if lost[a.Policy].by != nil {
				continue
			}
			for _, b := range m.policies[i+1:] {
				if lost[b.Policy].by == nil && k.isClash(a.Policy, b.Policy) {
					lost[b.Policy] = defeat{a.Policy, DecisionBetween(k.Kind, a, b, m.ageIgnored)}
				}
			}
		}
	}
	return lost
}

// isClash reports whether two policies set the same rule.
func (k targetContest) isClash(a, b *policy.Policy) bool {
	return a != b && !merge.IsDisjoint(allUnits(a), allUnits(b), k.Rules)
}

// allUnits returns what a policy sets, in whichever block.
func allUnits(p *policy.Policy) []merge.Unit {
	if len(p.Blocks) == 1 {
		return p.Blocks[0].Units
	}
	var out []merge.Unit
	for _, b := range p.Blocks {
		out = append(out, b.Units...)
	}
	return out
}

// rejectAt takes the policies that have lost from a node.
func (k targetContest) rejectAt(id topology.NodeID, lost map[*policy.Policy]defeat) {
	at := k.Table[id]
	var kept []policy.Attached
	for _, a := range at.Policies {
		if d := lost[a.Policy]; d.by != nil {
			v := Rejection{Attached: a, By: d.by, Decision: d.decision}
			k.Rejected = append(k.Rejected, v)
			k.RejectedAt[id] = append(k.RejectedAt[id], v)
		} else {
			kept = append(kept, a)
		}
	}
	at.Policies = kept
	k.Table[id] = at
}

// visitResult is what becomes of a policy, whatever the order in which targets are visited.
type visitResult uint8

const (
	visitKept visitResult = iota
	visitRejected
	visitDepends
)

// reportOrderDependent reports the policies of which it depends on the order in which targets are
// visited whether they stay: one that clashes with them on one target is itself rejected because of
// another one, before or after it was asked. Policies are judged in their order, so that those that
// come before are decided.
func (k targetContest) reportOrderDependent(places []meeting) []model.Problem {
	var all []policy.Attached
	at := map[*policy.Policy][][]policy.Attached{} // by policy: its places
	for _, m := range places {
		place := m.policies
		for _, a := range place {
			if at[a.Policy] == nil {
				all = append(all, a)
			}
			at[a.Policy] = append(at[a.Policy], place)
		}
	}
	ordered, _ := k.Order(all)
	fates, by := make(map[*policy.Policy]visitResult, len(all)), map[*policy.Policy]*policy.Policy{}
	for _, a := range ordered {
		p := a.Policy
		for _, place := range at[p] {
			for _, rival := range place {
				if rival.Policy == p || fates[p] == visitRejected {
					break
				}
				if !k.isClash(rival.Policy, p) {
					continue
				}
				switch f := fates[rival.Policy]; {
				case f == visitKept:
					fates[p] = visitRejected
				case f == visitDepends || !k.isBeaten(place, rival.Policy, fates):
					fates[p], by[p] = visitDepends, rival.Policy
				}
			}
		}
	}
	var out []model.Problem
	for _, p := range k.Policies {
		if fates[p] == visitDepends {
			out = append(out, model.Problem{Severity: model.Info, Code: model.OrderSensitive, Message: fmt.Sprintf(
				"whether %s stays depends on the order in which targets are visited, which is undefined (here: by name): %s clashes with it and is rejected because of another target",
				p.Ref(), by[p].Ref())}.At(p.Object))
		}
	}
	return out
}

// isBeaten reports whether a policy has lost at a place in any case, before it is asked about those
// behind it: to one that stays.
func (k targetContest) isBeaten(at []policy.Attached, p *policy.Policy, fates map[*policy.Policy]visitResult) bool {
	for _, a := range at {
		if a.Policy == p {
			return false
		}
		if fates[a.Policy] == visitKept && k.isClash(a.Policy, p) {
			return true
		}
	}
	return false
}
