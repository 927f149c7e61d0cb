package effective

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// List lists the effective policies of the targets asked for: of a whole route those of its rules,
// of a Gateway those of its listeners, of a Service those of its ports and of the rules that send
// to it; of what traffic passes through those of the rules below.
func List(r *resolve.Resolution, q view.Query) *EffectivePolicyList {
	a := collect.New(r, q)
	if q.Targets == nil {
		a.BuildAnswers()
	}
	list, items := buildEffective(a)
	list.Items = append(items.buildAll(), list.ingresses...)
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
		if !slices.ContainsFunc(l.Items, func(e view.EffectivePolicy) bool { return e.Target == rule }) {
			l.rulesWithoutPolicy = append(l.rulesWithoutPolicy, rule)
		}
	}
}

// itemBatchSize is how many items of a list are made side by side.
const itemBatchSize = 8192

// buildEffective returns the answer without its items, and the items, which are still to be built.
func buildEffective(a *collect.Collector) (*EffectivePolicyList, *effectiveItems) {
	list := &EffectivePolicyList{Items: []view.EffectivePolicy{}, ingresses: listIngressPolicies(&a.Query)}
	items := &effectiveItems{collector: a, batchSize: itemBatchSize}
	r, q := a.Resolution, a.Query
	covered := make([]bool, r.Len())
	var open unknownPaths
	var withoutPolicy []topology.NodeID
	if q.Targets == nil {
		items.positions = make([]itemPosition, 0, a.CountContexts())
	}
	ways := map[topology.NodeID][]view.Path{} // that are covered, of what was asked for by name
	a.EachStack(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []view.Path) {
		facts := a.AddStackProblems(k, id, s)
		if facts.RuleCount > 0 || q.ShowNone {
			facts.LastItem = len(items.positions)
			items.positions = append(items.positions, itemPosition{k, s, id, paths})
			covered[id] = true
			if q.Targets != nil {
				ways[id] = append(ways[id], paths...)
			}
		} else {
			list.unlistedLosses += facts.LossCount
		}
	})
	nodes := a.ListNodes()
	list.Routes = CollectRouteSettings(a, nodes)
	list.Protection = protectionOfPlaces(a, nodes)
	for _, id := range nodes {
		n := r.Node(id)
		switch {
		case (n.Role == topology.Gateway || n.Role == topology.ListenerSet) && q.Targets != nil && q.Through == nil:
			list.gateways = append(list.gateways, n.Ref)
		case n.Role == topology.Rule && !n.Delegates && (a.HasRulesOf(n.Ref.GroupKind()) || !a.HasRules()) &&
			!a.HasTraffic(id):
			if !q.IsComparison {
				open.addRule(a, id)
			}
		case n.Role == topology.Rule && (n.Delegates || !a.HasRulesOf(n.Ref.GroupKind())):
		case n.Role == topology.Rule && !covered[id] && a.HasTraffic(id):
			list.rulesWithoutPolicy = append(list.rulesWithoutPolicy, n.Ref)
			withoutPolicy = append(withoutPolicy, id)
		case n.Role == topology.Rule && q.Targets != nil && q.Through == nil && covered[id]:
			if bare := a.UncoveredPaths(id, ways[id]); len(bare) > 0 {
				withoutPolicy = append(withoutPolicy, id)
				list.pathsWithoutPolicy = append(list.pathsWithoutPolicy, " is in force on "+n.Ref.String()+
					" via "+view.ViaText(bare, n.Ref.WithoutSection(), view.TableOptions{}))
			}
		case n.Role == topology.Route && q.Targets != nil && !a.HasTraffic(id) && len(r.Graph.Instances(id)) == 0:
			list.unattachedReasons = append(list.unattachedReasons, r.Graph.ExplainUnattached(id))
		}
	}
	list.Finish("EffectivePolicyList", slices.Concat(a.CollectProblems(), open.buildProblems(a.Resolution.Snapshot),
		collectProxyProblems(&a.Query)))
	list.LimitRelevance(a.RelevanceFilter())
	list.SetPolicyUnknown(len(open) > 0)
	if len(items.positions) == 0 && len(list.ingresses) == 0 {
		withoutPolicy = nodes
		list.SetElsewhere(a.FindElsewhere())
	}
	list.SetPolicyOmission(a.FindPolicyOmission(withoutPolicy))
	return list, items
}
