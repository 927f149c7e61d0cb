package main

import (
	"encoding/json"
	"reflect"
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

// TestPointsAreWhatRequestSays: the points that are told of a rule are those of the request that is
// named with them.
func TestPointsAreWhatRequestSays(t *testing.T) {
	const mesh = "../../testdata/demo-mesh"
	var report struct {
		Classes struct {
			Items []struct {
				Example, Verdict string
				Path             []any
			}
		}
	}
	if err := json.Unmarshal(answer(t, mesh, "report", "-o", "json"), &report); err != nil {
		t.Fatal(err)
	}
	bypassed := 0
	for _, of := range report.Classes.Items {
		var got struct {
			Verdict string
			Path    []any
		}
		if err := json.Unmarshal(answer(t, mesh, append([]string{"request", "-o", "json"},
			strings.Fields(of.Example)...)...), &got); err != nil {
			t.Fatal(err)
		}
		if of.Verdict != got.Verdict || !reflect.DeepEqual(of.Path, got.Path) || len(of.Path) < 3 {
			t.Errorf("%s: %s %v, want %s %v", of.Example, of.Verdict, of.Path, got.Verdict, got.Path)
		}
		for _, p := range of.Path {
			if p.(map[string]any)["verdict"] == "bypassed" {
				bypassed++
			}
		}
	}
	if len(report.Classes.Items) != 2 || bypassed != 1 {
		t.Errorf("%d rules, %d points are bypassed", len(report.Classes.Items), bypassed)
	}
}
