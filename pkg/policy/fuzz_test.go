package policy

import (
	"errors"
	"regexp"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

var mistakeLine = regexp.MustCompile(`^kinds\.yaml:(\d+: )?.|^setting .`) // not all have their line yet

func FuzzDescriptor(f *testing.F) {
	for _, text := range []string{
		"", kind(), kind("rules: [limits.*, {path: when, filler: true}]", "strategy: {read: [block.strategy], values: {a: merge}, default: patch overrides}"),
		kind("content: {at: spec, fields: [a], condition: when, unset: [u], claims: true, blocks: {defaults: spec.d}}", "refs: [{at: spec.x, form: selector, missing: silent}]"),
		kind("resolve: [{name: a, of: [{levels: [gateway]}, {levels: [rule], strategy: merge}], only: [x.*], rules: [{path: a, keys: [b]}]}]"),
		vendorDoc + "settings: [{name: s, values: [a], default: a, doc: d}]\n---\n" + kind("variants: [{when: {setting: s, is: a}, set: {plural: x, content: null}}]"),
		kind() + "---\n" + kind("extends: Paint.x.io"), "a: &a [*a]\n", "? [a]\n: b\n", "%YAML 1.1\n---\n<<: {a: b}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := described(text)
		var mistakes *DescriptorError
		var setting *SettingError
		switch {
		case err == nil:
			for _, k := range c.Kinds() {
				if k.GroupKind.Kind == "" || len(k.Plans) == 0 || k.Family == "" {
					t.Errorf("%+v", k)
				}
				k.Decode(objectOf(map[string]any{"spec": map[string]any{"a": map[string]any{"b": int64(1)}, "targetRef": map[string]any{"kind": "K", "name": "n"}}}), &Conditions{})
			}
		case errors.As(err, &mistakes):
			for _, line := range mistakes.Lines {
				if !mistakeLine.MatchString(line) {
					t.Errorf("%q does not name file and line", line)
				}
			}
		case !errors.As(err, &setting):
			t.Errorf("%T: %v", err, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, spec := range []string{
		"{}", "5", "{" + toGateway + ", limits: {a: {n: 1}}, defaults: {strategy: merge, when: spec.limits.a > 1, limits: {b: null}}, unset: [limits.a]}",
		"{targetRefs: [x, {kind: K, name: n, group: g/v1}], overrides: {strategy: patch, rules: [{id: a}, {id: a}], limits: []}}",
		"{targetSelectors: {kind: K, matchLabels: {a: 1}}, defaults: [], remove: x, strategy: {a: b}, mergeType: 7}",
	} {
		f.Add(spec)
	}
	var kinds []*Kind
	for _, lines := range [][]string{nil, limits, {"class: direct"}, {"content: {claims: true}", "rules: whole"}, {"rules: leaves", "strategy: patch overrides"},
		{"rules: [{path: rules, keys: [id]}, limits.*.*]", "content: {condition: when, unset: [unset, remove]}"}} {
		c, err := described(kind(lines...))
		if err != nil {
			f.Fatal(err)
		}
		kinds = append(kinds, c.Kinds()...)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		var v any
		if len(spec) > 10_000 || yaml.Unmarshal([]byte(spec), &v) != nil {
			return
		}
		if _, ok := v.(map[any]any); ok {
			return // no JSON
		}
		body := map[string]any{"apiVersion": "x.io/v1", "kind": "Paint", "metadata": map[string]any{"name": "p", "namespace": "demo"}, "spec": values(v)}
		for _, k := range kinds {
			var conditions Conditions
			p := k.Decode(objectOf(body), &conditions)
			for _, problem := range p.Problems {
				if problem.Code == "" || problem.Message == "" || problem.Ref == nil {
					t.Errorf("%+v", problem)
				}
			}
			s := merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: p.Blocks, Unset: p.Unset, Render: p.Render}, {Level: "route", Blocks: p.Blocks, Unset: p.Unset, Render: p.Render}}}
			for _, rule := range merge.Fold(k.Plans, k.Rules, s).Rules {
				if len(rule.From) == 0 {
					t.Errorf("%s has no source", rule.Name)
				}
			}
			p.OriginOf(merge.Defaults, nil)
			for _, ref := range p.Refs {
				if ref.Selects != nil {
					ref.Selects.Picks(&model.Object{})
				}
			}
		}
	})
}
