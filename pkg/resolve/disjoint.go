package resolve

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// competeDisjoint keeps policies beside each other on one target as long as no two of them set the same rule: the later of two that do is
// rejected, there or, if the kind says so, everywhere (engine E8). Targets are visited in the order of their references, so that the outcome
// does not depend on the order of the input.
func (k contest) competeDisjoint() {
	places := k.shared()
	if !k.RejectsWhole {
		for _, id := range places {
			k.expel(id, k.losers([]topology.NodeID{id}))
		}
		return
	}
	lost := k.losers(places)
	k.res.Problems = append(k.res.Problems, k.visiting(places)...)
	for id := range k.attached {
		k.expel(id, lost)
	}
	slices.SortFunc(k.Rejected, func(a, b Rejection) int {
		if c := a.Attached.Policy.Ref().Compare(b.Attached.Policy.Ref()); c != 0 {
			return c
		}
		return int(a.Attached.Node - b.Attached.Node)
	})
}

// shared lists the nodes with several policies, by the references of their objects.
func (k contest) shared() []topology.NodeID {
	var out []topology.NodeID
	for id, p := range k.attached {
		if len(p.policies) > 1 {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b topology.NodeID) int {
		if c := k.res.Node(a).Ref.Compare(k.res.Node(b).Ref); c != 0 {
			return c
		}
		return int(a - b)
	})
	return out
}

// losers maps the policies that do not stay to those that keep them out, visiting places one by one. Who has lost is in nobody's way any more.
func (k contest) losers(places []topology.NodeID) map[*policy.Policy]defeat {
	lost := map[*policy.Policy]defeat{}
	for _, id := range places {
		at := k.attached[id]
		for i, a := range at.policies {
			if lost[a.Policy].by != nil {
				continue
			}
			for _, b := range at.policies[i+1:] {
				if lost[b.Policy].by == nil && k.clash(a.Policy, b.Policy) {
					lost[b.Policy] = defeat{a.Policy, k.decide(a, b, at.ageIgnored)}
				}
			}
		}
	}
	return lost
}

// clash reports whether two policies set the same rule.
func (k contest) clash(a, b *policy.Policy) bool {
	return a != b && !merge.Disjoint(everything(a), everything(b), k.Rules)
}

// everything is what a policy sets, in whichever block.
func everything(p *policy.Policy) []merge.Unit {
	if len(p.Blocks) == 1 {
		return p.Blocks[0].Units
	}
	var out []merge.Unit
	for _, b := range p.Blocks {
		out = append(out, b.Units...)
	}
	return out
}

// expel takes the policies that have lost from a node.
func (k contest) expel(id topology.NodeID, lost map[*policy.Policy]defeat) {
	at := k.attached[id]
	var kept []policy.Attached
	for _, a := range at.policies {
		if d := lost[a.Policy]; d.by != nil {
			v := Rejection{Attached: a, By: d.by, Decision: d.decision}
			k.Rejected = append(k.Rejected, v)
			k.rejectedAt[id] = append(k.rejectedAt[id], v)
		} else {
			kept = append(kept, a)
		}
	}
	at.policies = kept
	k.attached[id] = at
}

// fate of a policy, whatever the order in which targets are visited.
type fate uint8

const (
	stays fate = iota
	goes
	depends
)

// visiting reports the policies of which it depends on the order in which targets are visited whether they stay: one that clashes with them on
// one target is itself rejected because of another one, before or after it was asked. Policies are judged in their order, so that those that
// come before are settled.
func (k contest) visiting(places []topology.NodeID) []model.Problem {
	var all []policy.Attached
	at := map[*policy.Policy][][]policy.Attached{} // by policy: its places
	for _, id := range places {
		place := k.attached[id].policies
		for _, a := range place {
			if at[a.Policy] == nil {
				all = append(all, a)
			}
			at[a.Policy] = append(at[a.Policy], place)
		}
	}
	ordered, _ := k.Order(all)
	fates, by := make(map[*policy.Policy]fate, len(all)), map[*policy.Policy]*policy.Policy{}
	for _, a := range ordered {
		p := a.Policy
		for _, place := range at[p] {
			for _, rival := range place {
				if rival.Policy == p || fates[p] == goes {
					break
				}
				if !k.clash(rival.Policy, p) {
					continue
				}
				switch f := fates[rival.Policy]; {
				case f == stays:
					fates[p] = goes
				case f == depends || !k.beaten(place, rival.Policy, fates):
					fates[p], by[p] = depends, rival.Policy
				}
			}
		}
	}
	var out []model.Problem
	for _, p := range k.Policies {
		if fates[p] == depends {
			out = append(out, model.Problem{Severity: model.Info, Code: model.OrderSensitive, Message: fmt.Sprintf(
				"whether %s stays depends on the order in which targets are visited, which is undefined (here: by name): %s clashes with it and is rejected because of another target",
				p.Ref(), by[p].Ref())}.At(p.Object))
		}
	}
	return out
}

// beaten reports whether a policy has lost at a place in any case, before it is asked about those behind it: to one that stays.
func (k contest) beaten(at []policy.Attached, p *policy.Policy, fates map[*policy.Policy]fate) bool {
	for _, a := range at {
		if a.Policy == p {
			return false
		}
		if fates[a.Policy] == stays && k.clash(a.Policy, p) {
			return true
		}
	}
	return false
}
