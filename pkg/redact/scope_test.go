package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// What settings in parts are keeps no value but what tells rules and targets apart.
func TestRedactedParts(t *testing.T) {
	body := map[string]any{"apiVersion": "x.io/v1", "kind": "Paint", "metadata": map[string]any{"name": "p", "annotations": map[string]any{"a": "secret1"}},
		"spec": map[string]any{"targetRef": map[string]any{"kind": "House", "labels": map[string]any{"a": "b"}},
			"to": []any{map[string]any{"targetRef": map[string]any{"kind": "Room"}, "matches": []any{"/x"}, "default": map[string]any{"n": int64(42), "l": []any{"secret2", nil}}}}}}
	p := &policy.Policy{Object: &model.Object{Body: model.Pack(body, nil)}, Kind: &policy.Kind{Folding: policy.Folding{Scopes: []policy.Scope{{}}}, Spec: policy.Spec{Parts: []policy.Part{{Each: []string{"spec", "to"}}}}}}
	got, err := json.Marshal(Policy(p))
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []string{`"labels":{"a":"b"}`, `"matches":["/x"]`, `"n":"REDACTED"`, `"l":["REDACTED",null]`, `"kind":"Room"`} {
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

func TestWithoutInline(t *testing.T) {
	o := &model.Object{Body: model.Pack(map[string]any{"spec": map[string]any{"key": map[string]any{"inlineString": "secret"}, "mode": "on"}}, nil)}
	got, _ := json.Marshal(WithoutInline(o))
	if string(got) != `{"spec":{"key":{"inlineString":"REDACTED"},"mode":"on"}}` {
		t.Errorf("%s", got)
	}
}
