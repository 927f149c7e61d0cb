package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Overridden lists what lost at the targets asked for: of the given policy, or of every one if it is nil; of one rule (its full
// printed name), or of every one if rule is "".
func Overridden(r *resolve.Resolution, q Query, of *policy.Policy, rule string) *OverriddenRuleList {
	list := &OverriddenRuleList{Items: []OverriddenRule{}}
	q.ShowNone = false
	a := collector{res: r, query: q}
	stands := map[*resolve.Kind]map[setting]bool{}
	a.each(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		if of != nil && !k.Has(of) {
			return
		}
		o := k.Verdict(s)
		if of != nil && !slices.ContainsFunc(o.Layers, func(l resolve.Layer) bool { return l.Policy.Base() == of }) {
			return
		}
		a.found = append(append(a.found, o.Problems...), k.Guesses().Below(id, s)...)
		w := writer{r, o}
		for _, l := range o.Losses() {
			p := o.Layers[l.From.Layer].Policy
			if of != nil && p.Base() != of || !names(l.Rule, rule) {
				continue
			}
			if stands[k] == nil {
				stands[k] = inForce(k)
			}
			item := OverriddenRule{PolicyKind: k.Name(), Rule: l.Rule, Source: w.source(l.From, l.Path), Value: l.Value,
				Target: r.Node(id).Ref, Paths: paths, LostTo: w.winners(&l), Reason: string(l.Reason), Message: w.why(&l),
				Everywhere: !stands[k][setting{p, l.From.Block, l.Rule}], Unread: r.Unread(k.Gaps().At(id))}
			item.Why = shortLoss(l.Reason, item.LostTo)
			if item.Everywhere {
				item.Unread = append(item.Unread, r.Unread(k.Gaps().Of(p))...)
				slices.Sort(item.Unread)
				item.Unread = slices.Compact(item.Unread)
			}
			list.Items = append(list.Items, item)
		}
	})
	list.Seal("OverriddenRuleList", a.problems())
	list.touches = a.touching()
	if of != nil && q.Targets == nil {
		list.touches = touchingPolicies(of)
	}
	return list
}

// setting is a rule of a block of a policy.
type setting struct {
	policy *policy.Policy
	block  merge.BlockKind
	rule   string
}

// inForce is every setting of the kind that is a source somewhere; a rule of which only a part is, too.
func inForce(k *resolve.Kind) map[setting]bool {
	out := map[setting]bool{}
	k.InForce(func(s resolve.StackID) {
		o := k.Verdict(s)
		for _, r := range o.Result.Rules {
			for _, f := range r.From {
				for d := range len(r.Path) + 1 {
					out[setting{o.Layers[f.Layer].Policy, f.Block, r.Path[:d].String()}] = true
				}
			}
		}
		o.Renamed(func(f merge.From, path merge.Path) {
			out[setting{o.Layers[f.Layer].Policy, f.Block, path.String()}] = true
		})
	})
	return out
}
