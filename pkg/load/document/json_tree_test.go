package document

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// FuzzReadTree: what servers write is read without nodes in between, and means the same as in a
// manifest.
func FuzzReadTree(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, 1.0, 1e3, -0, 12345678901234567890, 0.1, true, null, "x"], "b": {"c": {}}}`, `[]`, `"\ud83d\ude00"`,
		`{"a": 1, "a": 2}`, `{"a":`,
		`1e999`, strings.Repeat("[", 200), `{"on": "yes", "y": {"": ""}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := DefaultLimits()
		got, err := newTreeReader([]byte(text), newTextCache(), limits).readToEnd(otherPart)
		if err != nil {
			return
		}
		nodes, failed := parseJSON([]byte(text), 1, limits)
		if failed != nil || len(nodes) != 1 {
			return // the tokens of the two libraries differ in what they refuse
		}
		c := &converter{firstLine: 1, texts: newTextCache(), shared: map[*yaml.Node]any{}}
		want, failed := c.convertValue(nodes[0])
		if failed != nil {
			return
		}
		if a, b := toGoValue(got, map[*tree]any{}), toGoValue(want, map[*tree]any{}); !reflect.DeepEqual(a, b) {
			t.Errorf("%s is read as %#v, in a manifest as %#v", text, a, b)
		}
	})
}

// TestReadAnswer: of what a server says, managed fields are left out; fields of that name elsewhere
// are kept. Items are handed over one by one.
func TestReadAnswer(t *testing.T) {
	text := `{"metadata": {"continue": "next", "managedFields": [], "x": {"y": [1, 2]}}, "apiVersion": "v1", "items": [
		{"metadata": {"name": "a\u0062", "managedFields": [{"x": {"metadata": {}}}], "labels": {"a": "b"}}, "spec": {"managedFields": [1], "metadata": {"managedFields": 2}}},
		5, {"large": [` + strings.Repeat(`{"a": 1}, `, 1000) + `2]},
		{"metadata": {"name": "c"}, "items": [{"metadata": {"managedFields": 3}}]}
	], "kind": "AList"}`
	meta := map[string]any{"continue": "next", "x": map[string]any{"y": []any{int64(1), int64(2)}}}
	first := map[string]any{"metadata": map[string]any{"name": "ab", "labels": map[string]any{"a": "b"}},
		"spec": map[string]any{"managedFields": []any{int64(1)}, "metadata": map[string]any{"managedFields": int64(2)}}}
	last := map[string]any{"metadata": map[string]any{"name": "c"},
		"items": []any{map[string]any{"metadata": map[string]any{"managedFields": int64(3)}}}}
	var taken []any
	v, items, err := readServerAnswer([]byte(text), newTextCache(), DefaultLimits(),
		func(item any) { taken = append(taken, toGoValue(item, map[*tree]any{})) })
	if err != nil || items != 4 {
		t.Fatalf("%d items, %v", items, err)
	}
	if got, want := toGoValue(v, map[*tree]any{}), map[string]any{"apiVersion": "v1", "items": []any{},
		"kind": "AList", "metadata": meta}; !reflect.DeepEqual(got, want) {
		t.Errorf("beside the items it is read as\n%v, want\n%v", got, want)
	}
	if len(taken) != 4 || !reflect.DeepEqual(taken[0], first) || taken[1] != int64(5) ||
		!reflect.DeepEqual(taken[3], last) {
		t.Errorf("the items are %v", taken)
	}
	if large := taken[2].(map[string]any)["large"].([]any); len(large) != 1001 ||
		!reflect.DeepEqual(large[999], map[string]any{"a": int64(1)}) {
		t.Errorf("the large item has %d entries", len(large))
	}
	kept, items, err := readServerAnswer([]byte(text), newTextCache(), DefaultLimits(), nil)
	if got := toGoValue(kept, map[*tree]any{}).(map[string]any)["items"]; err != nil || items != 4 ||
		!reflect.DeepEqual(got, taken) {
		t.Errorf("kept, the items are %v", got)
	}
}

// TestReadAnswerRefuses: what is no JSON, and what is nested too deep.
func TestReadAnswerRefuses(t *testing.T) {
	for _, take := range []func(any){nil, func(any) {}} {
		for _, broken := range []string{`{"items": [{"a": ]}`, `{"items": [1, {"metadata": {"managedFields": [}}]}`,
			`{1: 2}`, `{} {}`, `{"items": [{"a": 1}`} {
			if v, _, err := readServerAnswer([]byte(broken), newTextCache(), DefaultLimits(), take); err == nil {
				t.Errorf("%s is read as %v", broken, toGoValue(v, map[*tree]any{}))
			}
		}
		deep := strings.Repeat("[", DefaultLimits().Depth-2) + strings.Repeat("]", DefaultLimits().Depth-2)
		if _, _, err := readServerAnswer([]byte(`{"items": [`+deep+`]}`), newTextCache(), DefaultLimits(),
			take); err != nil {
			t.Errorf("as deep as allowed: %v", err)
		}
		if _, _, err := readServerAnswer([]byte(`{"items": [[`+deep+`]]}`), newTextCache(), DefaultLimits(),
			take); !errors.Is(err, errTooDeep) {
			t.Errorf("too deep: %v", err)
		}
	}
}
