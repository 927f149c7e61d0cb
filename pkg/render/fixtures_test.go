package render

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	viewexplain "github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/kinds"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
)

// The cast of these tests: Gateway infra/external, HTTPRoutes bakery/baker and shop/cart, policies
// of group example.com.

func target(kind, name string) model.Ref {
	object, section, _ := strings.Cut(name, "#")
	namespace, object, _ := strings.Cut(object, "/")
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: kind, Namespace: namespace, Name: object,
		Section: section}
}

func source(policy string, at model.Ref, level, block, strategy string) view.Source {
	kind, name, _ := strings.Cut(policy, " ")
	namespace, name, _ := strings.Cut(name, "/")
	return view.Source{Policy: &model.Ref{Group: "example.com", Kind: kind, Namespace: namespace, Name: name},
		Target: &at, Level: level,
		Block: block, Strategy: strategy, Origin: &model.Origin{File: "demo/" + namespace + ".yaml", Line: 12}}
}

var (
	external = target("Gateway", "infra/external")
	baker    = target("HTTPRoute", "bakery/baker")
	rule1    = baker.WithSection("rule-1")
	rule2    = baker.WithSection("rule-2")

	gwAuth      = source("AuthPolicy infra/gw-auth", external, "gateway", "defaults", "merge")
	bakerAuth   = source("AuthPolicy bakery/baker", baker, "route", "bare", "atomic")
	gwCap       = source("LimitPolicy infra/gw-cap", external, "gateway", "overrides", "merge")
	bakerAll    = source("LimitPolicy bakery/baker-all", baker, "route", "defaults", "merge")
	bakerLimits = source("LimitPolicy bakery/baker-limits", rule1, "rule", "bare", "atomic")

	paths = []view.Path{{GatewayClass: "prod", Gateway: "infra/external", Listener: "http"},
		{GatewayClass: "prod", Gateway: "infra/external", Listener: "https"}}

	apiKey = map[string]any{"apiKey": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{
		"app": "baker"}}}}
	geo = map[string]any{"opa": map[string]any{"rego": "allow {\n  input.country != \"xx\"\n}\n"}}
)

func rates(limit int64, window string) map[string]any {
	return map[string]any{"rates": []any{map[string]any{"limit": limit, "window": window}}}
}

func setting(name string, value any, s view.Source, why string, lost ...view.Loss) view.Rule {
	return view.Rule{Name: name, Value: value, Sources: []view.Source{s}, Why: why,
		Lost: append([]view.Loss{}, lost...)}
}

func loss(s view.Source, value any, reason, message string) view.Loss {
	return view.Loss{Source: s, Value: value, Reason: reason, Why: explain.ShortReason(merge.Reason(reason), ""),
		Message: message}
}

func use(s view.Source, role string) view.PolicyUse {
	return view.PolicyUse{Policy: s.Policy, Target: s.Target, Level: s.Level, Strategy: s.Strategy,
		Origin: s.Origin, Role: role}
}

func auth(at model.Ref) view.EffectivePolicy {
	return view.EffectivePolicy{PolicyKind: "AuthPolicy.example.com", Target: at, Paths: paths, ID: "a1",
		Spec: map[string]any{"rules": map[string]any{"authentication": map[string]any{"api-key": apiKey},
			"authorization": map[string]any{"geo": geo}}},
		Rules: []view.Rule{setting("rules.authentication.api-key", apiKey, bakerAuth, "set here (route)"),
			setting("rules.authorization.geo", geo, gwAuth, "default of Gateway, not replaced")},
		Policies: []view.PolicyUse{use(gwAuth, "contributing"),
			use(bakerAuth, "contributing")}, Lost: []view.RuleLoss{}}
}

func limits() view.EffectivePolicy {
	return view.EffectivePolicy{PolicyKind: "LimitPolicy.example.com", Target: rule1, Paths: paths, ID: "b2",
		Spec: map[string]any{"limits": map[string]any{"burst": rates(20, "10s"), "cap": rates(100, "1s")}},
		Rules: []view.Rule{setting("limits.burst", rates(20, "10s"), bakerLimits, "set here (rule)"),
			setting("limits.cap", rates(100, "1s"), gwCap, "override of Gateway, beats bakery/baker-all",
				loss(bakerAll, rates(500, "1s"), "LessSpecificOverrides", "overridden by LimitPolicy infra/gw-cap"))},
		Policies: []view.PolicyUse{use(gwCap, "contributing"), use(bakerAll, "lost"), use(bakerLimits, "contributing")},
		Lost: []view.RuleLoss{{Rule: "limits.old", Loss: loss(bakerAll, rates(5, "10s"), "Unset",
			"unset by LimitPolicy bakery/baker-limits")}}}
}

func effectiveFixture() *effective.EffectivePolicyList {
	l := &effective.EffectivePolicyList{Items: []view.EffectivePolicy{auth(rule1), limits(), auth(rule2)}}
	l.Finish("EffectivePolicyList", nil)
	return l
}

func explanation() *viewexplain.Explanation {
	item := viewexplain.ExplainedPolicy{EffectivePolicy: limits(), Steps: []viewexplain.Step{
		{Policy: bakerLimits.Policy, Level: "rule", Block: "bare", Strategy: "atomic", Took: []string{"limits.burst"},
			Lost: []string{}, Result: []string{"limits.burst"}},
		{Policy: bakerAll.Policy, Level: "route", Block: "defaults", Strategy: "merge", Took: []string{"limits.cap"},
			Lost:   []string{"limits.old"},
			Result: []string{"limits.burst", "limits.cap"}, Notes: []string{
				"limits.old of bakery/baker-all is lost: unset by LimitPolicy bakery/baker-limits"}},
		{Policy: gwCap.Policy, Level: "gateway", Block: "overrides", Strategy: "merge",
			Condition: `"spec.limits.cap.rates.exists(r, r.limit > 100)": true`,
			Took:      []string{"limits.cap"}, Lost: []string{"limits.cap"}, Result: []string{"limits.burst",
				"limits.cap"}},
	}}
	l := &viewexplain.Explanation{Items: []viewexplain.ExplainedPolicy{item}}
	l.Finish("Explanation", nil)
	return l
}

func reachFixture() *reach.PolicyReach {
	cart := target("HTTPRoute", "shop/cart")
	cartAuth := source("AuthPolicy shop/cart-auth", cart, "route", "defaults", "merge")
	item := func(at model.Ref, state, reason string, by ...view.Source) reach.ReachItem {
		why := ""
		if len(by) > 0 {
			why = explain.DescribeOutcome(merge.MoreSpecificWins, by[0].Policy.FullName()+" (route)")
		}
		return reach.ReachItem{Why: why, Target: at, Paths: paths, Rule: "rules.authorization.geo", State: state,
			By: append([]view.Source{}, by...), Reason: reason}
	}
	r := &reach.PolicyReach{Policy: *gwAuth.Policy, Rule: "rules.authorization.geo", Items: []reach.ReachItem{
		item(rule1, "Effective", ""), item(rule2, "Effective", ""),
		item(cart.WithSection("checkout"), "Overridden", "replaced by AuthPolicy shop/cart-auth", cartAuth),
		item(cart.WithSection("refund"), "Overridden", "replaced by AuthPolicy shop/cart-auth",
			cartAuth), item(cart.WithSection("rule-3"), "Effective", ""),
		item(target("HTTPRoute", "shop/search#rule-1"), "Unset", "unset by AuthPolicy shop/search-auth",
			source("AuthPolicy shop/search-auth", target("HTTPRoute", "shop/search"), "route", "bare", "atomic")),
	}, Summary: reach.ReachSummary{Gateways: 1, Listeners: 2, Routes: 3, RouteRules: 6, Effective: 3, Overridden: 3}}
	r.Finish("PolicyReach", nil)
	return r
}

func overriddenFixture() *overridden.OverriddenRuleList {
	cart := target("HTTPRoute", "shop/cart")
	item := func(at model.Ref, reason string, to view.Source) overridden.OverriddenRule {
		return overridden.OverriddenRule{PolicyKind: "AuthPolicy.example.com", Rule: "rules.authorization.geo",
			Source: gwAuth, Value: geo, Target: at, Paths: paths,
			LostTo: []view.Source{to}, Reason: reason, Why: explain.ShortReason(merge.Reason(reason),
				to.Level), Message: "replaced by " + to.Policy.FullName()}
	}
	l := &overridden.OverriddenRuleList{Items: []overridden.OverriddenRule{
		item(cart.WithSection("checkout"), "MoreSpecificWins", source("AuthPolicy shop/cart-auth", cart, "route",
			"defaults", "merge")),
		item(target("HTTPRoute", "shop/search#rule-1"), "Unset", source("AuthPolicy shop/search-auth",
			target("HTTPRoute", "shop/search"), "route", "bare", "atomic")),
	}}
	l.Finish("OverriddenRuleList", nil)
	return l
}

func kindList() *kinds.KindList {
	l := &kinds.KindList{Items: []kinds.KindInfo{
		{Kind: "AuthPolicy.example.com", Plural: "authpolicies", ShortNames: []string{"ap"}, Vendor: "demo",
			Class: "Inherited", Targets: []string{"Gateway", "Gateway/listener", "HTTPRoute",
				"HTTPRoute/rule", "GRPCRoute"},
			Strategies: []string{"atomic", "merge"}, Effective: []string{"rule"}, Rules: "rules.*.*", Objects: 5,
			From: "built in", Schema: "demo 1.2.0"},
		{Kind: "ColorPolicy.example.org", Plural: "colorpolicies", ShortNames: []string{}, Vendor: "generic",
			Class: "Direct", Targets: []string{"Service"},
			Strategies: []string{"none"}, Effective: []string{"backend"}, Rules: "fields",
			From: "the label of its CRD"},
	}}
	l.Finish("KindList", []model.Problem{{Severity: model.Warning, Code: model.Forbidden, Message: "cannot list crds"}})
	return l
}

func graphFixture() *graph.Topology {
	node := func(id, kind string, ref model.Ref, labels map[string]string) graph.GraphNode {
		return graph.GraphNode{ID: id, Ref: ref, Kind: kind, Labels: labels}
	}
	t := &graph.Topology{
		Nodes: []graph.GraphNode{
			node("gc/prod", "gatewayClass", model.Ref{Group: "gateway.networking.k8s.io", Kind: "GatewayClass",
				Name: "prod"}, nil),
			node("gw/infra/external", "gateway", external, nil),
			node("gw/infra/external#http", "listener", external.WithSection("http"), map[string]string{"port": "80"}),
			node("p/infra/gw-cap", "policy", *gwCap.Policy, map[string]string{"policyKind": "LimitPolicy.example.com"}),
			node("p/bakery/baker-all", "policy", *bakerAll.Policy,
				map[string]string{"policyKind": "LimitPolicy.example.com"}),
			node("r/bakery/baker", "route", baker, map[string]string{"hostnames": "bakery.example.com"}),
			node("r/bakery/baker#rule-1", "rule", rule1, nil),
			node("r/bakery/baker#rule-2", "rule", rule2, nil),
		},
		Edges: []graph.GraphEdge{
			{From: "gc/prod", To: "gw/infra/external", Kind: "parent"},
			{From: "gw/infra/external", To: "gw/infra/external#http", Kind: "parent"},
			{From: "gw/infra/external#http", To: "r/bakery/baker", Kind: "parent"},
			{From: "r/bakery/baker", To: "r/bakery/baker#rule-1", Kind: "parent"},
			{From: "p/infra/gw-cap", To: "gw/infra/external", Kind: "targets"},
			{From: "p/infra/gw-cap", To: "r/bakery/baker#rule-1", Kind: "effective"},
			{From: "p/bakery/baker-all", To: "r/bakery/baker#rule-1", Kind: "overridden"},
			{From: "p/bakery/baker-all", To: "r/bakery/baker#rule-2", Kind: "effective", State: "partial"},
		},
	}
	t.Finish("Topology", nil)
	return t
}
