package redact

import (
	"encoding/json"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Of a status stay the conditions, the object's own and those by ancestor, so that it can be
// audited; what they say may repeat a value.
func TestRedactedStatus(t *testing.T) {
	said := []any{map[string]any{"type": "Accepted", "status": "False", "reason": "Invalid",
		"message": "bad key secret", "observedGeneration": int64(2), "lastTransitionTime": "t"}}
	body := map[string]any{"status": map[string]any{"conditions": said, "detail": "secret",
		"ancestors": []any{map[string]any{"ancestorRef": map[string]any{"name": "gw", "sectionName": "web",
			"note": "secret"}, "controllerName": "c", "conditions": said}, map[string]any{}}}}
	got, err := json.Marshal(New(none).Object(&model.Object{Body: model.Pack(body, nil)}))
	if err != nil {
		t.Fatal(err)
	}
	const kept = `[{"observedGeneration":2,"reason":"Invalid","status":"False","type":"Accepted"}]`
	want := `{"status":{"ancestors":[{"ancestorRef":{"name":"gw","sectionName":"web"},"conditions":` + kept +
		`,"controllerName":"c"},{}],"conditions":` + kept + `}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func none(string, string) Use { return Dropped }
