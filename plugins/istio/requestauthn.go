package istio

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// authentication is what RequestAuthentications make of a target: the rules of all of them, sorted by issuer (spec §6).
func authentication(at place) *policy.Situation {
	if at.proxy == nil {
		return nil
	}
	proxy, service := at.spaces()
	return &policy.Situation{Key: key(proxy, service), Compare: inOrder(proxy, at.world.root, service), Fold: func(layers []*policy.Policy) merge.PlanFunc {
		return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return authenticate(layers) }
	}}
}

// jwtRule is one issuer that a policy accepts.
type jwtRule struct {
	issuer string
	value  any
	from   int
}

func authenticate(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	var all []jwtRule
	var m merger
	for i, p := range layers {
		items := p.Object.Body.At("spec", "jwtRules")
		for _, rule := range items.Items {
			all = append(all, jwtRule{rule.Text("issuer"), rule.Value(), i})
		}
		if items.Len() == 0 { // it asks for no token
			m.Lose(merge.Keys("jwtRules"), []any{}, i, merge.NoEffect)
		}
	}
	slices.SortStableFunc(all, func(a, b jwtRule) int { return cmp.Compare(a.issuer, b.issuer) })
	for _, r := range all {
		m.Take(merge.Path{{Name: "jwtRules"}, {Name: r.issuer, Form: merge.Entry}}, r.value, r.from)
	}
	return m.Units, m.Effects
}
