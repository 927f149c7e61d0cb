package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const demo = "../../testdata/demo"

// document is an answer as JSON.
func document(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(answer(t, demo, append(args, "-o", "json")...), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPartsAreWhatTheCommandsSay holds every part of a report against the command that answers it,
// narrowed as well.
func TestPartsAreWhatTheCommandsSay(t *testing.T) {
	for _, narrowed := range [][]string{{"-A"}, {"-n", "bakery"}, {"-n", "shop", "--policy-kind", "authpolicy"}} {
		report := document(t, append([]string{"report"}, narrowed...)...)
		for part, args := range map[string][]string{"topology": {"graph"}, "effective": {"effective"},
			"overridden": {"overridden"}, "status": {"status", "--all"},
			"findings": {"check", "--fail-on", "none", "--show-suppressed"}} {
			if !reflect.DeepEqual(withoutSummaries(report[part]), any(document(t, append(args, narrowed...)...))) {
				t.Errorf("%v: %s is not what %v says", narrowed, part, args)
			}
		}
	}
}

// withoutSummaries returns a part without the short forms of values, which only reports have.
func withoutSummaries(part any) any {
	switch part := part.(type) {
	case []any:
		out := make([]any, len(part))
		for i, v := range part {
			out[i] = withoutSummaries(v)
		}
		return out
	case map[string]any:
		_, isSetting := part["value"]
		out := map[string]any{}
		for key, v := range part {
			if key != "summary" || !isSetting {
				out[key] = withoutSummaries(v)
			}
		}
		return out
	}
	return part
}

// TestReportsSayValuesAsTablesDo holds the short form of every value in a report against the table
// of effective.
func TestReportsSayValuesAsTablesDo(t *testing.T) {
	report := document(t, "report")
	table := string(answer(t, demo, "effective", "-A", "--by-rule"))
	said := 0
	for _, item := range report["effective"].(map[string]any)["items"].([]any) {
		for _, rule := range item.(map[string]any)["rules"].([]any) {
			summary, _ := rule.(map[string]any)["summary"].(string)
			if summary == "" || !strings.Contains(table, summary) {
				t.Errorf("%v is said as %q, which the table does not have", rule.(map[string]any)["name"], summary)
			}
			said++
		}
	}
	for _, item := range report["overridden"].(map[string]any)["items"].([]any) {
		if item.(map[string]any)["summary"] == nil {
			t.Errorf("an overridden setting has no summary: %v", item)
		}
	}
	if said == 0 {
		t.Error("nothing is in force")
	}
}
