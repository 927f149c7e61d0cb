package decode

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

func FuzzDecode(f *testing.F) {
	for _, spec := range []string{
		"{}", "5", "{" + paint.ToGateway +
			", limits: {a: {n: 1}}, defaults: {strategy: merge, when: spec.limits.a > 1, limits: {b: null}}, unset: [limits.a]}",
		"{targetRefs: [x, {kind: K, name: n, group: g/v1}], overrides: {strategy: patch, rules: [{id: a}, {id: a}], limits: []}}",
		"{targetSelectors: {kind: K, matchLabels: {a: 1}}, defaults: [], remove: x, strategy: {a: b}, mergeType: 7}",
	} {
		f.Add(spec)
	}
	var kinds []*policy.Kind
	for _, lines := range [][]string{nil, paint.Limits(), {"class: direct"}, {"content: {claims: true}",
		"rules: whole"}, {"rules: leaves", "strategy: patch overrides"},
		{"rules: [{path: rules, keys: [id]}, limits.*.*]", "content: {condition: when, unset: [unset, remove]}"}} {
		kinds = append(kinds, described(f, lines...))
	}
	f.Fuzz(func(t *testing.T, spec string) {
		var v any
		if len(spec) > 10_000 || yaml.Unmarshal([]byte(spec), &v) != nil {
			return
		}
		if _, ok := v.(map[any]any); ok {
			return // no JSON
		}
		body := map[string]any{"apiVersion": "x.io/v1", "kind": "Paint", "metadata": map[string]any{"name": "p",
			"namespace": "demo"}, "spec": paint.Values(v)}
		for _, k := range kinds {
			var conditions expression.Conditions
			p := NewReader(k, &conditions).ReadPolicy(paint.Object(body))
			for _, problem := range p.Problems {
				if problem.Code == "" || problem.Message == "" || problem.Ref == nil {
					t.Errorf("%+v", problem)
				}
			}
			s := merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: p.Blocks, Unset: p.Unset,
				Render: p.RenderDocument}, {Level: "route", Blocks: p.Blocks, Unset: p.Unset,
				Render: p.RenderDocument}}}
			for _, rule := range merge.Fold(k.Plans, k.Rules, s).Rules {
				if len(rule.From) == 0 {
					t.Errorf("%s has no source", rule.Name)
				}
			}
			p.OriginOf(merge.Defaults, nil)
			for _, ref := range p.Refs {
				if ref.Selection != nil {
					ref.Selection.SelectsObject(&model.Object{})
				}
			}
		}
	})
}
