package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestClassesAreWhatRequestSays: the request that is shown for a class is taken by its rule.
func TestClassesAreWhatRequestSays(t *testing.T) {
	type ref struct{ Kind, Namespace, Name, Section string }
	var report struct {
		Classes struct {
			Items []struct {
				Rule    ref
				Classes []struct {
					Command, Unknown string
					Listener         ref
				}
			}
		}
	}
	if err := json.Unmarshal(answer(t, demo, "report", "-o", "json"), &report); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, of := range report.Classes.Items {
		for _, c := range of.Classes {
			if c.Unknown != "" || !strings.HasPrefix(c.Command, "curl ") {
				continue
			}
			asked++
			var got struct {
				Listener string
				Route    ref
			}
			if err := json.Unmarshal(answer(t, demo, "request", "--curl", c.Command, "--gateway", c.Listener.Namespace+
				"/"+c.Listener.Name, "-o", "json"), &got); err != nil {
				t.Fatal(err)
			}
			if got.Route != of.Rule || got.Listener != c.Listener.Section {
				t.Errorf("%s: %+v at %s, want %+v", c.Command, got.Route, got.Listener, of)
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d requests", asked)
	}
}
