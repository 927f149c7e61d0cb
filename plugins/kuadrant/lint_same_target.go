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
		Fix:     "put all settings into one policy, or write `strategy: merge` into both"}
	orderMatters = model.Rule{ID: "SameTargetOrderMatters", Severities: []model.Severity{model.Warning},
		SameTarget: true,
		Summary:    "a merge override and an atomic default are on one target: whether the defaults stand depends on which policy comes first",
		Fix:        "write `strategy: merge` into the defaults"}
)

// findSameTarget reports what several policies on one target do to each other, though each is
// accepted: an atomic default gives way to every newer policy; and beside a merge override, whether
// it does depends on which of the two comes first.
func findSameTarget(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		here := at(id)
		if len(here) < 2 || g.Node(id).Hop > 0 {
			continue
		}
		ageIgnored := slices.ContainsFunc(here,
			func(a policy.Attached) bool { return a.Policy.Object.Created.IsZero() })
		newest, override := findNewestDefault(here), findMergeOverride(here)
		for i, a := range here {
			if !isAtomicDefault(a.Policy) {
				continue
			}
			if newest > i {
				out = append(out, lostDefaultProblem(k, a, here[newest], g.Node(id).Ref, ageIgnored))
			}
			if override >= 0 {
				out = append(out, besideOverrideProblem(k, a, here[override], override > i, g.Node(id).Ref, ageIgnored))
			}
		}
	}
	return out
}

// singleBlock is the one block that the operator reads of a policy, nil if there is none.
func singleBlock(p *policy.Policy) *merge.Block {
	if len(p.Blocks) != 1 {
		return nil
	}
	return &p.Blocks[0]
}

func isAtomicDefault(p *policy.Policy) bool {
	b := singleBlock(p)
	return b != nil && b.Kind != merge.Overrides && p.StrategyName(b.Kind) == "atomic"
}

// findNewestDefault is where the newest policy stands that has defaults; -1: none has.
func findNewestDefault(here []policy.Attached) int {
	for i, a := range slices.Backward(here) {
		if b := singleBlock(a.Policy); b != nil && b.Kind != merge.Overrides && len(b.Units) > 0 {
			return i
		}
	}
	return -1
}

// findMergeOverride is where the first policy with merge overrides stands; -1: none has them.
func findMergeOverride(here []policy.Attached) int {
	return slices.IndexFunc(here, func(a policy.Attached) bool {
		b := singleBlock(a.Policy)
		return b != nil && b.Kind == merge.Overrides && a.Policy.StrategyName(b.Kind) == "merge"
	})
}

// lostDefaultProblem reports an atomic default that newer defaults on its target leave without
// effect.
func lostDefaultProblem(k *policy.Kind, at, newest policy.Attached, target model.Ref, ageIgnored bool) model.Problem {
	problem := defaultLost.NewProblem(
		"nothing of %s is in force at %s: it is an atomic default, and %s on the same target %s", at.Policy.Ref(),
		target, newest.Policy.Ref(),
		explain.DescribeOrder(k.Decide(newest, at, ageIgnored))).At(at.Policy.Object)
	problem.Hint = "put all settings into one policy, or write strategy: merge into both"
	return problem
}

// besideOverrideProblem reports an atomic default that stands beside a merge override if that is
// the older one, and gives way if it is the newer.
func besideOverrideProblem(k *policy.Kind, at, override policy.Attached, newer bool, target model.Ref,
	ageIgnored bool) model.Problem {
	now := "stay in force beside the overrides; in the other order they would be overridden"
	if newer {
		now = "are overridden; in the other order they would stay in force beside the overrides"
	}
	p := at.Policy
	problem := orderMatters.NewProblem(
		"at %s the atomic defaults of %s meet the merge overrides of %s, and their order decides: %s %s, and its defaults %s",
		target, p.Ref(), override.Policy.Ref(), p.Ref(), explain.DescribeOrder(k.Decide(at, override, ageIgnored)),
		now).At(p.Object)
	problem.Hint = "write strategy: merge into the defaults"
	return problem
}
