package effective

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// list is a sealed answer.
func list(items ...view.EffectivePolicy) *EffectivePolicyList {
	l := &EffectivePolicyList{Items: items}
	l.Finish("EffectivePolicyList", nil)
	return l
}

// in is what holds of a kind at a target on the given listeners of infra/external.
func in(kind string, target model.Ref, listeners string, rules ...view.Rule) view.EffectivePolicy {
	item := view.EffectivePolicy{PolicyKind: kind + ".example.com", Target: target, Rules: rules}
	for _, name := range strings.Fields(listeners) {
		item.Paths = append(item.Paths, view.Path{Gateway: "infra/external", Listener: name})
	}
	for _, r := range rules {
		for _, s := range r.Sources {
			item.Policies = append(item.Policies, view.PolicyUse{Policy: s.Policy, Target: s.Target, Level: s.Level,
				Role: "contributing"})
		}
	}
	return item
}

func sets(name string, s view.Source, lost ...view.Loss) view.Rule {
	return view.Rule{Name: name, Value: int64(1), Sources: []view.Source{s}, Lost: lost, Why: "why"}
}

func TestEffectiveFoldsOnlyRulesWithTheSameAnswer(t *testing.T) {
	route := viewtest.SourceOf("bakery", "baker", viewtest.HTTPRoute("baker", ""), "route", "bare")
	rule := viewtest.SourceOf("bakery", "two", viewtest.HTTPRoute("baker", "rule-2"), "rule", "bare")
	l := list(
		in("AuthPolicy", viewtest.HTTPRoute("baker", "rule-1"), "http", sets("a", route)),
		in("AuthPolicy", viewtest.HTTPRoute("baker", "rule-2"), "http",
			sets("a", rule, viewtest.LossOf(route, "MoreSpecificWins"))),
		in("AuthPolicy", viewtest.HTTPRoute("baker", "rule-10"), "http", sets("a", route)),
	)
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{Source: "-f x", Grouped: true})),
		"# httproute/bakery/baker · 3 rules · via gateway/infra/external (http)",
		"rule-1, rule-10 | AuthPolicy | a | 1 | bakery/baker | why",
		"rule-2 | AuthPolicy | a | 1 | bakery/two | why",
		"> 1 setting was overridden: kubectl dopolicy overridden --target httproute/bakery/baker -f x")
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{ByRule: true, Grouped: true})),
		"# httproute/bakery/baker · 3 rules · via gateway/infra/external (http)",
		"rule-1 | AuthPolicy | a | 1 | bakery/baker | why",
		"rule-2 | AuthPolicy | a | 1 | bakery/two | why",
		"rule-10 | AuthPolicy | a | 1 | bakery/baker | why",
		"> 1 setting was overridden: kubectl dopolicy overridden --target httproute/bakery/baker")
}

// One kind differs by listener, the other does not: the latter is said on both, because a block is
// the whole answer for its paths.
func TestEffectiveSplitsByPath(t *testing.T) {
	rule := viewtest.HTTPRoute("baker", "rule-1")
	gw := viewtest.SourceOf("infra", "gw", viewtest.Gateway(""), "gateway", "defaults")
	https := viewtest.SourceOf("infra", "tls", viewtest.Gateway("https"), "listener", "overrides")
	l := list(
		in("AuthPolicy", rule, "http", sets("a", gw)),
		in("AuthPolicy", rule, "https", sets("a", https, viewtest.LossOf(gw, "LessSpecificOverrides"))),
		in("LimitPolicy", rule, "http https", sets("b", gw)),
	)
	l.Items[1].Lost = []view.RuleLoss{{Rule: "x", Loss: viewtest.LossOf(gw, "AtomicOverridden")}}
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{Grouped: true})),
		"# httproute/bakery/baker · 1 rule · path 1 of 2 · via gateway/infra/external (http)",
		"rule-1 | AuthPolicy | a | 1 | infra/gw | why",
		"rule-1 | LimitPolicy | b | 1 | authpolicy/infra/gw | why",
		"# httproute/bakery/baker · 1 rule · path 2 of 2 · via gateway/infra/external (https)",
		"rule-1 | AuthPolicy | a | 1 | infra/tls | why",
		"rule-1 | LimitPolicy | b | 1 | authpolicy/infra/gw | why",
		"> 2 settings were overridden: kubectl dopolicy overridden --target httproute/bakery/baker/rule-1")
}

func TestEffectiveOnTargetsThatAreNoRules(t *testing.T) {
	gw := viewtest.SourceOf("infra", "gw", viewtest.Gateway(""), "gateway", "bare")
	service := model.Ref{Kind: "Service", Namespace: "bakery", Name: "oven"}
	own := viewtest.SourceOf("bakery", "oven", service, "backend", "bare")
	builtin := view.Rule{Name: "minimum", Value: "1.2", Why: "API default",
		Sources: []view.Source{{Target: &service, Level: "backend", Builtin: "API default"}}}
	listener := in("DNSPolicy", viewtest.Gateway("https"), "https", sets("a", gw))
	other := in("DNSPolicy", viewtest.Gateway("http"), "http", sets("a", gw))
	l := list(listener, other, in("TLSPolicy", service, "", sets("ca", own), builtin))
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{Grouped: true})),
		"# service/bakery/oven",
		"TLSPolicy | ca | 1 | authpolicy/bakery/oven | why",
		"TLSPolicy | minimum | 1.2 | - | API default",
		"# gateway/infra/external · 2 listeners",
		"http, https | DNSPolicy | a | 1 | authpolicy/infra/gw | why")
}

func TestEffectiveWithoutAnswer(t *testing.T) {
	viewtest.Same(t, viewtest.TableText(list().Table(view.TableOptions{Target: "httproute/baker"})),
		"> no policy is in force on httproute/baker")
	viewtest.Same(t, viewtest.TableText(list().Table(view.TableOptions{})), "> no policy is in force here")
	none := list(in("AuthPolicy", viewtest.HTTPRoute("baker", "rule-1"), "http"))
	none.Items[0].Lost = []view.RuleLoss{{Rule: "a", Loss: viewtest.LossOf(viewtest.SourceOf("infra", "gw",
		viewtest.Gateway(""), "gateway", "defaults"), "Unset")}}
	viewtest.Same(t, viewtest.TableText(none.Table(view.TableOptions{Grouped: true})),
		"# httproute/bakery/baker · 1 rule · via gateway/infra/external (http)",
		"rule-1 | AuthPolicy | - | - | - | nothing in force",
		"> 1 setting was overridden: kubectl dopolicy overridden --target httproute/bakery/baker/rule-1")
	none.Finish("EffectivePolicyList", []model.Problem{{Severity: model.Warning, Code: model.Forbidden}})
	if footer := none.Table(view.TableOptions{}).Footer; footer[len(
		footer)-1] != "incomplete: 1 list was not readable" {
		t.Errorf("incompleteness does not come last: %q", footer)
	}
}

func TestEffectiveLimitCountsWhatItHides(t *testing.T) {
	var items []view.EffectivePolicy
	for _, name := range []string{"c", "a", "b"} {
		items = append(items, in("AuthPolicy", viewtest.HTTPRoute(name, "rule-1"), "http",
			sets("x", viewtest.SourceOf("bakery", name, viewtest.HTTPRoute(name, ""), "route", "bare"))))
	}
	viewtest.Same(t, viewtest.TableText(list(items...).Table(view.TableOptions{Limit: 1, Grouped: true})),
		"# httproute/bakery/a · 1 rule · via gateway/infra/external (http)",
		"rule-1 | AuthPolicy | x | 1 | bakery/a | why",
		"> … and 2 more targets (--limit 0 shows all)")
}

func TestEffectiveOrderedRulesAreNumbered(t *testing.T) {
	item := in("AuthPolicy", viewtest.HTTPRoute("a", "rule-1"), "http",
		sets("deny", viewtest.SourceOf("bakery", "a", viewtest.HTTPRoute("a", ""), "route", "bare")), sets("allow",
			viewtest.SourceOf("bakery", "a", viewtest.HTTPRoute("a", ""), "route", "bare")))
	item.Ordered = true
	viewtest.Same(t, viewtest.TableText(list(item).Table(view.TableOptions{Grouped: true})),
		"# httproute/bakery/a · 1 rule · via gateway/infra/external (http)",
		"rule-1 | AuthPolicy | 1. deny | 1 | bakery/a | why",
		"rule-1 | AuthPolicy | 2. allow | 1 | bakery/a | why")
}

func TestKindsOfOneNameShowTheirGroups(t *testing.T) {
	one := in("AuthPolicy", viewtest.HTTPRoute("a", "rule-1"), "http",
		sets("x", viewtest.SourceOf("bakery", "a", viewtest.HTTPRoute("a", ""), "route", "bare")))
	two := one
	two.PolicyKind = "AuthPolicy.example.org"
	var kinds []string
	for _, row := range list(one, two).Table(view.TableOptions{Grouped: true}).Blocks[0].Rows {
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
		{[]model.Ref{viewtest.HTTPRoute("a", "rule-1")}, "--target httproute/bakery/a/rule-1"},
		{[]model.Ref{viewtest.HTTPRoute("a", "rule-1"), viewtest.HTTPRoute("a", "rule-2")},
			"--target httproute/bakery/a"},
		{[]model.Ref{viewtest.HTTPRoute("a", "rule-1"), viewtest.HTTPRoute("b", "rule-1")}, "-n bakery"},
		{[]model.Ref{viewtest.HTTPRoute("a", "rule-1"), other}, "-A"},
		{[]model.Ref{{Kind: "GatewayClass", Name: "prod"}}, "--target gatewayclass/prod"},
		{[]model.Ref{{Kind: "GatewayClass", Name: "prod"}, {Kind: "GatewayClass", Name: "test"}}, "-A"},
	} {
		if got := strings.Join(hintScope(tc.targets), " "); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.targets, got, tc.want)
		}
	}
}
