package view

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func overriddenList(items ...OverriddenRule) *OverriddenRuleList {
	l := &OverriddenRuleList{Items: items}
	l.Finish("OverriddenRuleList", nil)
	return l
}

func lostOn(target model.Ref, rule string, loser Source, reason string, to ...Source) OverriddenRule {
	return OverriddenRule{PolicyKind: "AuthPolicy.example.com", Rule: rule, Source: loser, Value: true, Target: target,
		Paths: []Path{{Gateway: "infra/external", Listener: "http"}}, LostTo: to, Reason: reason, Why: shortLossReason(merge.Reason(reason), to), Message: "a sentence"}
}

func TestOverriddenOfOnePolicy(t *testing.T) {
	gw := from("infra", "gw-auth", gateway(""), "gateway", "defaults")
	cart := from("shop", "cart-auth", httpRoute("cart", ""), "route", "defaults")
	l := overriddenList(
		lostOn(httpRoute("search", "rule-1"), "rules.geo", gw, "Unset", cart),
		lostOn(httpRoute("cart", "refund"), "rules.geo", gw, "MoreSpecificWins", cart),
		lostOn(httpRoute("cart", "checkout"), "rules.geo", gw, "MoreSpecificWins", cart),
	)
	l.Items[0].Everywhere = true
	same(t, text(l.Table(TableOptions{})),
		"# AuthPolicy infra/gw-auth",
		"rules.geo | httproute bakery/cart checkout, refund | AuthPolicy shop/cart-auth | more specific default",
		"rules.geo | httproute bakery/search rule-1 | AuthPolicy shop/cart-auth | unset",
		"> 3 losses on 3 targets · in force nowhere: rules.geo")
	if rows := l.Table(TableOptions{ByRule: true}).Blocks[0].Rows; len(rows) != 3 {
		t.Errorf("by rule there are %d lines, want 3", len(rows))
	}
}

func TestOverriddenOfSeveralPolicies(t *testing.T) {
	low := from("bakery", "all", httpRoute("baker", ""), "route", "bare")
	gw := from("infra", "gw-auth", gateway(""), "gateway", "defaults")
	top := from("infra", "cap", gateway(""), "gateway", "overrides")
	onInternal := lostOn(httpRoute("baker", "rule-1"), "rules.b", gw, "ConditionFalse")
	onInternal.Paths = []Path{{Gateway: "infra/internal", Listener: "api"}}
	l := overriddenList(lostOn(httpRoute("baker", "rule-1"), "rules.a", low, "LessSpecificOverrides", top), onInternal)
	same(t, text(l.Table(TableOptions{})),
		"AuthPolicy bakery/all | rules.a | httproute bakery/baker rule-1 via Gateway infra/external (http) | AuthPolicy infra/cap | override of Gateway",
		"AuthPolicy infra/gw-auth | rules.b | httproute bakery/baker rule-1 via Gateway infra/internal (api) | - | condition false",
		"> 2 losses on 1 target · in force nowhere: none")
	same(t, text(overriddenList().Table(TableOptions{Target: "httproute/baker"})), "> nothing overridden for httproute/baker")
}

func TestOverriddenTreeGroupsByPolicyAndRule(t *testing.T) {
	gw := from("infra", "gw-auth", gateway(""), "gateway", "defaults")
	top := from("infra", "cap", gateway(""), "gateway", "overrides")
	roots := overriddenList(
		lostOn(httpRoute("a", "rule-1"), "rules.a", gw, "AtomicOverridden", top),
		lostOn(httpRoute("b", "rule-1"), "rules.a", gw, "AtomicOverridden", top),
		lostOn(httpRoute("a", "rule-1"), "rules.b", gw, "AtomicOverridden", top),
	).Tree(TableOptions{})
	if len(roots) != 1 || len(roots[0].Children) != 2 || len(roots[0].Children[0].Children) != 2 {
		t.Errorf("got %+v", roots)
	}
}
