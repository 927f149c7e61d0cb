package overridden

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// List lists what lost at the targets asked for: of the given policy, or of every one if it is nil;
// of one rule (its full printed name), or of every one if rule is "".
func List(r *resolve.Resolution, q view.Query, of *policy.Policy, rule string) *OverriddenRuleList {
	if of == nil {
		return findOverridden(r, q, []askedSettings{{rule: rule}})
	}
	return ListOfPolicies(r, q, []*policy.Policy{of}, []string{rule})
}

// ListOfPolicies lists what lost of several policies, one after the other: of one rule of
// each, or of all of its rules.
func ListOfPolicies(r *resolve.Resolution, q view.Query, policies []*policy.Policy,
	rules []string) *OverriddenRuleList {
	var asked []askedSettings
	for i, p := range policies {
		asked = append(asked, askedSettings{p, rules[i]})
	}
	list := findOverridden(r, q, asked)
	if q.Targets == nil {
		list.LimitRelevance(collect.FilterByPolicies(policies...))
	}
	return list
}

// askedSettings is what is asked about: the settings of a policy, nil for all of them, by the name
// of a rule or "".
type askedSettings struct {
	policy *policy.Policy
	rule   string
}

// isAmongLayers reports whether the policy asked about is one of several layers.
func (s askedSettings) isAmongLayers(layers []resolve.Layer) bool {
	return s.policy == nil ||
		slices.ContainsFunc(layers, func(l resolve.Layer) bool { return l.Policy.Base() == s.policy })
}

func findOverridden(r *resolve.Resolution, q view.Query, asked []askedSettings) *OverriddenRuleList {
	list := &OverriddenRuleList{Items: []OverriddenRule{}}
	found := make([][]OverriddenRule, len(asked))
	q.ShowNone = false
	a := collect.New(r, q)
	stands := map[*resolve.Kind]map[policySetting]bool{}
	a.EachStack(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []view.Path) {
		if !slices.ContainsFunc(asked, func(w askedSettings) bool { return w.policy == nil || k.HasPolicy(w.policy) }) {
			return
		}
		o := k.Verdict(s)
		if !slices.ContainsFunc(asked, func(w askedSettings) bool { return w.isAmongLayers(o.Layers) }) {
			return
		}
		a.AddProblems(o.Problems...)
		a.AddProblems(k.Guesses().Below(id, s)...)
		w := collect.NewVerdictWriter(r, o)
		for _, l := range o.Losses() {
			p := o.Layers[l.From.Layer].Policy
			wanted := func(w askedSettings) bool {
				return (w.policy == nil || p.Base() == w.policy) && collect.IsPartOfRule(l.Rule, w.rule)
			}
			if !slices.ContainsFunc(asked, wanted) {
				continue
			}
			if stands[k] == nil {
				stands[k] = settingsInForce(k)
			}
			item := OverriddenRule{PolicyKind: k.Name(), Rule: l.Rule, Source: w.BuildSource(l.From, l.Path),
				Value:  l.Value,
				Target: r.Node(id).Ref, Paths: paths, LostTo: w.BuildWinners(&l), Reason: string(l.Reason),
				Message:    w.ExplainLoss(&l),
				Everywhere: !stands[k][policySetting{p, l.From.Block, l.Rule}], Unread: r.DescribeGaps(k.Gaps().At(id))}
			if q.Summaries {
				item.Summary = view.SummarizeValue(k.Summaries, l.Path, l.Value)
			}
			item.Why = collect.ShortLossReason(&l, item.LostTo)
			if item.Everywhere {
				item.Unread = append(item.Unread, r.DescribeGaps(k.Gaps().Of(p))...)
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
	list.Finish("OverriddenRuleList", a.CollectProblems())
	list.LimitRelevance(a.RelevanceFilter())
	return list
}

// policySetting is a rule of a block of a policy.
type policySetting struct {
	policy *policy.Policy
	block  merge.BlockKind
	rule   string
}

// settingsInForce returns every setting of the kind that is a source somewhere. A rule counts also
// if only a part of it is.
func settingsInForce(k *resolve.Kind) map[policySetting]bool {
	out := map[policySetting]bool{}
	k.EachStackInForce(func(s resolve.StackID) {
		o := k.Verdict(s)
		for _, r := range o.Result.Rules {
			for _, f := range r.From {
				for d := range len(r.Path) + 1 {
					out[policySetting{o.Layers[f.Layer].Policy, f.Block, r.Path[:d].String()}] = true
				}
			}
		}
		o.EachRenamed(func(f merge.Source, path merge.Path) {
			out[policySetting{o.Layers[f.Layer].Policy, f.Block, path.String()}] = true
		})
	})
	return out
}
