package main

import (
	"encoding/json"
	"reflect"
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
			if !reflect.DeepEqual(report[part], any(document(t, append(args, narrowed...)...))) {
				t.Errorf("%v: %s is not what %v says", narrowed, part, args)
			}
		}
	}
}
