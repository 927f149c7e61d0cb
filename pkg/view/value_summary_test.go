package view

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

func TestSummaries(t *testing.T) {
	var s summarizer
	for field, text := range map[string]string{"limits/*/rates/*": "{limit} per {window}",
		"auth/*/jwt": "JWT {issuerUrl}", "auth/*/anonymous": "anonymous", "auth/*/key": "apiKey {}"} {
		summary, ok := policy.NewSummary(splitPath(field), text)
		if !ok {
			t.Fatal(text)
		}
		s = append(s, summary)
	}
	for _, tc := range []struct{ name, path, value, want string }{
		{"a scalar", "x", "30s", "30s"},
		{"an empty text", "x", `""`, `""`},
		{"a number", "x", "0.5", "0.5"},
		{"a small object is unfolded", "x", "{request: 5s, idle: 60s}", "idle: 60s, request: 5s"},
		{"scalars come first", "x", "{a: {b: {c: 1, d: 2}, e: 3}, z: 1}", "z: 1, a: {e: 3, b: {c: 1, d: 2}}"},
		{"names of entries", "x", "[{name: a, v: 1}, {name: b, v: 2}]", "a, b"},
		{"a count before names", "x", "{providers: [{name: a}, {name: b}, {name: c}]}", "3 providers: a, b, c"},
		{"entries without names", "x", "[{v: 1}, {v: 2}]", "v: 1; v: 2"},
		{"an empty object", "x", "{}", "{}"},
		{"an empty list", "x", "[]", "[]"},
		{"the first line", "x", `"allow {\n  true\n}"`, "allow { …"},
		{"a field with a summary", "limits/cap", "{rates: [{limit: 100, window: 1s}]}", "100 per 1s"},
		{"two entries with a summary", "limits/cap",
			"{rates: [{limit: 100, window: 1s}, {limit: 9, window: 1m, burst: 2}]}", "100 per 1s, 9 per 1m …"},
		{"what a summary leaves out follows", "limits/cap",
			"{rates: [{limit: 100, window: 1s, burst: 5}], counters: [ip]}", "100 per 1s, burst: 5, counters: ip"},
		{"a summary whose field is missing", "limits/cap", "{rates: [{limit: 100}]}", "rates: limit: 100"},
		{"a summary of a field of the rule", "auth/customers", "{jwt: {issuerUrl: https://id.example.com}}",
			"JWT https://id.example.com"},
		{"a summary without fields", "auth/public", "{anonymous: {}}", "anonymous"},
		{"a summary of the whole", "auth/baker", "{key: {selector: {app: baker}}}", "apiKey selector.app: baker"},
		{"a long text is cut at its end", "x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"},
	} {
		var value any
		if err := yaml.Unmarshal([]byte(tc.value), &value); err != nil {
			t.Fatal(err)
		}
		var path merge.Path
		for _, name := range splitPath(tc.path) {
			path = append(path, merge.Segment{Name: name})
		}
		if got := s.summarizeValue(path, value); got != tc.want {
			t.Errorf("%s: %s is %q, want %q", tc.name, tc.value, got, tc.want)
		}
	}
}

// TestSummariesEnd follows values that are deep and wide.
func TestSummariesEnd(t *testing.T) {
	var deep any = "end"
	for range 10_000 {
		deep = map[string]any{"a": []any{deep}}
	}
	if got := (summarizer)(nil).summarizeValue(nil, deep); len([]rune(got)) > summaryWidth {
		t.Errorf("got %q", got)
	}
}

func splitPath(path string) []string { return strings.Split(path, "/") }
