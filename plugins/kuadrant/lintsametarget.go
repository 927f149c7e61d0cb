package kuadrant

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var (
	defaultLost = model.Rule{ID: "SameTargetDefaultLost", Severities: []model.Severity{model.Warning}, SameTarget: true,
		Summary: "an atomic default is without effect because newer defaults are on the same target, though both policies are accepted",
		Fix:     "let one policy have all the rules, or write `strategy: merge` into both"}
	orderMatters = model.Rule{ID: "SameTargetOrderMatters", Severities: []model.Severity{model.Warning}, SameTarget: true,
		Summary: "a merge override and an atomic default are on one target: whether the defaults stand depends on which policy comes first",
		Fix:     "write `strategy: merge` into the defaults"}
)

// sameTarget reports what several policies on one target do to each other, though each is accepted: an atomic default gives way to every
// newer policy; and beside a merge override, whether it does depends on which of the two comes first.
func sameTarget(k *policy.Kind, g *topology.Graph, at policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		here := at(id)
		if len(here) < 2 || g.Node(id).Hop > 0 {
			continue
		}
		ageIgnored := slices.ContainsFunc(here, func(a policy.Attached) bool { return a.Policy.Object.Created.IsZero() })
		for i, a := range here {
			if !atomicDefault(a.Policy) {
				continue
			}
			if p := lostDefault(k, a, here[i+1:], g.Node(id).Ref, ageIgnored); p != nil {
				out = append(out, *p)
			}
			if p := besideOverride(k, here, i, g.Node(id).Ref, ageIgnored); p != nil {
				out = append(out, *p)
			}
		}
	}
	return out
}

// set is the one set that the operator reads of a policy, nil if there is none.
func set(p *policy.Policy) *merge.Block {
	if len(p.Blocks) != 1 {
		return nil
	}
	return &p.Blocks[0]
}

func atomicDefault(p *policy.Policy) bool {
	b := set(p)
	return b != nil && b.Kind != merge.Overrides && p.Word(b.Kind) == "atomic"
}

// lostDefault reports an atomic default that newer defaults on its target leave without effect.
func lostDefault(k *policy.Kind, at policy.Attached, newer []policy.Attached, target model.Ref, ageIgnored bool) *model.Problem {
	newer = slices.DeleteFunc(slices.Clone(newer), func(a policy.Attached) bool {
		b := set(a.Policy)
		return b == nil || b.Kind == merge.Overrides || len(b.Units) == 0
	})
	if len(newer) == 0 {
		return nil
	}
	last := newer[len(newer)-1]
	problem := defaultLost.Problem("nothing of %s is in force at %s: it is an atomic default, and %s on the same target %s", at.Policy.Ref(), target, last.Policy.Ref(),
		explain.Order(k.Decide(last, at, ageIgnored))).At(at.Policy.Object)
	problem.Hint = "let one policy have all the rules, or write strategy: merge into both"
	return &problem
}

// besideOverride reports an atomic default that stands beside a merge override if that is the older one, and gives way if it is the newer.
func besideOverride(k *policy.Kind, here []policy.Attached, i int, target model.Ref, ageIgnored bool) *model.Problem {
	p := here[i].Policy
	at := slices.IndexFunc(here, func(a policy.Attached) bool {
		b := set(a.Policy)
		return b != nil && b.Kind == merge.Overrides && a.Policy.Word(b.Kind) == "merge"
	})
	if at < 0 {
		return nil
	}
	now := "stand beside the overrides; they would be lost the other way round"
	if at > i {
		now = "are lost; they would stand beside the overrides the other way round"
	}
	problem := orderMatters.Problem("at %s the atomic defaults of %s meet the merge overrides of %s, and their order decides: %s %s, and its defaults %s",
		target, p.Ref(), here[at].Policy.Ref(), p.Ref(), explain.Order(k.Decide(here[i], here[at], ageIgnored)), now).At(p.Object)
	problem.Hint = "write strategy: merge into the defaults"
	return &problem
}
