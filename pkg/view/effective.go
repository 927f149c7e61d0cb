package view

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Effective lists the effective policies of the targets asked for: of a whole route those of its rules, of a Gateway those of its
// listeners, of a Service those of its ports and of the rules that send to it; of what traffic passes through those of the rules below.
func Effective(r *resolve.Resolution, q Query) *EffectivePolicyList {
	list := &EffectivePolicyList{Items: []EffectivePolicy{}}
	a := survey{res: r, query: q}
	covered := map[topology.NodeID][]Path{}
	a.each(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		item := a.item(k, id, s, paths)
		if len(item.Rules) > 0 || q.ShowNone {
			list.Items = append(list.Items, item)
			covered[id] = append(covered[id], item.Paths...)
		} else {
			list.unlisted += len(item.Lost)
		}
	})
	for _, id := range a.nodes() {
		n := r.Node(id)
		switch {
		case n.Role == topology.Rule && !a.atRules:
		case n.Role == topology.Rule && covered[id] == nil && a.reached(id):
			list.bare = append(list.bare, n.Ref)
		case n.Role == topology.Rule && q.Targets != nil && q.Through == nil && covered[id] != nil:
			if ways := a.uncovered(id, covered[id]); len(ways) > 0 {
				list.bareWays = append(list.bareWays, "no policy is in force on "+targetName(n.Ref)+" via "+viaText(ways, n.Ref.Whole(), TableOptions{}))
			}
		case n.Role == topology.Route && q.Targets != nil && !a.reached(id):
			list.unattached = append(list.unattached, a.whyUnattached(id))
			a.found = append(a.found, model.Problem{Severity: model.Info, Code: model.NotReached, Ref: &n.Ref, Message: a.whyUnattached(id)})
		}
	}
	list.Seal("EffectivePolicyList", a.problems())
	return list
}

// item is the effective policy at one target. What depends on the stack alone is computed once and shared.
func (a *survey) item(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) EffectivePolicy {
	if a.shared[k] == nil {
		a.shared[k] = map[resolve.StackID]*EffectivePolicy{}
	}
	common := a.shared[k][s]
	if common == nil {
		o := k.Outcome(s)
		a.found = append(a.found, o.Problems...)
		common = stackAnswer(a.res, k, o)
		a.shared[k][s] = common
	}
	out := *common
	out.Target, out.Paths = a.res.Node(id).Ref, paths
	if common.refers {
		a.found = append(a.found, foreignReferences(&out)...)
	}
	return out
}

func stackAnswer(r *resolve.Resolution, k *resolve.Kind, o *resolve.Outcome) *EffectivePolicy {
	w := writer{res: r, outcome: o}
	out := &EffectivePolicy{PolicyKind: k.Name(), Ordered: o.Result.Ordered, Spec: o.Result.Doc, Profile: k.Profile,
		Rules: []Rule{}, Policies: []PolicyUse{}, Lost: []RuleLoss{}}
	for _, rule := range o.Result.Rules {
		out.Rules = append(out.Rules, w.rule(rule))
	}
	for _, loss := range o.Result.Lost {
		out.Lost = append(out.Lost, RuleLoss{Rule: loss.Rule, Loss: w.loss(loss)})
	}
	for _, g := range o.Result.Groups {
		group := Group{Name: g.Name, Rules: []Rule{}}
		for _, rule := range g.Rules {
			group.Rules = append(group.Rules, w.rule(rule))
		}
		out.Groups = append(out.Groups, group)
	}
	out.Policies = w.uses()
	out.ID = contentHash(out)
	out.refers = slices.ContainsFunc(out.Rules, func(r Rule) bool { return bareReference(r.Value) != "" })
	return out
}

// contentHash is short, and changes with the kind, the spec or a source, but not with where a source was read.
func contentHash(e *EffectivePolicy) string {
	type source struct {
		Rule                          string
		Policy                        *model.Ref
		Target                        model.Ref
		Level, Block, Strategy, Built string
	}
	var sources []source
	for _, r := range e.Rules {
		for _, s := range r.Sources {
			sources = append(sources, source{r.Name, s.Policy, s.Target, s.Level, s.Block, s.Strategy, s.Builtin})
		}
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode([]any{e.PolicyKind, e.Spec, sources}); err != nil {
		return "" // values that are no JSON cannot come out of a manifest
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
