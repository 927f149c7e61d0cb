package istio

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// authenticationSituation is what RequestAuthentications make of a target: the rules of all of
// them, sorted by issuer.
func authenticationSituation(at foldTarget) *policy.Situation {
	if at.proxy == nil {
		return nil
	}
	proxy, service := at.policyNamespaces()
	return &policy.Situation{Key: joinKey(proxy, service), Compare: compareByNamespace(proxy, at.world.root, service),
		Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return foldAuthentication(layers) }
		}}
}

// jwtRule is one issuer that a policy accepts.
type jwtRule struct {
	issuer string
	value  any
	from   int
}

func foldAuthentication(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	var all []jwtRule
	var m foldRecorder
	for i, p := range layers {
		items := p.Object.Body.At("spec", "jwtRules")
		for _, rule := range items.Items {
			all = append(all, jwtRule{rule.Text("issuer"), rule.Value(), i})
		}
		if items.Len() == 0 { // it asks for no token
			m.Lose(merge.KeyPath("jwtRules"), []any{}, i, merge.NoEffect)
		}
	}
	slices.SortStableFunc(all, func(a, b jwtRule) int { return cmp.Compare(a.issuer, b.issuer) })
	for _, r := range all {
		m.Take(merge.Path{{Name: "jwtRules"}, {Name: r.issuer, Form: merge.Entry}}, r.value, r.from)
	}
	return m.Units, m.Effects
}
