package canarytest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// answer is as much of a report as does not depend on values: what is in force where, and from
// which policies.
type answer struct {
	Complete  bool `json:"complete"`
	Effective struct {
		Items []struct {
			PolicyKind any   `json:"policyKind"`
			Target     any   `json:"target"`
			Paths      []any `json:"paths"`
			Rules      []struct {
				Name    string `json:"name"`
				Sources []struct {
					Policy any `json:"policy"`
				} `json:"sources"`
			} `json:"rules"`
		} `json:"items"`
	} `json:"effective"`
}

// TestWinners: without values a complete answer has the same targets, and the same policies in
// force on them, as with values.
func TestWinners(t *testing.T) {
	same, incomplete := 0, 0
	each(t, func(t *testing.T, objects []map[string]any) {
		if !sampled(t, 4) {
			return
		}
		file := written(t, objects)
		whole, less := read(t, file), read(t, file, "--redact")
		switch {
		case !less.Complete:
			incomplete++
		case reflect.DeepEqual(whole.sources(), less.sources()):
			same++
		default:
			a, _ := json.Marshal(whole.sources())
			b, _ := json.Marshal(less.sources())
			t.Errorf("complete, and another answer:\nwith    %s\nwithout %s", a, b)
		}
	})
	t.Logf("%d answers are the same, %d are incomplete", same, incomplete)
	if same < 30 {
		t.Errorf("only %d answers are complete without values", same)
	}
}

func read(t *testing.T, file string, more ...string) answer {
	t.Helper()
	text := run(t, append([]string{"report", "-A", "-f", file, "-o", "json", "--config", "none"}, more...)...)
	var out answer
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil {
		t.Skipf("no report: %.200s", text)
	}
	return out
}

// sources are the policies in force, by kind and target.
func (a answer) sources() map[string]any {
	out := map[string]any{}
	for _, item := range a.Effective.Items {
		key, _ := json.Marshal([]any{item.PolicyKind, item.Target, item.Paths})
		var all []any
		for _, r := range item.Rules {
			for _, source := range r.Sources {
				all = append(all, []any{r.Name, source.Policy})
			}
		}
		out[string(key)] = all
	}
	return out
}
