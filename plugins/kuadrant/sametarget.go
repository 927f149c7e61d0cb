package kuadrant

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// sameTarget reports what several policies on one target do to each other, though each is accepted: an atomic default gives way to every
// newer policy; and beside a merge override, whether it does depends on which of the two is older.
func sameTarget(k *policy.Kind, g *topology.Graph, at policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		here := at(id)
		if len(here) < 2 || g.Node(id).Hop > 0 {
			continue
		}
		byName := slices.ContainsFunc(here, func(a policy.Attached) bool { return a.Policy.Object.Created.IsZero() })
		for i, a := range here {
			if !atomicDefault(a.Policy) {
				continue
			}
			if p := lostDefault(a.Policy, here[i+1:], g.Node(id).Ref, byName); p != nil {
				out = append(out, *p)
			}
			if p := besideOverride(a.Policy, here, i, g.Node(id).Ref); p != nil {
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
func lostDefault(p *policy.Policy, newer []policy.Attached, target model.Ref, byName bool) *model.Problem {
	newer = slices.DeleteFunc(slices.Clone(newer), func(a policy.Attached) bool {
		b := set(a.Policy)
		return b == nil || b.Kind == merge.Overrides || len(b.Units) == 0
	})
	if len(newer) == 0 {
		return nil
	}
	how := "is newer"
	if byName {
		how = "comes later by name, for want of creation times"
	}
	problem := model.Problem{Severity: model.Warning, Code: model.SameTargetDefaultLost, Message: fmt.Sprintf(
		"nothing of %s is in force at %s: it is an atomic default, and %s on the same target %s", p.Ref(), target, newer[len(newer)-1].Policy.Ref(), how),
		Hint: "let one policy have all the rules, or write strategy: merge into both"}.At(p.Object)
	return &problem
}

// besideOverride reports an atomic default that stands beside a merge override if that is the older one, and gives way if it is the newer.
func besideOverride(p *policy.Policy, here []policy.Attached, i int, target model.Ref) *model.Problem {
	at := slices.IndexFunc(here, func(a policy.Attached) bool {
		b := set(a.Policy)
		return b != nil && b.Kind == merge.Overrides && a.Policy.Word(b.Kind) == "merge"
	})
	if at < 0 {
		return nil
	}
	now, other := "stand beside the overrides; they would be lost if it were the older one", "newer"
	if at > i {
		now, other = "are lost; they would stand beside the overrides if it were the newer one", "older"
	}
	problem := model.Problem{Severity: model.Warning, Code: model.SameTargetOrderMatters, Message: fmt.Sprintf(
		"at %s the atomic defaults of %s meet the merge overrides of %s, and their age decides: being the %s, the defaults %s", target, p.Ref(), here[at].Policy.Ref(), other, now),
		Hint: "write strategy: merge into the defaults"}.At(p.Object)
	return &problem
}
