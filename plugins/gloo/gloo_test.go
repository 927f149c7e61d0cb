package gloo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// fields are settings of one layer; a name with a slash is one of a choice.
func fields(layer int, list string) []merge.Unit {
	var out []merge.Unit
	for _, name := range strings.Fields(list) {
		choice, name, found := strings.Cut(name, "/")
		if !found {
			choice, name = "", choice
		}
		out = append(out, merge.Unit{Path: merge.KeyPath(name), Choice: choice, Value: layer,
			From: []merge.Source{{Layer: layer, Block: merge.Bare}}})
	}
	return out
}

func TestParentFirst(t *testing.T) {
	for _, c := range []struct{ annotation, release, parent, child, want string }{
		{"", "1.22", "a b", "b c", "a0 b0 c1 -b1 LessSpecificOverrides"},
		{"*", "1.22", "a b", "b c", "a0 b1 c1 -b0 MoreSpecificWins"},
		{" B ,c", "1.22", "a b c", "a b", "b1 a0 c0 -a1 LessSpecificOverrides -b0 MoreSpecificWins"},
		{"b", "1.17.10", "b", "b", "b0 -b1 LessSpecificOverrides"},
		{"b", "1.18", "b", "b", "b1 -b0 MoreSpecificWins"},
		{"x", "1.22", "host/x", "host/y", "x0 -y1 LessSpecificOverrides"},
		{"HOST", "1.22", "host/x", "host/y", "y1 -x0 MoreSpecificWins"},
		{"*", "1.22", "", "a", "a1"},
		{"*", "1.22", "a", "", "a0"},
	} {
		s, _ := newParentFirstStrategy(c.annotation, model.NewSettings(map[string]any{"gloo.version": c.release}))
		units, effects := s.Func(fields(0, c.parent), fields(1, c.child))
		var got, lost []string
		for _, u := range units {
			got = append(got, fmt.Sprintf("%s%v", u.Path, u.Value))
		}
		for _, e := range effects {
			if e.Reason != "" {
				lost = append(lost, fmt.Sprintf("-%s%v %s", e.Path, e.Value, e.Reason))
			}
		}
		slices.Sort(lost)
		want := strings.Fields(c.want)
		at := slices.IndexFunc(want, func(w string) bool { return w[0] == '-' })
		if at < 0 {
			at = len(want)
		}
		slices.Sort(got)
		slices.Sort(want[:at])
		if all := strings.Join(append(got, lost...), " "); all != strings.Join(want, " ") {
			t.Errorf("%q in %s, %s over %s: %s, want %s", c.annotation, c.release, c.parent, c.child, all, c.want)
		}
	}
}

func TestReferences(t *testing.T) { // up to 1.18 the first; whatever has another form stays for the decoder to report
	refs := func(list any) any { return map[string]any{"spec": map[string]any{"targetRefs": list}} }
	two, odd := []any{map[string]any{"name": "a"}, "b"}, "none"
	for _, c := range []struct {
		release string
		in      any
		want    string
	}{
		{"1.22", refs(two), "map[spec:map[targetRefs:[map[name:a] b]]]"}, {"1.18.10", refs(two),
			"map[spec:map[targetRefs:[map[name:a]]]]"},
		{"1.18", refs(two[:1]), "map[spec:map[targetRefs:[map[name:a]]]]"}, {"1.17", refs(odd),
			"map[spec:map[targetRefs:none]]"},
		{"1.17", map[string]any{"spec": 7}, "map[spec:7]"}, {"1.17", nil, "<nil>"},
	} {
		if got := fmt.Sprint(limitTargetRefs(nil, c.in,
			model.NewSettings(map[string]any{"gloo.version": c.release}))); got != c.want {
			t.Errorf("%s: %s, want %s", c.release, got, c.want)
		}
	}
	if len(two) != 2 {
		t.Error("the input was changed")
	}
}

func TestBetween(t *testing.T) {
	for release, want := range map[string]bool{"1.17.0": false, "1.17.1": true, "1.17.9": true, "1.17.10": false,
		"1.17": false, "1.16": false, "1.18": false} {
		if got := isBetween(release, lastSingleRelease, mergesAllRelease); got != want {
			t.Errorf("%s: %v", release, got)
		}
	}
}

func TestPreferred(t *testing.T) { // the most specific place first, and there the established one; who is kept out last
	layers := []resolve.Layer{{Node: 1, Level: "gateway"}, {Node: 1, Level: "gateway"}, {Node: 3, Level: "section"},
		{Node: 3, Level: "listener"}, {Node: 3, Level: "listener"},
		{Node: 1, Level: "gateway", Rejected: true}}
	if got := fmt.Sprint(orderLayers(layers)); got != "[3 4 2 0 1 5]" {
		t.Error(got)
	}
}
