package load

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// FuzzReadTree: what servers write is read without nodes in between, and means the same as in a manifest.
func FuzzReadTree(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, 1.0, 1e3, -0, 12345678901234567890, 0.1, true, null, "x"], "b": {"c": {}}}`, `[]`, `"\ud83d\ude00"`, `{"a": 1, "a": 2}`, `{"a":`,
		`1e999`, strings.Repeat("[", 200), `{"on": "yes", "y": {"": ""}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := DefaultLimits()
		got, err := readTree([]byte(text), newWords(), limits)
		if err != nil {
			return
		}
		nodes, failed := parseJSON([]byte(text), 1, limits)
		if failed != nil || len(nodes) != 1 {
			return // the tokens of the two libraries differ in what they refuse
		}
		c := &converter{first: 1, words: newWords(), shared: map[*yaml.Node]any{}}
		want, failed := c.value(nodes[0])
		if failed != nil {
			return
		}
		if a, b := goValue(got, map[*tree]any{}), goValue(want, map[*tree]any{}); !reflect.DeepEqual(a, b) {
			t.Errorf("%s is read as %#v, in a manifest as %#v", text, a, b)
		}
	})
}

// FuzzSnapshot: whatever follows the beginning of a snapshot, nothing panics, and no origin names a file.
func FuzzSnapshot(f *testing.F) {
	for _, seed := range []string{"", "cluster: prod\n", "cluster: prod\ngaps: [{kind: Gateway}]\n---\n{apiVersion: v1, kind: A, metadata: {name: a}}\n", "cluster: [\n", "a: &a [*a]\n"} {
		f.Add(seed, false)
	}
	for _, seed := range []string{`"cluster": "prod"}`, `"cluster": "prod", "items": [{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}], "kinds": null}`, `"items": {}}`, `"items": [`} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, rest string, isJSON bool) {
		text := "apiVersion: dopolicy.dev/v1alpha1\nkind: Snapshot\n" + rest
		if isJSON {
			text = `{"apiVersion": "dopolicy.dev/v1alpha1", "kind": "Snapshot", ` + rest
		}
		s, err := Files(context.Background(), Options{Paths: []string{"-"}, Stdin: strings.NewReader(text), Limits: Limits{Document: 1 << 20, Nodes: 100_000, Repeated: 1000}})
		if err != nil && !errors.Is(err, ErrNothingReadable) {
			t.Fatal(err)
		}
		for _, o := range s.Objects {
			if o.Origin.Cluster == "" || o.Origin.File != "" || o.OriginOf("metadata", "name").Line != 0 {
				t.Errorf("%s is from %+v", o.Ref, o.OriginOf("metadata", "name"))
			}
		}
		if _, err := json.Marshal(s.Problems); err != nil {
			t.Error(err)
		}
	})
}

// TestReadAnswer: of what a server says, managed fields are left out and items that are not wanted, which count all the same; fields of
// these names elsewhere are kept.
func TestReadAnswer(t *testing.T) {
	text := `{"apiVersion": "v1", "items": [
		{"metadata": {"name": "a\u0062", "managedFields": [{"x": {"metadata": {}}}], "labels": {"a": "b"}}, "spec": {"managedFields": [1], "metadata": {"managedFields": 2}}},
		{"metadata": {"name": "unwanted"}},
		{"metadata": {"name": "c"}, "items": [{"metadata": {"managedFields": 3}}]}
	], "kind": "AList", "metadata": {"continue": "next", "managedFields": []}}`
	v, items, err := readAnswer([]byte(text), newWords(), DefaultLimits(), func(item any) bool {
		return asMap(asMap(item).at("metadata")).text("name") != "unwanted"
	})
	if err != nil || items != 3 {
		t.Fatalf("%d items, %v", items, err)
	}
	want := map[string]any{"apiVersion": "v1", "items": []any{
		map[string]any{"metadata": map[string]any{"name": "ab", "labels": map[string]any{"a": "b"}},
			"spec": map[string]any{"managedFields": []any{int64(1)}, "metadata": map[string]any{"managedFields": int64(2)}}},
		map[string]any{"metadata": map[string]any{"name": "c"}, "items": []any{map[string]any{"metadata": map[string]any{"managedFields": int64(3)}}}},
	}, "kind": "AList", "metadata": map[string]any{"continue": "next"}}
	if got := goValue(v, map[*tree]any{}); !reflect.DeepEqual(got, want) {
		t.Errorf("read as\n%v, want\n%v", got, want)
	}
	for _, broken := range []string{`{"items": [{"a": ]}`, `{"items": [1, {"metadata": {"managedFields": [}}]}`, `{1: 2}`, `{} {}`, `{"items": [{"a": 1}`} {
		if v, _, err := readAnswer([]byte(broken), newWords(), DefaultLimits(), func(any) bool { return true }); err == nil {
			t.Errorf("%s is read as %v", broken, goValue(v, map[*tree]any{}))
		}
	}
	deep := strings.Repeat("[", DefaultLimits().Depth-2) + strings.Repeat("]", DefaultLimits().Depth-2)
	for _, wanted := range []func(any) bool{nil, func(any) bool { return true }} {
		if _, _, err := readAnswer([]byte(`{"items": [`+deep+`]}`), newWords(), DefaultLimits(), wanted); err != nil {
			t.Errorf("as deep as allowed: %v", err)
		}
		if _, _, err := readAnswer([]byte(`{"items": [[`+deep+`]]}`), newWords(), DefaultLimits(), wanted); !errors.Is(err, errTooDeep) {
			t.Errorf("too deep: %v", err)
		}
	}
}
