package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// What settings in parts are keeps no value but what tells rules and targets apart.
func TestRedactedParts(t *testing.T) {
	body := map[string]any{"apiVersion": "x.io/v1", "kind": "Paint", "metadata": map[string]any{"name": "p",
		"annotations": map[string]any{"a": "secret1"}},
		"spec": map[string]any{"targetRef": map[string]any{"kind": "House", "labels": map[string]any{"a": "b"}},
			"to": []any{map[string]any{"targetRef": map[string]any{"kind": "Room"},
				"matches": []any{map[string]any{"path": map[string]any{"value": "/x"},
					"headers": []any{map[string]any{"name": "h", "value": "secret3"}}}}, "default": map[string]any{
					"n": int64(42), "l": []any{"secret2", nil}}}}}}
	p := &policy.Policy{Object: &model.Object{Body: model.Pack(body, nil)},
		Kind: &policy.Kind{Folding: policy.Folding{Scopes: []policy.Scope{{}}},
			Spec: policy.Spec{Parts: []policy.Part{{List: []string{"spec", "to"}}}}}}
	got, err := json.Marshal(New(none).Policy(p))
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []string{`"labels":{"a":"b"}`,
		`"matches":[{"headers":[{"name":"h","value":"REDACTED-1"}],"path":{"value":"/x"}}]`, `"n":"REDACTED"`,
		`"l":["REDACTED",null]`, `"kind":"Room"`} {
		if !strings.Contains(string(got), keep) {
			t.Errorf("%s is missing in %s", keep, got)
		}
	}
	for _, gone := range []string{"secret", "42"} {
		if strings.Contains(string(got), gone) {
			t.Errorf("%s is left in %s", gone, got)
		}
	}
}

// Of workloads neither environment nor commands stay, and of other objects that are read no text
// but what refers; numbers do.
func TestRedactedRead(t *testing.T) {
	r := New(none)
	pod := r.DependencyObject(&model.Object{Ref: model.Ref{Kind: "Pod"},
		Body: model.Pack(map[string]any{"kind": "Pod",
			"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "secret",
				"command": []any{"secret"}, "env": []any{map[string]any{"name": "A", "value": "secret"}},
				"ports": []any{
					map[string]any{"containerPort": int64(80)}}}}}}, nil)})
	other := r.DependencyObject(&model.Object{Ref: model.Ref{Group: "example.com", Kind: "Mesh"},
		Body: model.Pack(map[string]any{"kind": "Mesh", "data": "secret",
			"spec": map[string]any{"key": map[string]any{"inlineString": "secret"}, "port": int64(5),
				"to": map[string]any{"name": "b"}}}, nil)})
	got, _ := json.Marshal([]any{pod, other, fmt.Sprint(r.IncompleteObjects())})
	const want = `[{"kind":"Pod","spec":{"containers":[{"image":"REDACTED","name":"web","ports":[{"containerPort":80}]}]}},` +
		`{"kind":"Mesh","spec":{"key":{"inlineString":"REDACTED"},"port":5,"to":{"name":"b"}}},"map[Mesh.example.com:1]"]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
