package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Effective lists the effective policies of the targets asked for: of a whole route those of its rules, of a Gateway those of its
// listeners, of a Service those of its ports and of the rules that send to it; of what traffic passes through those of the rules below.
func Effective(r *resolve.Resolution, q Query) *EffectivePolicyList {
	a := newCollector(r, q)
	if q.Targets == nil {
		a.buildAnswers()
	}
	list, items := buildEffective(a)
	list.Items = items.buildAll()
	return list
}

// SetUnattached notes why there is no traffic, a sentence each.
func (l *EffectivePolicyList) SetUnattached(reasons ...string) {
	l.unattachedReasons = append(l.unattachedReasons, reasons...)
}

// SetRulesAsked notes route rules that were asked for: those without an item have no policy in
// force.
func (l *EffectivePolicyList) SetRulesAsked(rules ...model.Ref) {
	for _, rule := range rules {
		if !slices.ContainsFunc(l.Items, func(e EffectivePolicy) bool { return e.Target == rule }) {
			l.rulesWithoutPolicy = append(l.rulesWithoutPolicy, rule)
		}
	}
}

// itemBatchSize is how many items of a list are made side by side.
const itemBatchSize = 8192

// buildEffective returns the answer without its items, and the items, which are still to be built.
func buildEffective(a *collector) (*EffectivePolicyList, *effectiveItems) {
	list, items := &EffectivePolicyList{Items: []EffectivePolicy{}}, &effectiveItems{collector: a, batchSize: itemBatchSize}
	r, q := a.res, a.query
	covered := make([]bool, r.Len())
	var open unknownPaths
	if q.Targets == nil {
		items.positions = make([]itemPosition, 0, a.countContexts())
	}
	ways := map[topology.NodeID][]Path{} // that are covered, of what was asked for by name
	a.eachStack(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		facts := a.addStackProblems(k, id, s)
		if facts.ruleCount > 0 || q.ShowNone {
			facts.lastItem = len(items.positions)
			items.positions = append(items.positions, itemPosition{k, s, id, paths})
			covered[id] = true
			if q.Targets != nil {
				ways[id] = append(ways[id], paths...)
			}
		} else {
			list.unlistedLosses += facts.lossCount
		}
	})
	nodes := a.listNodes()
	list.Routes = collectRouteSettings(a, nodes)
	list.Protection = protectionOfPlaces(a, nodes)
	for _, id := range nodes {
		n := r.Node(id)
		switch {
		case (n.Role == topology.Gateway || n.Role == topology.ListenerSet) && q.Targets != nil && q.Through == nil:
			list.gateways = append(list.gateways, n.Ref)
		case n.Role == topology.Rule && !n.Delegates && (a.hasRulesOf(n.Ref.GroupKind()) || !a.hasRules()) && !a.hasTraffic(id):
			if !q.isComparison {
				open.addRule(a, id)
			}
		case n.Role == topology.Rule && (n.Delegates || !a.hasRulesOf(n.Ref.GroupKind())):
		case n.Role == topology.Rule && !covered[id] && a.hasTraffic(id):
			list.rulesWithoutPolicy = append(list.rulesWithoutPolicy, n.Ref)
		case n.Role == topology.Rule && q.Targets != nil && q.Through == nil && covered[id]:
			if bare := a.uncoveredPaths(id, ways[id]); len(bare) > 0 {
				list.pathsWithoutPolicy = append(list.pathsWithoutPolicy, " is in force on "+targetName(n.Ref)+" via "+viaText(bare, n.Ref.WithoutSection(), TableOptions{}))
			}
		case n.Role == topology.Route && q.Targets != nil && !a.hasTraffic(id) && len(r.Graph.Instances(id)) == 0:
			list.unattachedReasons = append(list.unattachedReasons, r.Graph.ExplainUnattached(id))
		}
	}
	list.Finish("EffectivePolicyList", append(a.collectProblems(), open.buildProblems()...))
	list.LimitRelevance(a.relevanceFilter())
	list.SetPolicyUnknown(len(open) > 0)
	return list, items
}

// buildAnswers builds the answers of all stacks of the kinds asked for.
func (a *collector) buildAnswers() { a.answers.buildAll(a.res, a.askedKinds) }

// collectFacts collects what a list has to know of all stacks of the kinds asked for before their
// answers are built.
func (a *collector) collectFacts() { a.answers.collectFacts(a.res, a.askedKinds) }

// lacksAnswer reports whether the answer of a stack is built only when it is needed, and has not
// been built.
func (a *collector) lacksAnswer(k *resolve.Kind, s resolve.StackID) bool {
	return a.answers.facts[k] != nil && a.answers.byStack[k][s] == nil
}

// buildStacks builds the answers of stacks of a kind, with their rules explained for the given
// targets.
func (a *collector) buildStacks(k *resolve.Kind, stacks []resolve.StackID, targets map[resolve.StackID][]topology.NodeID) {
	a.answers.buildStacks(a.res, k, stacks, targets)
}

// dropAnswer drops the answer of a stack if no item of the list from next on needs it.
func (a *collector) dropAnswer(k *resolve.Kind, s resolve.StackID, next int) {
	if facts := a.answers.findFacts(k, s); facts != nil && facts.lastItem < next {
		delete(a.answers.byStack[k], s)
	}
}

// keptAnswers returns how many answers are kept that are built only when they are needed.
func (a *collector) keptAnswers() (n int) {
	for k, left := range a.answers.byStack {
		if a.answers.facts[k] != nil {
			n += len(left)
		}
	}
	return n
}

// buildItemWithProblems returns the effective policy at one target, and notes the problems of its
// stack.
func (a *collector) buildItemWithProblems(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) EffectivePolicy {
	a.addStackProblems(k, id, s)
	return a.buildItem(k, id, s, paths)
}

// buildItem returns the effective policy at one target, and notes nothing.
func (a *collector) buildItem(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) EffectivePolicy {
	out := a.answerOf(k, s).policyAt(a.res.Node(id).Ref)
	out.Paths = paths
	out.Unread = a.res.DescribeGaps(k.Gaps().At(id))
	return out
}

// addStackProblems notes the problems of a stack at a target.
func (a *collector) addStackProblems(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *stackFacts {
	facts := a.answers.findFacts(k, s)
	if facts == nil {
		facts = &a.answerOf(k, s).stackFacts
	}
	if !facts.reported {
		facts.reported = true
		a.foundProblems = append(a.foundProblems, facts.problems...)
	}
	a.foundProblems = append(a.foundProblems, k.Guesses().Below(id, s)...)
	if facts.hasBareReference {
		item := a.answerOf(k, s).policy
		item.Target = a.res.Node(id).Ref
		a.foundProblems = append(a.foundProblems, reportForeignReferences(&item)...)
	}
	return facts
}

// answerWithProblems returns the answer of a stack, and notes its problems at one target.
func (a *collector) answerWithProblems(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *stackAnswer {
	a.addStackProblems(k, id, s)
	return a.answerOf(k, s)
}

// answerOf returns the answer of a stack, which is the same at all targets.
func (a *collector) answerOf(k *resolve.Kind, s resolve.StackID) *stackAnswer {
	return a.answers.answerOf(a.res, k, s)
}
