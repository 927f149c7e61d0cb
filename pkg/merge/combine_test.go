package merge

import (
	"strings"
	"testing"
)

func TestPatchOrder(t *testing.T) { // a strategic merge patch, worked out with the library of Kubernetes
	for _, c := range []struct{ target, patch, want string }{
		{"A B", "C", "C A B"},
		{"S P", "S R", "S R P"},
		{"A B C", "C", "A B C"},
		{"A B C", "R C", "R A B C"},
		{"A B C D", "D R B", "A C D R B"},
		{"A B", "D B A", "D B A"},
		{"", "A", "A"},
		{"A", "", "A"},
	} {
		if got := strings.Join(patchOrder(strings.Fields(c.target), strings.Fields(c.patch)), " "); got != c.want {
			t.Errorf("%s + %s: %s, want %s", c.target, c.patch, got, c.want)
		}
	}
}

// overlaid folds a lower layer over a higher one, merge defaults.
func overlaid(t *testing.T, shape Shape, higher, lower any) Result {
	t.Helper()
	layer := func(level string, settings any) Layer {
		units, odd := shape.CutSettings(settings)
		if odd != nil {
			t.Fatal(odd)
		}
		return Layer{Level: level, Blocks: []Block{{Kind: Bare, Units: units, Strategy: Strategy{Cut: Rules}}}}
	}
	return Fold([]Plan{{}}, shape, Stack{Layers: []Layer{layer("gateway", higher), layer("route", lower)}})
}

func TestAppend(t *testing.T) {
	shape := Shape{{Path: Path{{Form: Deep}}}, {Path: Path{{Form: Deep}, {Name: "append", Form: Prefix}}, Append: true}}
	list := func(v ...any) any { return v }
	for _, c := range []struct {
		name                string
		higher, lower, want any
		sources, lost       int
	}{
		{"joined, the established first", list("a"), list("b", "a"), list("a", "b", "a"), 2, 0},
		{"an empty list adds nothing", list("a"), list(), list("a"), 1, 1},
		{"nothing to add to", list(), list("b"), list("b"), 1, 1},
		{"no lists: the lower one", "a", list("b"), list("b"), 1, 1},
	} {
		r := overlaid(t, shape, map[string]any{"deep": map[string]any{"appendMatch": c.higher, "appended": "x"},
			"match": list("old")},
			map[string]any{"deep": map[string]any{"appendMatch": c.lower, "appended": "y"}, "match": list("new")})
		doc := r.Document().(map[string]any)
		deep := doc["deep"].(map[string]any)
		if !Equal(deep["appendMatch"], c.want) || deep["appended"] != "y" || !Equal(doc["match"], list("new")) {
			t.Errorf("%s: %v", c.name, doc)
		}
		rule := r.Rules[0]
		if rule.Name != "deep.appendMatch" || len(rule.From) != c.sources || len(rule.Lost) != c.lost {
			t.Errorf("%s: %+v", c.name, rule)
		}
	}
}

func TestKeyedListInPatchOrder(t *testing.T) {
	shape := Shape{{Path: Path{{Form: Deep}}}, {Path: KeyPath("compressor"), Keys: []string{"type"}, As: Entry,
		Order: PatchOrder}}
	entry := func(name string, more ...string) any {
		m := map[string]any{"type": name}
		for _, k := range more {
			m[k] = map[string]any{}
		}
		return m
	}
	r := overlaid(t, shape, map[string]any{"compressor": []any{entry("Brotli", "brotli"), entry("Gzip", "gzip")},
		"x": int64(1)},
		map[string]any{"compressor": []any{entry("Zstd"), entry("Gzip", "extra")}})
	want := map[string]any{"compressor": []any{entry("Zstd"), entry("Brotli", "brotli"),
		entry("Gzip", "gzip", "extra")}, "x": int64(1)}
	if !Equal(r.Document(), want) {
		t.Errorf("%v", r.Document())
	}
	for _, rule := range r.Rules {
		if sources := map[string]int{"compressor[Gzip]": 2}[rule.Name]; sources != 0 && len(rule.From) != sources {
			t.Errorf("%+v", rule)
		}
	}
}

func TestCombineByFunction(t *testing.T) {
	calls := 0
	shape := Shape{{Path: KeyPath("acl"), Combine: func(established, lower Unit, _ Side) (Unit, []Effect) {
		calls++
		if Equal(established.Value, lower.Value) {
			return Unit{}, nil // the strategy decides
		}
		return Unit{Path: lower.Path, Value: "both", From: sourcesOf([]Unit{established, lower})}, nil
	}}, {Path: Path{{Form: Any}}}}
	if r := overlaid(t, shape, map[string]any{"acl": "a", "b": "h"}, map[string]any{"acl": "c",
		"b": "l"}); !Equal(r.Document(), map[string]any{"acl": "both", "b": "l"}) || calls != 1 {
		t.Errorf("%v after %d calls", r.Document(), calls)
	}
	if r := overlaid(t, shape, map[string]any{"acl": "a"}, map[string]any{"acl": "a"}); len(r.Rules[0].From) != 1 ||
		len(r.Rules[0].Lost) != 1 {
		t.Errorf("%+v", r.Rules)
	}
}
