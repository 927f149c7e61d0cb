package view

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func httpRoute(name, section string) model.Ref {
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "bakery", Name: name, Section: section}
}

func gateway(section string) model.Ref {
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "infra", Name: "external", Section: section}
}

func authPolicy(namespace, name string) *model.Ref {
	return &model.Ref{Group: "example.com", Kind: "AuthPolicy", Namespace: namespace, Name: name}
}

func from(namespace, name string, target model.Ref, level, block string) Source {
	return Source{Policy: authPolicy(namespace, name), Target: &target, Level: level, Block: block, Strategy: "merge"}
}

func loses(s Source, reason string) Loss { return Loss{Source: s, Reason: reason, Message: "because"} }

func TestWhy(t *testing.T) {
	rule1, route := httpRoute("baker", "rule-1"), httpRoute("baker", "")
	low := from("bakery", "baker-limits", rule1, "rule", "bare")
	mid := from("bakery", "baker-all", route, "route", "defaults")
	other := from("bakery", "other", route, "route", "defaults")
	midOverride := from("bakery", "baker-all", route, "route", "overrides")
	high := from("infra", "gw-auth", gateway(""), "gateway", "defaults")
	override := from("infra", "gw-cap", gateway(""), "gateway", "overrides")
	listener := from("infra", "https-only", gateway("https"), "listener", "overrides")
	parent := from("infra", "root", httpRoute("root", ""), "route", "defaults")
	at := gateway("")
	builtin := Source{Target: &at, Level: "gateway", Builtin: "API default"}
	for _, tc := range []struct {
		want    string
		sources []Source
		lost    []Loss
		below   []Source // policies of the stack besides the source, on more specific levels
	}{
		{"set here (rule)", []Source{low}, nil, nil},
		{"set here (route)", []Source{mid}, nil, []Source{low}},
		{"set here (route)", []Source{midOverride}, nil, nil},
		{"set here (rule), replaces infra/gw-auth", []Source{low}, []Loss{loses(high, "MoreSpecificWins")}, nil},
		{"set here (rule), replaces bakery/baker-all, infra/gw-auth", []Source{low}, []Loss{loses(high, "MoreSpecificWins"), loses(mid, "AtomicReplaced")}, nil},
		{"set here (route), beats bakery/other (same level)", []Source{mid}, []Loss{loses(other, "SameLevelOrder")}, nil},
		{"override of route, beats its own defaults", []Source{midOverride}, []Loss{loses(mid, "LessSpecificOverrides")}, nil},
		{"default of Gateway", []Source{high}, nil, nil},
		{"default of Gateway, not replaced", []Source{high}, nil, []Source{mid}},
		{"default of parent route", []Source{parent}, nil, nil},
		{"override of Gateway", []Source{override}, nil, []Source{low}},
		{"override of listener", []Source{listener}, nil, nil},
		{"override of Gateway, beats bakery/baker-all", []Source{override}, []Loss{loses(mid, "LessSpecificOverrides")}, []Source{mid}},
		{"override of route, beats bakery/baker-limits", []Source{midOverride}, []Loss{loses(low, "AtomicOverridden")}, []Source{low}},
		{"override of Gateway, beats bakery/baker-limits", []Source{override}, []Loss{loses(low, "LessSpecificOverrides"), loses(mid, "MoreSpecificWins")}, nil},
		{"override of Gateway, beats bakery/baker-all and 2 more", []Source{override}, []Loss{loses(low, "LessSpecificOverrides"), loses(mid, "LessSpecificOverrides"), loses(other, "LessSpecificOverrides")}, nil},
		{"merged from Gateway, route", []Source{high, mid}, nil, nil},
		{"API default", []Source{builtin}, nil, nil},
		{"API default, beats bakery/baker-all", []Source{builtin}, []Loss{loses(mid, "BuiltInWins")}, nil},
		{"set here (rule)", []Source{low}, []Loss{loses(override, "ConditionFalse")}, nil},
		{"-", nil, nil, nil},
	} {
		item := &EffectivePolicy{Target: rule1}
		for _, s := range append(append([]Source{}, tc.sources...), tc.below...) {
			item.Policies = append(item.Policies, PolicyUse{Policy: s.Policy, Target: s.Target, Level: s.Level, Role: "contributing", Builtin: s.Builtin})
		}
		if got := whyText(item, &Rule{Sources: tc.sources, Lost: tc.lost}); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestReasonWords(t *testing.T) {
	winner := []Source{from("infra", "gw-cap", gateway(""), "gateway", "overrides")}
	for reason, want := range map[string]string{
		"MoreSpecificWins": "more specific default", "AtomicReplaced": "replaced whole by Gateway", "LessSpecificOverrides": "override of Gateway",
		"AtomicOverridden": "atomic override of Gateway", "SameLevelOrder": "order on the same level", "Unset": "unset", "ConditionFalse": "condition false",
		"Conflicted": "conflict", "BuiltInWins": "built in", "NotEvaluated": "not evaluated", "Invalid": "policy in error", "Shadowed": "never reached",
		"NoEffect": "no effect", "Ignored": "ignored", "SomethingNew": "SomethingNew",
	} {
		if got := reasonWords(reason, winner); got != want {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
	if got := reasonWords("LessSpecificOverrides", nil); got != "override" {
		t.Errorf("without a winner: %q", got)
	}
}
