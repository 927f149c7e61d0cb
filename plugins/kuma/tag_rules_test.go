package kuma

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// rules are tag rules in short: "a=1 b!=2: conf".
func rules(units []merge.Unit) []string {
	var out []string
	doc, _ := merge.Unpack(merge.Assemble(units)).(map[string]any)
	list, _ := doc["rules"].([]any)
	for _, entry := range list {
		rule := entry.(map[string]any)
		var words []string
		for _, t := range rule["subset"].([]any) {
			tag := t.(map[string]any)
			sign := "="
			if tag["not"] == true {
				sign = "!="
			}
			words = append(words, fmt.Sprint(tag["key"], sign, tag["value"]))
		}
		out = append(out, fmt.Sprint(strings.Join(words, " "), ": ", rule["default"]))
	}
	return out
}

// TestTagRules is Kuma.
func TestTagRules(t *testing.T) {
	mesh := `{"targetRef":{"kind":"Mesh"},"default":{"v":"mesh"}}`
	team := func(v string) string {
		return `{"targetRef":{"kind":"MeshSubset","tags":{"team":"` + v + `"}},"default":{"v":"` + v + `"}}`
	}
	for _, test := range []struct {
		name      string
		negations bool
		items     []string
		want      []string
	}{
		{"one rule for all", true, []string{mesh}, []string{": map[v:mesh]"}},
		{"what an item says and the rest", true, []string{mesh, team("a")}, []string{"team=a: map[v:a]",
			"team!=a: map[v:mesh]"}},
		{"what nobody covers has no rule", true, []string{team("a")}, []string{"team=a: map[v:a]"}},
		{"two values cannot meet: each is a group of its own, the last first", true,
			[]string{mesh, team("a"), team("b")},
			[]string{"team=b: map[v:b]", "team=a: map[v:a]", "team!=b: map[v:mesh]", "team!=a: map[v:mesh]"}},
		{"outbounds by one key need no negations", false, []string{mesh, team("a"), team("b"), team("a")},
			[]string{"team=a: map[v:a]", "team=b: map[v:b]", ": map[v:mesh]"}},
		{"two keys meet", true,
			[]string{team("a"), `{"targetRef":{"kind":"MeshService","name":"s"},"default":{"w":1}}`},
			[]string{"kuma.io/service=s team=a: map[v:a w:1]", "kuma.io/service!=s team=a: map[v:a]",
				"kuma.io/service=s team!=a: map[w:1]"}},
		{"resources are not tags", true,
			[]string{`{"targetRef":{"kind":"MeshExternalService","name":"s"},"default":{"w":1}}`}, nil},
	} {
		units, effects := foldTagRules(confs(t, test.items...), test.negations)
		if got := rules(units); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
			t.Errorf("%s:\n%q, want\n%q", test.name, got, test.want)
		}
		if len(units)+len(effects) == 0 {
			t.Errorf("%s: nothing is said", test.name)
		}
	}
}
