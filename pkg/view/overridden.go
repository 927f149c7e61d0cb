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
	if of == nil {
		return overridden(r, q, []askedSettings{{rule: rule}})
	}
	return OverriddenOf(r, q, []*policy.Policy{of}, []string{rule})
}

// OverriddenOf lists what lost of several policies, of one rule of each or of every one: the settings of one after the other.
func OverriddenOf(r *resolve.Resolution, q Query, policies []*policy.Policy, rules []string) *OverriddenRuleList {
	var asked []askedSettings
	for i, p := range policies {
		asked = append(asked, askedSettings{p, rules[i]})
	}
	list := overridden(r, q, asked)
	if q.Targets == nil {
		list.touches = touchingPolicies(policies...)
	}
	return list
}

// askedSettings is what is asked about: the settings of a policy, nil for all of them, by the name of a rule or "".
type askedSettings struct {
	policy *policy.Policy
	rule   string
}

// among reports whether a policy is one of several layers.
func (s askedSettings) among(layers []resolve.Layer) bool {
	return s.policy == nil || slices.ContainsFunc(layers, func(l resolve.Layer) bool { return l.Policy.Base() == s.policy })
}

func overridden(r *resolve.Resolution, q Query, asked []askedSettings) *OverriddenRuleList {
	list := &OverriddenRuleList{Items: []OverriddenRule{}}
	found := make([][]OverriddenRule, len(asked))
	q.ShowNone = false
	a := collector{res: r, query: q}
	stands := map[*resolve.Kind]map[setting]bool{}
	a.each(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		if !slices.ContainsFunc(asked, func(w askedSettings) bool { return w.policy == nil || k.Has(w.policy) }) {
			return
		}
		o := k.Verdict(s)
		if !slices.ContainsFunc(asked, func(w askedSettings) bool { return w.among(o.Layers) }) {
			return
		}
		a.found = append(append(a.found, o.Problems...), k.Guesses().Below(id, s)...)
		w := writer{r, o}
		for _, l := range o.Losses() {
			p := o.Layers[l.From.Layer].Policy
			wanted := func(w askedSettings) bool { return (w.policy == nil || p.Base() == w.policy) && names(l.Rule, w.rule) }
			if !slices.ContainsFunc(asked, wanted) {
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
			for i, w := range asked {
				if wanted(w) {
					found[i] = append(found[i], item)
				}
			}
		}
	})
	list.Items = append(list.Items, slices.Concat(found...)...)
	list.Seal("OverriddenRuleList", a.problems())
	list.touches = a.touching()
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
