package model_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestAppendJSONWritesWhatEncodingJSONWrites(t *testing.T) {
	content := content()
	content["odd"] = []any{"<a> & \"b\" \\ \t\n\u2028 \x7f \xff é 😀", "", `auth.identity.team == "infra"`, `\`, `"\"`,
		1e21, 1.0, -0.25, 1e-7}
	content["k<\"\n"] = map[string]any{"z": nil, "a": map[string]any{}, "m": []any{}}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	if err := e.Encode(content); err != nil {
		t.Fatal(err)
	}
	packed := model.Pack(content, nil)
	for name, v := range map[string]any{"maps": content, "packed": packed,
		"packed within": map[string]any{"x": []any{packed}}} {
		got, want := string(model.AppendJSON(nil, v))+"\n", want.String()
		if name == "packed within" {
			want = `{"x":[` + want[:len(want)-1] + "]}\n"
		}
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	text, err := json.Marshal(packed)
	plain, errPlain := json.Marshal(content)
	if string(text) != string(plain) || err != nil || errPlain != nil {
		t.Errorf("got\n%s\nwant\n%s", text, plain)
	}
}
