package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Kinds lists the policy kinds of the run, or only some of them: the described ones, and those found in the input.
func Kinds(r *resolve.Resolution, only []model.GroupKind) *KindList {
	out := &KindList{Items: []KindInfo{}}
	for _, k := range r.Kinds {
		if k.Again() || only != nil && !slices.Contains(only, k.GroupKind) {
			continue
		}
		info := KindInfo{Kind: k.Name(), Plural: k.Plural, ShortNames: []string{}, Vendor: k.Vendor, Class: "Inherited", Targets: []string{},
			Strategies: k.StrategyWords(), Effective: []string{}, Rules: k.RuleWords(), Objects: len(r.Snapshot.Of(k.GroupKind)), From: k.From}
		info.ShortNames = append(info.ShortNames, k.Short...)
		if k.Generic() {
			info.Vendor, info.Reading, info.Guesses = "generic", k.Guess.How, k.Guesses().Words()
		}
		if k.Direct {
			info.Class = "Direct"
		}
		for _, t := range k.Targets {
			info.Targets = append(info.Targets, t.String())
		}
		for _, scope := range r.Scopes(k) {
			for _, role := range scope.Effective {
				if !slices.Contains(info.Effective, string(role)) {
					info.Effective = append(info.Effective, string(role))
				}
			}
		}
		out.Items = append(out.Items, info)
	}
	var problems []model.Problem
	for _, p := range r.Problems {
		if p.Code == model.GenericKind || p.Severity == model.Error {
			problems = append(problems, p)
		}
	}
	out.Seal("KindList", problems)
	return out
}
