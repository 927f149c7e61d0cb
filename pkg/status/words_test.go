package status

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// they are held against a predicted condition with the word as status
func TestWordsInThePlaceOfConditions(t *testing.T) {
	for _, c := range []struct{ name, reported, verdict, differ string }{
		{"as predicted, by number", "words: {b: {level: 1}, a: {other: 2}}", "Agrees", ""},
		{"as predicted, by name", "words: {a: {level: Fine}}", "Agrees", ""},
		{"another one", "words: {a: {level: 2}}", "Differs", "level"},
		{"a number without a word", "words: {a: {level: 9}}", "Differs", "Missing"},
		{"of another type", "words: [level]", "Differs", "Missing"},
		{"beside conditions", "words: {a: {level: Fine}}, conditions: [{type: Other, status: 'True', reason: R}]",
			"Agrees", ""},
	} {
		painted := withStatus(
			"apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: demo}\nspec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw}, m: {a: 1}}", 1, c.reported)
		r := resolved(t, painted)
		k := kind(t, r, "Paint")
		k.Vendor, k.Status.Func = "x", "x.Words"
		k.Status.States = []policy.StateField{{At: []string{"status", "words", "*", "level"},
			Words: []string{"New", "Fine", "Poor"}}}
		funcs := Functions{Writers: map[string]Writer{"x.Words": func(Input) []Ancestor {
			return []Ancestor{{Conditions: []Condition{{"level", "Fine", "Fine", "all is well"}}}}
		}}}
		verdict, differ, _ := audited(t, r, funcs, "paint/demo/p")
		if all := strings.Join(differ, "\n"); string(verdict) != c.verdict || !strings.Contains(all, c.differ) ||
			c.differ == "" && all != "" {
			t.Errorf("%s: %s %s, want %s", c.name, verdict, all, c.verdict)
		}
	}
}
