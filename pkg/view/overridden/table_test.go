package overridden

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

func overriddenList(items ...OverriddenRule) *OverriddenRuleList {
	l := &OverriddenRuleList{Items: items}
	l.Finish("OverriddenRuleList", nil)
	return l
}

func lostOn(target model.Ref, rule string, loser view.Source, reason string, to ...view.Source) OverriddenRule {
	return OverriddenRule{PolicyKind: "AuthPolicy.example.com", Rule: rule, Source: loser, Value: true, Target: target,
		Paths: []view.Path{{Gateway: "infra/external", Listener: "http"}}, LostTo: to, Reason: reason,
		Why: collect.ShortLossReason(&merge.Loss{Reason: merge.Reason(reason)}, to), Message: "a sentence"}
}

func TestOverriddenOfOnePolicy(t *testing.T) {
	gw := viewtest.SourceOf("infra", "gw-auth", viewtest.Gateway(""), "gateway", "defaults")
	cart := viewtest.SourceOf("shop", "cart-auth", viewtest.HTTPRoute("cart", ""), "route", "defaults")
	l := overriddenList(
		lostOn(viewtest.HTTPRoute("search", "rule-1"), "rules.geo", gw, "Unset", cart),
		lostOn(viewtest.HTTPRoute("cart", "refund"), "rules.geo", gw, "MoreSpecificWins", cart),
		lostOn(viewtest.HTTPRoute("cart", "checkout"), "rules.geo", gw, "MoreSpecificWins", cart),
	)
	l.Items[0].Everywhere = true
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{})),
		"# authpolicy/infra/gw-auth",
		"rules.geo | httproute/bakery/cart (checkout, refund) | authpolicy/shop/cart-auth | more specific default",
		"rules.geo | httproute/bakery/search/rule-1 | authpolicy/shop/cart-auth | unset",
		"> 3 settings overridden on 3 route rules; in force nowhere: rules.geo")
	if rows := l.Table(view.TableOptions{ByRule: true}).Blocks[0].Rows; len(rows) != 3 {
		t.Errorf("by rule there are %d lines, want 3", len(rows))
	}
}

func TestOverriddenOfSeveralPolicies(t *testing.T) {
	low := viewtest.SourceOf("bakery", "all", viewtest.HTTPRoute("baker", ""), "route", "bare")
	gw := viewtest.SourceOf("infra", "gw-auth", viewtest.Gateway(""), "gateway", "defaults")
	top := viewtest.SourceOf("infra", "cap", viewtest.Gateway(""), "gateway", "overrides")
	onInternal := lostOn(viewtest.HTTPRoute("baker", "rule-1"), "rules.b", gw, "ConditionFalse")
	onInternal.Paths = []view.Path{{Gateway: "infra/internal", Listener: "api"}}
	l := overriddenList(lostOn(viewtest.HTTPRoute("baker", "rule-1"), "rules.a", low, "LessSpecificOverrides", top),
		onInternal)
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{})),
		"authpolicy/bakery/all | rules.a | httproute/bakery/baker/rule-1 via gateway/infra/external (http) | authpolicy/infra/cap | override of Gateway",
		"authpolicy/infra/gw-auth | rules.b | httproute/bakery/baker/rule-1 via gateway/infra/internal (api) | - | condition false",
		"> 2 settings overridden on 1 route rule; each still applies somewhere")
	viewtest.Same(t, viewtest.TableText(overriddenList().Table(view.TableOptions{Target: "httproute/baker"})),
		"> nothing overridden for httproute/baker")
}

func TestOverriddenTreeGroupsByPolicyAndRule(t *testing.T) {
	gw := viewtest.SourceOf("infra", "gw-auth", viewtest.Gateway(""), "gateway", "defaults")
	top := viewtest.SourceOf("infra", "cap", viewtest.Gateway(""), "gateway", "overrides")
	roots := overriddenList(
		lostOn(viewtest.HTTPRoute("a", "rule-1"), "rules.a", gw, "AtomicOverridden", top),
		lostOn(viewtest.HTTPRoute("b", "rule-1"), "rules.a", gw, "AtomicOverridden", top),
		lostOn(viewtest.HTTPRoute("a", "rule-1"), "rules.b", gw, "AtomicOverridden", top),
	).Tree(view.TableOptions{})
	if len(roots) != 1 || len(roots[0].Children) != 2 || len(roots[0].Children[0].Children) != 2 {
		t.Errorf("got %+v", roots)
	}
}
