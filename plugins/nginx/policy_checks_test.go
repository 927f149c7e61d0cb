package nginx

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "512": 512, "8k": 8 << 10, "8K": 8 << 10, "2m": 2 << 20,
		"1g": 1 << 30, "": -1, "k": -1, "8kk": -1, "-1": -1, "8x": -1, "999999999999": -1} {
		got, ok := parseSize(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d %v, want %d", text, got, ok, want)
		}
	}
}

// routeOf is a route with rules as JSON values.
func routeOf(kind string, rules any) *topology.Node {
	return &topology.Node{Role: topology.Route, Ref: model.Ref{Kind: kind},
		Object: &model.Object{Body: model.Pack(map[string]any{"spec": map[string]any{"rules": rules}}, nil)}}
}

type object = map[string]any

func TestPathsOf(t *testing.T) { // the paths that a route's matches come to, whatever their types
	match := func(m ...any) any { return []any{object{"matches": m}} }
	for _, c := range []struct {
		name, kind string
		rules      any
		want       string
	}{
		{"exact and prefix alike, each once", "HTTPRoute",
			match(object{"path": object{"type": "Exact", "value": "/a"}}, object{"path": object{"value": "/a"}},
				object{"path": object{"value": "/b"}}), "/a /b"},
		{"no path", "HTTPRoute", match(object{"headers": []any{}}), "/"},
		{"no match", "HTTPRoute", []any{object{}}, "/"},
		{"no rule", "HTTPRoute", nil, "/"},
		{"a method", "GRPCRoute", match(object{"method": object{"service": "s", "method": "m"}}), "/s/m"},
		{"half a method", "GRPCRoute", match(object{"method": object{"service": "s"}}), "/"},
		{"no rule for gRPC", "GRPCRoute", nil, ""},
		{"wrong types", "HTTPRoute", []any{object{"matches": "all"}, object{"matches": []any{3}}, 7}, "/"},
	} {
		if got := strings.Join(listPaths(routeOf(c.kind, c.rules)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestInvalidRoutes(t *testing.T) { // only if every rule has something invalid
	header := func(name string) any {
		return object{"matches": []any{object{"headers": []any{object{"name": name, "value": "v"}}}}}
	}
	filter := object{"filters": []any{object{"type": "ResponseHeaderModifier", "responseHeaderModifier": object{"remove": []any{"X Y"}}}}}
	for _, c := range []struct {
		name  string
		rules []any
		bad   bool
	}{
		{"fine", []any{header("X-1")}, false}, {"underscore", []any{header("x_1")}, true}, {"one of two",
			[]any{header("x_1"), header("X")}, false},
		{"both", []any{header("x_1"), header("")}, true}, {"filter", []any{filter}, true}, {"none", nil, false},
	} {
		if why := explainInvalid(routeOf("HTTPRoute", c.rules)); (why != "") != c.bad {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// stackOf is a stack of layers with a limit each; a level may repeat.
func stackOf(levels ...string) merge.Stack {
	var s merge.Stack
	for i, level := range levels {
		u := merge.Unit{Path: append(merge.KeyPath("rateLimit", "local", "rules"),
			merge.Segment{Name: "0", Form: merge.Entry}), Value: i, From: []merge.Source{{Layer: i}}}
		s.Layers = append(s.Layers, merge.Layer{Level: level, Blocks: []merge.Block{{Units: []merge.Unit{u}}}})
	}
	return s
}

func TestLimits(t *testing.T) { // those of the most specific level, numbered through; every other one is lost
	for _, c := range []struct {
		levels []string
		want   string
		lost   int
	}{
		{[]string{"gateway"}, "[0]", 0}, {[]string{"gateway", "gateway"}, "[0] [1]",
			0}, {[]string{"gateway", "gateway", "route", "route"}, "[0] [1]", 2}, {nil, "", 0},
	} {
		units, effects := foldLimits(stackOf(c.levels...))
		var names []string
		for _, u := range units {
			names = append(names, strings.TrimPrefix(u.Path.String(), "rateLimit.local.rules"))
		}
		lost := slices.DeleteFunc(slices.Clone(effects), func(e merge.Effect) bool { return e.Action != merge.Dropped })
		if got := strings.Join(names, " "); got != c.want || len(lost) != c.lost {
			t.Errorf("%v: %s and %d lost", c.levels, got, len(lost))
		}
	}
}

func TestAppendedSnippets(t *testing.T) {
	if got := appendSnippet(object{"context": "main", "value": "a;"}, object{"context": "main",
		"value": "b;"}); !merge.Equal(got, object{"context": "main", "value": "a;\nb;"}) {
		t.Error(got)
	}
	if got := appendSnippet("odd", object{}); got == nil {
		t.Error("nothing is left of what is no snippet")
	}
}
