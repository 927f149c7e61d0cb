package view

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// flatFixture is one setting of a Gateway on three routes, and one of the route a on its rules.
func flatFixture() *EffectivePolicyList {
	var items []EffectivePolicy
	gw := from("infra", "gw", gateway(""), "gateway", "defaults")
	own := from("bakery", "a", httpRoute("a", ""), "route", "bare")
	for _, name := range []string{"a", "b", "c"} {
		items = append(items, in("LimitPolicy", httpRoute(name, "rule-1"), "http", sets("cap", gw)))
	}
	items = append(items, in("AuthPolicy", httpRoute("a", "rule-1"), "http", sets("key", own)), in("AuthPolicy", httpRoute("a", "rule-2"), "http", sets("key", own)))
	return list(items...)
}

func TestEffectiveHasItsTargetInEveryRow(t *testing.T) {
	same(t, text(flatFixture().Table(TableOptions{})),
		"bakery | httproute/a | rule-1 | infra/external (http) | AuthPolicy | key | 1 | bakery/a | why",
		"bakery | httproute/a | rule-1 | infra/external (http) | LimitPolicy | cap | 1 | AuthPolicy infra/gw | why",
		"bakery | httproute/a | rule-2 | infra/external (http) | AuthPolicy | key | 1 | bakery/a | why",
		"bakery | httproute/b | rule-1 | infra/external (http) | LimitPolicy | cap | 1 | AuthPolicy infra/gw | why",
		"bakery | httproute/c | rule-1 | infra/external (http) | LimitPolicy | cap | 1 | AuthPolicy infra/gw | why")
}

func TestEffectiveSaysOnATerminalOnceWhatHoldsForMany(t *testing.T) {
	want := []string{
		"bakery | 3 routes | 3 rules | infra/external (http) | LimitPolicy | cap | 1 | AuthPolicy infra/gw | why",
		"bakery | httproute/a | rule-1, rule-2 | infra/external (http) | AuthPolicy | key | 1 | bakery/a | why"}
	same(t, text(flatFixture().Table(TableOptions{Terminal: true})), want...)
	if rows := flatFixture().Table(TableOptions{Terminal: true, ByRule: true}).Blocks[0].Rows; len(rows) != 5 {
		t.Errorf("with one row per rule there are %d", len(rows))
	}
}

func TestFlatRowsAreMarkedWhereTheyCouldChange(t *testing.T) {
	l := flatFixture()
	for i := range l.Items {
		l.Items[i].Unread = []string{*new(string)}
	}
	if got := l.Table(TableOptions{}).Blocks[0].Rows[0][0].Text; got != "? bakery" {
		t.Errorf("the row begins with %q", got)
	}
}

func TestFlatTargetsOfSeveralKinds(t *testing.T) {
	gw := from("infra", "gw", gateway(""), "gateway", "defaults")
	service := model.Ref{Kind: "Service", Namespace: "bakery", Name: "oven"}
	b := list(in("A", service, "", sets("x", gw)), in("A", gateway(""), "", sets("x", gw))).Table(TableOptions{}).Blocks[0]
	if b.Columns[1].Name != "TARGET" || b.Columns[2].Name != "SECTION" {
		t.Errorf("the columns are called %v", b.Columns[:3])
	}
}

func TestShortCells(t *testing.T) {
	for _, tc := range []struct {
		of         string
		short      func(string) string
		text, want string
	}{
		{"kind", shortKind, "RateLimitPolicy", "RateLimit"},
		{"a kind that is called Policy", shortKind, "Policy", "Policy"},
		{"setting", shortSetting, "rules.authorization.geo", "geo"},
		{"setting in an order", shortSetting, "2. rules.deny", "2. deny"},
		{"setting with a dot in a name", shortSetting, `limits["a.b"]`, `limits["a.b"]`},
		{"name", shortName, "infra/gw + shop/cart", "gw + cart"},
		{"source that is no policy", shortName, "-", "-"},
		{"why", shortWhy, "override of Gateway, beats bakery/baker-all", "override of Gateway"},
		{"via", shortVia, "infra/external (http, https)", "external"},
		{"list", shortList, "rule-1, rule-2, rule-5", "rule-1 +2"},
		{"cut list", shortList, "a, b, c and 4 more", "a +6"},
		{"one name", shortList, "checkout", "checkout"},
		{"object", withoutKind, "httproute shop/cart checkout", "shop/cart checkout"},
		{"object without a namespace", withoutKind, "GatewayClass eg", "GatewayClass eg"},
	} {
		if got := tc.short(tc.text); got != tc.want {
			t.Errorf("%s: %q becomes %q, want %q", tc.of, tc.text, got, tc.want)
		}
	}
}
