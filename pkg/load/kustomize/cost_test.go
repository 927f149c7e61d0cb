package kustomize

import (
	"testing"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

func replacementOf(fromName, fromField, toName, toField string) types.Replacement {
	return types.Replacement{
		Source: &types.SourceSelector{ResId: resid.ResId{Gvk: resid.Gvk{Kind: "ConfigMap"}, Name: fromName}, FieldPath: fromField},
		Targets: []*types.TargetSelector{{Select: &types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Kind: "ConfigMap"},
			Name: toName}}, FieldPaths: []string{toField}}},
	}
}

// TestSumReplaced: replacements that read what they wrote double it; others add up.
func TestSumReplaced(t *testing.T) {
	values := []any{map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": "0123456789"}}}
	for name, c := range map[string]struct {
		one  types.Replacement
		n    int
		most int // -1: too much
	}{
		"one":                             {replacementOf("a", "data.a", "b", "data.x"), 1, 20},
		"many into another":               {replacementOf("a", "data.a", "b", "data.a"), 500, 500 * 20},
		"many into another field":         {replacementOf("a", "data.a", "a", "data.b"), 500, 500 * 20},
		"many into itself":                {replacementOf("a", "data.a", "a", "data.a"), 40, -1},
		"the whole into a part":           {replacementOf("a", "data", "a", "data.x"), 40, -1},
		"into objects chosen by patterns": {replacementOf("a", "data.a", "a.*", "data.a"), 40, -1},
		"into items of a list":            {replacementOf("a", "data.a", "a", "data.[name=x].y"), 40, -1},
	} {
		cost := buildCost{values: values}
		for range c.n {
			cost.replacements = append(cost.replacements, c.one)
		}
		switch got := cost.sumReplaced(); {
		case c.most < 0 && got <= maxReplaced, c.most >= 0 && got > c.most:
			t.Errorf("%s: %d bytes, want at most %d", name, got, c.most)
		}
	}
}

// TestMultiplySteps: what is too much stays too much.
func TestMultiplySteps(t *testing.T) {
	const large = 1 << 62
	if got := multiplySteps(large, large, large); got <= maxBuildSteps {
		t.Errorf("got %d", got)
	}
	if got := addSteps(large-1, maxBuildSteps, maxBuildSteps); got <= maxBuildSteps {
		t.Errorf("got %d", got)
	}
	if got := multiplySteps(3, 4, 5); got != 60 {
		t.Errorf("got %d", got)
	}
}
