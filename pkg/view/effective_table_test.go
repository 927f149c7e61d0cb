package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// text is a table in a form that is easy to compare: "| " between cells, "# " before headings, "> " before closing lines.
func text(t Table) string {
	var lines []string
	for _, b := range t.Blocks {
		for _, h := range b.Heading {
			lines = append(lines, "# "+h)
		}
		for _, row := range b.Rows {
			var cells []string
			for i, c := range row {
				if i >= len(b.Columns) || !b.Columns[i].Wide {
					cells = append(cells, c.Text)
				}
			}
			lines = append(lines, strings.Join(cells, " | "))
		}
	}
	for _, f := range t.Footer {
		lines = append(lines, "> "+f)
	}
	return strings.Join(lines, "\n")
}

// same fails the test if a text does not have the given lines.
func same(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("got\n%s\n\nwant\n%s", got, w)
	}
}

// list is a sealed answer.
func list(items ...EffectivePolicy) *EffectivePolicyList {
	l := &EffectivePolicyList{Items: items}
	l.Finish("EffectivePolicyList", nil)
	return l
}

// in is what holds of a kind at a target on the given listeners of infra/external.
func in(kind string, target model.Ref, listeners string, rules ...Rule) EffectivePolicy {
	item := EffectivePolicy{PolicyKind: kind + ".example.com", Target: target, Rules: rules}
	for _, name := range strings.Fields(listeners) {
		item.Paths = append(item.Paths, Path{Gateway: "infra/external", Listener: name})
	}
	for _, r := range rules {
		for _, s := range r.Sources {
			item.Policies = append(item.Policies, PolicyUse{Policy: s.Policy, Target: s.Target, Level: s.Level, Role: "contributing"})
		}
	}
	return item
}

func sets(name string, s Source, lost ...Loss) Rule {
	return Rule{Name: name, Value: int64(1), Sources: []Source{s}, Lost: lost, Why: "why"}
}

func TestEffectiveFoldsOnlyRulesWithTheSameAnswer(t *testing.T) {
	route := from("bakery", "baker", httpRoute("baker", ""), "route", "bare")
	rule := from("bakery", "two", httpRoute("baker", "rule-2"), "rule", "bare")
	l := list(
		in("AuthPolicy", httpRoute("baker", "rule-1"), "http", sets("a", route)),
		in("AuthPolicy", httpRoute("baker", "rule-2"), "http", sets("a", rule, loses(route, "MoreSpecificWins"))),
		in("AuthPolicy", httpRoute("baker", "rule-10"), "http", sets("a", route)),
	)
	same(t, text(l.Table(TableOptions{Source: "-f x", Grouped: true})),
		"# HTTPRoute bakery/baker · 3 rules · via Gateway infra/external (http)",
		"rule-1, rule-10 | AuthPolicy | a | 1 | bakery/baker | why",
		"rule-2 | AuthPolicy | a | 1 | bakery/two | why",
		"> 1 setting was overridden: kubectl dopolicy overridden --target httproute/baker -n bakery -f x")
	same(t, text(l.Table(TableOptions{ByRule: true, Grouped: true})),
		"# HTTPRoute bakery/baker · 3 rules · via Gateway infra/external (http)",
		"rule-1 | AuthPolicy | a | 1 | bakery/baker | why",
		"rule-2 | AuthPolicy | a | 1 | bakery/two | why",
		"rule-10 | AuthPolicy | a | 1 | bakery/baker | why",
		"> 1 setting was overridden: kubectl dopolicy overridden --target httproute/baker -n bakery")
}

// One kind differs by listener, the other does not: the latter is said on both, because a block is the whole answer for its paths.
func TestEffectiveSplitsByPath(t *testing.T) {
	rule := httpRoute("baker", "rule-1")
	gw := from("infra", "gw", gateway(""), "gateway", "defaults")
	https := from("infra", "tls", gateway("https"), "listener", "overrides")
	l := list(
		in("AuthPolicy", rule, "http", sets("a", gw)),
		in("AuthPolicy", rule, "https", sets("a", https, loses(gw, "LessSpecificOverrides"))),
		in("LimitPolicy", rule, "http https", sets("b", gw)),
	)
	l.Items[1].Lost = []RuleLoss{{Rule: "x", Loss: loses(gw, "AtomicOverridden")}}
	same(t, text(l.Table(TableOptions{Grouped: true})),
		"# HTTPRoute bakery/baker · 1 rule · path 1 of 2 · via Gateway infra/external (http)",
		"rule-1 | AuthPolicy | a | 1 | infra/gw | why",
		"rule-1 | LimitPolicy | b | 1 | AuthPolicy infra/gw | why",
		"# HTTPRoute bakery/baker · 1 rule · path 2 of 2 · via Gateway infra/external (https)",
		"rule-1 | AuthPolicy | a | 1 | infra/tls | why",
		"rule-1 | LimitPolicy | b | 1 | AuthPolicy infra/gw | why",
		"> 2 settings were overridden: kubectl dopolicy overridden --target httproute/baker/rule-1 -n bakery")
}

func TestEffectiveOnTargetsThatAreNoRules(t *testing.T) {
	gw := from("infra", "gw", gateway(""), "gateway", "bare")
	service := model.Ref{Kind: "Service", Namespace: "bakery", Name: "oven"}
	own := from("bakery", "oven", service, "backend", "bare")
	builtin := Rule{Name: "minimum", Value: "1.2", Why: "API default", Sources: []Source{{Target: &service, Level: "backend", Builtin: "API default"}}}
	listener := in("DNSPolicy", gateway("https"), "https", sets("a", gw))
	other := in("DNSPolicy", gateway("http"), "http", sets("a", gw))
	l := list(listener, other, in("TLSPolicy", service, "", sets("ca", own), builtin))
	same(t, text(l.Table(TableOptions{Grouped: true})),
		"# Service bakery/oven",
		"TLSPolicy | ca | 1 | AuthPolicy bakery/oven | why",
		"TLSPolicy | minimum | 1.2 | - | API default",
		"# Gateway infra/external · 2 listeners",
		"http, https | DNSPolicy | a | 1 | AuthPolicy infra/gw | why")
}

func TestEffectiveWithoutAnswer(t *testing.T) {
	same(t, text(list().Table(TableOptions{Target: "httproute/baker"})), "> no policy is in force on httproute/baker")
	same(t, text(list().Table(TableOptions{})), "> no policy is in force here")
	none := list(in("AuthPolicy", httpRoute("baker", "rule-1"), "http"))
	none.Items[0].Lost = []RuleLoss{{Rule: "a", Loss: loses(from("infra", "gw", gateway(""), "gateway", "defaults"), "Unset")}}
	same(t, text(none.Table(TableOptions{Grouped: true})),
		"# HTTPRoute bakery/baker · 1 rule · via Gateway infra/external (http)",
		"rule-1 | AuthPolicy | - | - | - | nothing in force",
		"> 1 setting was overridden: kubectl dopolicy overridden --target httproute/baker/rule-1 -n bakery")
	none.Finish("EffectivePolicyList", []model.Problem{{Severity: model.Warning, Code: model.Forbidden}})
	if footer := none.Table(TableOptions{}).Footer; footer[len(footer)-1] != "incomplete: 1 list was not readable" {
		t.Errorf("incompleteness does not come last: %q", footer)
	}
}

func TestEffectiveLimitCountsWhatItHides(t *testing.T) {
	var items []EffectivePolicy
	for _, name := range []string{"c", "a", "b"} {
		items = append(items, in("AuthPolicy", httpRoute(name, "rule-1"), "http", sets("x", from("bakery", name, httpRoute(name, ""), "route", "bare"))))
	}
	same(t, text(list(items...).Table(TableOptions{Limit: 1, Grouped: true})),
		"# HTTPRoute bakery/a · 1 rule · via Gateway infra/external (http)",
		"rule-1 | AuthPolicy | x | 1 | bakery/a | why",
		"> … and 2 more targets (--limit 0 shows all)")
}

func TestEffectiveOrderedRulesAreNumbered(t *testing.T) {
	item := in("AuthPolicy", httpRoute("a", "rule-1"), "http", sets("deny", from("bakery", "a", httpRoute("a", ""), "route", "bare")), sets("allow", from("bakery", "a", httpRoute("a", ""), "route", "bare")))
	item.Ordered = true
	same(t, text(list(item).Table(TableOptions{Grouped: true})),
		"# HTTPRoute bakery/a · 1 rule · via Gateway infra/external (http)",
		"rule-1 | AuthPolicy | 1. deny | 1 | bakery/a | why",
		"rule-1 | AuthPolicy | 2. allow | 1 | bakery/a | why")
}

func TestKindsOfOneNameShowTheirGroups(t *testing.T) {
	one := in("AuthPolicy", httpRoute("a", "rule-1"), "http", sets("x", from("bakery", "a", httpRoute("a", ""), "route", "bare")))
	two := one
	two.PolicyKind = "AuthPolicy.example.org"
	var kinds []string
	for _, row := range list(one, two).Table(TableOptions{Grouped: true}).Blocks[0].Rows {
		kinds = append(kinds, row[1].Text)
	}
	if want := []string{"AuthPolicy.example.com", "AuthPolicy.example.org"}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
}

func TestHintNamesTheNarrowestScope(t *testing.T) {
	other := model.Ref{Kind: "HTTPRoute", Namespace: "shop", Name: "cart"}
	for _, tc := range []struct {
		targets []model.Ref
		want    string
	}{
		{[]model.Ref{httpRoute("a", "rule-1")}, "--target httproute/a/rule-1 -n bakery"},
		{[]model.Ref{httpRoute("a", "rule-1"), httpRoute("a", "rule-2")}, "--target httproute/a -n bakery"},
		{[]model.Ref{httpRoute("a", "rule-1"), httpRoute("b", "rule-1")}, "-n bakery"},
		{[]model.Ref{httpRoute("a", "rule-1"), other}, "-A"},
		{[]model.Ref{{Kind: "GatewayClass", Name: "prod"}}, "--target gatewayclass/prod"},
		{[]model.Ref{{Kind: "GatewayClass", Name: "prod"}, {Kind: "GatewayClass", Name: "test"}}, "-A"},
	} {
		if got := strings.Join(hintScope(tc.targets), " "); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.targets, got, tc.want)
		}
	}
}
