package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Effective lists the effective policies of the targets asked for: of a whole route those of its rules, of a Gateway those of its
// listeners, of a Service those of its ports and of the rules that send to it; of what traffic passes through those of the rules below.
func Effective(r *resolve.Resolution, q Query) *EffectivePolicyList {
	a := collector{res: r, query: q}
	if q.Targets == nil {
		a.answers.all(r, a.chosen())
	}
	list, items := effective(&a)
	list.Items = items.all()
	return list
}

// itemsAtATime is how many items of a list are made side by side.
const itemsAtATime = 8192

// effective is the answer without its items, and the items.
func effective(a *collector) (*EffectivePolicyList, *effectiveItems) {
	list, items := &EffectivePolicyList{Items: []EffectivePolicy{}}, &effectiveItems{collector: a, atATime: itemsAtATime}
	r, q := a.res, a.query
	covered := make([]bool, r.Len())
	var open unknownWays
	if q.Targets == nil {
		items.places = make([]itemPlace, 0, a.contexts())
	}
	ways := map[topology.NodeID][]Path{} // that are covered, of what was asked for by name
	a.each(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		facts := a.tell(k, id, s)
		if facts.rules > 0 || q.ShowNone {
			facts.last = len(items.places)
			items.places = append(items.places, itemPlace{k, s, id, paths})
			covered[id] = true
			if q.Targets != nil {
				ways[id] = append(ways[id], paths...)
			}
		} else {
			list.unlisted += facts.lost
		}
	})
	nodes := a.nodes()
	list.Routes = a.routeSettings(nodes)
	list.Protection = a.protectionOf(nodes)
	for _, id := range nodes {
		n := r.Node(id)
		switch {
		case (n.Role == topology.Gateway || n.Role == topology.ListenerSet) && q.Targets != nil && q.Through == nil:
			list.gateways = append(list.gateways, n.Ref)
		case n.Role == topology.Rule && !n.Transit && (a.atRules[n.Ref.GroupKind()] || len(a.atRules) == 0) && !a.reached(id):
			if !q.compared {
				open.add(a, id)
			}
		case n.Role == topology.Rule && (n.Transit || !a.atRules[n.Ref.GroupKind()]):
		case n.Role == topology.Rule && !covered[id] && a.reached(id):
			list.bare = append(list.bare, n.Ref)
		case n.Role == topology.Rule && q.Targets != nil && q.Through == nil && covered[id]:
			if bare := a.uncovered(id, ways[id]); len(bare) > 0 {
				list.bareWays = append(list.bareWays, " is in force on "+targetName(n.Ref)+" via "+viaText(bare, n.Ref.WithoutSection(), TableOptions{}))
			}
		case n.Role == topology.Route && q.Targets != nil && !a.reached(id) && len(r.Graph.Instances(id)) == 0:
			list.unattached = append(list.unattached, r.Graph.Unattached(id))
		}
	}
	list.Seal("EffectivePolicyList", append(a.problems(), open.problems()...))
	list.touches, list.open = a.touching(), len(open) > 0
	return list, items
}

// item is the effective policy at one target; what is to be told of it is noted.
func (a *collector) item(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) EffectivePolicy {
	a.tell(k, id, s)
	return a.make(k, id, s, paths)
}

// make is item, with nothing noted.
func (a *collector) make(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) EffectivePolicy {
	out := a.answer(k, s).at(a.res.Node(id).Ref)
	out.Paths = paths
	out.Unread = a.res.Unread(k.Gaps().At(id))
	return out
}

// tell notes the problems of a stack at a target.
func (a *collector) tell(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *stackFacts {
	facts := a.answers.passed(k, s)
	if facts == nil {
		facts = &a.answer(k, s).stackFacts
	}
	if !facts.told {
		facts.told = true
		a.found = append(a.found, facts.problems...)
	}
	a.found = append(a.found, k.Guesses().Below(id, s)...)
	if facts.refers {
		item := a.answer(k, s).policy
		item.Target = a.res.Node(id).Ref
		a.found = append(a.found, foreignReferences(&item)...)
	}
	return facts
}

// common is what a stack makes at all targets; problems of it are noted for this one.
func (a *collector) common(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *answer {
	a.tell(k, id, s)
	return a.answer(k, s)
}

// answer is what a stack makes at all targets.
func (a *collector) answer(k *resolve.Kind, s resolve.StackID) *answer {
	return a.answers.of(a.res, k, s)
}
