package kuma

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// confs are layers of a stack, weakest first, written as JSON.
func confs(t *testing.T, texts ...string) merge.Stack {
	t.Helper()
	var s merge.Stack
	for _, text := range texts {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		units, _ := merge.LeafShape().CutSettings(v)
		s.Layers = append(s.Layers, merge.Layer{Blocks: []merge.Block{{Kind: merge.Bare, Units: units}}})
	}
	return s
}

// doc is what units say, as JSON.
func doc(units []merge.Unit) string {
	b, _ := json.Marshal(merge.Unpack(merge.Assemble(units)))
	return string(b)
}

// TestMerged is the table of Kuma.
func TestMerged(t *testing.T) {
	for _, test := range []struct {
		name  string
		confs []string
		want  string
	}{
		{"objects deep, the last wins", []string{`{"a":{"x":1,"y":1}}`, `{"a":{"y":2}}`}, `{"a":{"x":1,"y":2}}`},
		{"lists are replaced", []string{`{"l":[1,2]}`, `{"l":[3]}`}, `{"l":[3]}`},
		{"an empty list empties", []string{`{"l":[1,2]}`, `{"l":[]}`}, `{"l":[]}`},
		{"append lists are joined, duplicates kept", []string{`{"appendL":[1,2]}`, `{"appendL":[2]}`},
			`{"appendL":[1,2,2]}`},
		{"an empty append list changes nothing", []string{`{"appendL":[1]}`, `{"appendL":[]}`}, `{"appendL":[1]}`},
		{"joined at any depth", []string{`{"a":{"appendL":[1]}}`, `{"a":{"appendL":[2],"b":1}}`},
			`{"a":{"appendL":[1,2],"b":1}}`},
		{"not inside lists", []string{`{"l":[{"appendL":[1]}]}`, `{"l":[{"appendL":[2]}]}`}, `{"l":[{"appendL":[2]}]}`},
		{"a name that only begins so", []string{`{"appendix":[1]}`, `{"appendix":[2]}`}, `{"appendix":[2]}`},
		{"a scalar that is called so", []string{`{"appendL":1}`, `{"appendL":2}`}, `{"appendL":2}`},
		{"a null is not there", []string{`{"a":1,"b":{"c":1}}`, `{"a":null,"b":null}`}, `{"a":1,"b":{"c":1}}`},
		{"an object of nulls is empty", []string{`{"a":1,"b":{"c":null}}`}, `{"a":1,"b":{}}`},
		{"an object of nulls changes nothing", []string{`{"b":{"d":1}}`, `{"b":{"c":null}}`, `{"b":{"d":null}}`},
			`{"b":{"d":1}}`},
		{"an object of nulls is filled", []string{`{"b":{"c":null}}`, `{"b":{"d":1}}`}, `{"b":{"d":1}}`},
		{"a conf of nulls is empty", []string{`{"a":null}`}, `{}`},
		{"an object of nulls in place of a scalar", []string{`{"a":1}`, `{"a":{"x":null}}`}, `{"a":{}}`},
		{"an empty object changes nothing", []string{`{"a":{"x":1}}`, `{"a":{}}`}, `{"a":{"x":1}}`},
		{"an empty object leaves an empty one in it", []string{`{"a":{"b":{}}}`, `{"a":{}}`}, `{"a":{"b":{}}}`},
		{"an empty object leaves all that is in it", []string{`{"a":{"x":1,"b":{}}}`, `{"a":{}}`},
			`{"a":{"b":{},"x":1}}`},
		{"an empty object in place of a scalar", []string{`{"a":1}`, `{"a":{}}`}, `{"a":{}}`},
		{"an empty object is filled", []string{`{"a":{}}`, `{"a":{"x":1}}`}, `{"a":{"x":1}}`},
		{"an object in place of a scalar", []string{`{"a":1}`, `{"a":{"x":1}}`}, `{"a":{"x":1}}`},
		{"a scalar in place of an object", []string{`{"a":{"x":1,"y":2}}`, `{"a":1}`}, `{"a":1}`},
	} {
		units, effects := foldConfs(confs(t, test.confs...))
		if got := doc(units); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		accounted(t, test.name, confs(t, test.confs...), effects)
	}
}

// accounted checks that every unit of every layer was taken, joined or lost.
func accounted(t *testing.T, name string, s merge.Stack, effects []merge.Effect) {
	t.Helper()
	for i, l := range s.Layers {
		for _, u := range l.Blocks[0].Units {
			if !slices.ContainsFunc(effects, func(e merge.Effect) bool {
				return e.Rule == u.Path.String() &&
					e.From[0].Layer == i
			}) {
				t.Errorf("%s: nothing is said of %s of layer %d", name, u.Path, i)
			}
		}
	}
}

// TestMergedJoinsSources checks that a joined list has all its writers, and a replaced one a loser.
func TestMergedJoinsSources(t *testing.T) {
	units, effects := foldConfs(confs(t, `{"appendL":[1],"a":1}`, `{"appendL":[2],"a":2}`))
	for _, u := range units {
		if want := map[string]int{"appendL": 2, "a": 1}[u.Path.String()]; len(u.From) != want {
			t.Errorf("%s has %d sources, want %d", u.Path, len(u.From), want)
		}
	}
	lost := 0
	for _, e := range effects {
		if e.Action == merge.Replaced {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d losses, want one", lost)
	}
}

// TestRouteTable checks the order of rules.
func TestRouteTable(t *testing.T) {
	rule := func(path, field string) string {
		return fmt.Sprintf(`{"matches":[{"path":%q}],"default":{%q:[%q]}}`, path, field, path)
	}
	weak := `{"rules":[` + rule("/x", "filters") + `,` + rule("/y", "backendRefs") + `,` + rule("/z", "filters") + `]}`
	strong := `{"rules":[` + rule("/s", "filters") + `,` + rule("/y", "filters") + `]}`
	units, _ := foldRouteTable(confs(t, weak, strong))
	want := `{"rules":[` + rule("/s", "filters") +
		`,{"default":{"backendRefs":["/y"],"filters":["/y"]},"matches":[{"path":"/y"}]},` + rule("/x", "filters") +
		`,` + rule("/z", "filters") + `]}`
	var a, b any
	_ = json.Unmarshal([]byte(doc(units)), &a)
	_ = json.Unmarshal([]byte(want), &b)
	if !merge.Equal(a, b) {
		t.Errorf("%s\nwant %s", doc(units), want)
	}
}

// TestInboundRules checks the order of matches.
func TestInboundRules(t *testing.T) {
	units, _ := foldInboundRules(confs(t,
		`{"default":{"n":1}}`,
		`{"matches":[{"spiffeID":{"type":"Prefix","value":"p"}},{"sni":{"value":"s"}}],"default":{"n":2}}`,
		`{"matches":[{"spiffeID":{"type":"Exact","value":"e"}}],"default":{"n":3}}`,
		`{"default":{"n":4}}`))
	var got []any
	for _, u := range units {
		entry := merge.Unpack(u.Value).(map[string]any)
		got = append(got, entry["default"].(map[string]any)["n"])
	}
	if fmt.Sprint(got) != "[3 2 2 1 4]" {
		t.Errorf("order %v", got)
	}
}
