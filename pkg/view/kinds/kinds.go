package kinds

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// List lists the policy kinds of the run, or only some of them: the described ones, and those found
// in the input. schemaOf says by which schema the objects of a kind are read.
func List(r *resolve.Resolution, only []model.GroupKind, schemaOf func(model.GroupKind) string) *KindList {
	out := &KindList{Items: []KindInfo{}}
	for _, k := range r.Kinds {
		if k.IsLaterScope() || only != nil && !slices.Contains(only, k.GroupKind) {
			continue
		}
		info := KindInfo{Kind: k.Name(), Plural: k.Plural, ShortNames: []string{}, Vendor: k.Vendor,
			Class: "Inherited", Targets: []string{},
			Strategies: k.StrategyNames(), Effective: []string{}, Rules: k.DescribeRules(), Objects: len(
				r.Snapshot.OfKind(k.GroupKind)), From: k.Source,
			Schema: schemaOf(k.GroupKind)}
		info.ShortNames = append(info.ShortNames, k.ShortNames...)
		if k.IsGeneric() {
			info.Vendor, info.Reading, info.Guesses = "generic", k.Guess.Description, k.Guesses().Describe()
		}
		if k.Direct {
			info.Class = "Direct"
		}
		for _, t := range k.Targets {
			info.Targets = append(info.Targets, t.String())
		}
		for _, scope := range r.ScopesOf(k) {
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
	out.Finish("KindList", problems)
	return out
}
