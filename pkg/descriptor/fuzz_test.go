package descriptor

import (
	"errors"
	"regexp"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/decode"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
)

var mistakeLine = regexp.MustCompile(`^kinds\.yaml:(\d+: )?.|^setting .`) // not all have their line yet

func FuzzDescriptor(f *testing.F) {
	for _, text := range []string{
		"", paint.Kind(), paint.Kind("rules: [limits.*, {path: when, filler: true}]",
			"strategy: {read: [block.strategy], values: {a: merge}, default: patch overrides}"),
		paint.Kind(
			"content: {at: spec, fields: [a], condition: when, unset: [u], claims: true, blocks: {defaults: spec.d}}",
			"refs: [{at: spec.x, form: selector, missing: silent}]"),
		paint.Kind(
			"resolve: [{name: a, of: [{levels: [gateway]}, {levels: [rule], strategy: merge}], only: [x.*], rules: [{path: a, keys: [b]}]}]"),
		vendorDoc + "settings: [{name: s, values: [a], default: a, doc: d}]\n---\n" +
			paint.Kind("variants: [{when: {setting: s, is: a}, set: {plural: x, content: null}}]"),
		paint.Kind() + "---\n" + paint.Kind("extends: Paint.x.io"), "a: &a [*a]\n", "? [a]\n: b\n",
		"%YAML 1.1\n---\n<<: {a: b}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := described(text)
		var mistakes *form.Error
		var setting *SettingError
		switch {
		case err == nil:
			for _, k := range c.Kinds() {
				if k.GroupKind.Kind == "" || len(k.Plans) == 0 || k.Family == "" {
					t.Errorf("%+v", k)
				}
				decode.NewReader(k,
					&expression.Conditions{}).ReadPolicy(
					paint.Object(map[string]any{"spec": map[string]any{"a": map[string]any{"b": int64(1)},
						"targetRef": map[string]any{"kind": "K", "name": "n"}}}))
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
