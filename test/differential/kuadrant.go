package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// kuadrant compares effective policies with what Kuadrant's operator merges with policy-machinery, path by path.
var kuadrant = peer{Peer: built("kuadrant", "github.com/kuadrant/kuadrant-operator", ""), generate: drawKuadrant, ask: askKuadrant}

// drawKuadrant draws Gateways and routes as small teams have them, with policies at every level. Three in ten targets have several
// policies, half of the policies say what kind of block they are, and two in ten listeners are targeted by name. No value occurs twice, so that a
// value tells its source: what the operator notes as the source of a rule is wrong after a second merge (mapRuleWithSourceFunc).
// Rules of routes have no names: the Gateway API that this release knows had none.
func drawKuadrant(s draw.Source) input {
	g := kuadrantInput{drawing: drawing{Source: s}}
	g.add("gateway.networking.k8s.io/v1", "GatewayClass", s.Made("", "class"), object{"controllerName": "example.com/controller"})
	for _, name := range draw.Numbered("gw", s.Between(1, 3)) {
		g.gateway(name)
	}
	for _, name := range draw.Numbered("route", s.Between(1, 4)) {
		g.route(name)
	}
	for i := range s.Between(1, 9) {
		g.policy(fmt.Sprintf("p%d", i))
	}
	return input{Objects: g.objects}
}

// kuadrantInput is an input in the making.
type kuadrantInput struct {
	drawing
	targets []target // that policies may have
	parents []target
}

// target is an object or a section of one.
type target struct{ kind, namespace, name, section string }

func (g *kuadrantInput) gateway(name string) {
	namespace := draw.Pick(g.Source, "infra", "infra", "team")
	t := target{"Gateway", namespace, name, ""}
	g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	var listeners []object
	for i, name := range draw.Numbered("l", g.Between(1, 3)) {
		listeners = append(listeners, object{"name": name, "port": 80 + i, "protocol": "HTTP", "allowedRoutes": object{"namespaces": object{"from": "All"}}})
		t.section = name
		g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	}
	g.add("gateway.networking.k8s.io/v1", "Gateway", g.Made(namespace, name), object{"gatewayClassName": "class", "listeners": listeners})
}

func (g *kuadrantInput) route(name string) {
	namespace := draw.Pick(g.Source, "app", "app", "infra")
	t := target{"HTTPRoute", namespace, name, ""}
	g.targets = append(g.targets, t)
	var parents, rules []object
	for _, p := range draw.Some(g.Source, 30, g.parents...) {
		// A Gateway and a listener of its own as parents are one way twice.
		if !slices.ContainsFunc(parents, func(o object) bool { return o["name"] == p.name && (o["sectionName"] == nil || p.section == "") }) {
			parent := object{"name": p.name, "namespace": p.namespace}
			if p.section != "" {
				parent["sectionName"] = p.section
			}
			parents = append(parents, parent)
		}
	}
	for i := range g.Between(1, 3) {
		rule := object{"matches": []object{{"path": object{"type": "PathPrefix", "value": fmt.Sprintf("/%s/%d", name, i)}}}, "backendRefs": []object{{"name": "backend", "port": 80}}}
		t.section = fmt.Sprintf("rule-%d", i+1)
		g.targets = append(g.targets, t)
		rules = append(rules, rule)
	}
	g.add("gateway.networking.k8s.io/v1", "HTTPRoute", g.Made(namespace, name), object{"parentRefs": parents, "rules": rules})
}

func (g *kuadrantInput) policy(name string) {
	t := draw.Pick(g.Source, g.targets...)
	if g.Chance(30) { // targets high up, and again those that were drawn before
		t = g.targets[g.IntN(min(4, len(g.targets)))]
	}
	ref := object{"group": "gateway.networking.k8s.io", "kind": t.kind, "name": t.name}
	if t.section != "" {
		ref["sectionName"] = t.section
	}
	if g.Chance(3) {
		ref["name"] = "missing"
	}
	kind, proper := "AuthPolicy", object{"rules": g.authRules()}
	if g.Chance(40) {
		kind, proper = "RateLimitPolicy", object{"limits": g.limits()}
	}
	if g.Chance(15) {
		proper["when"] = []object{{"predicate": fmt.Sprintf("request.path != '/%d'", g.value())}}
	}
	spec := object{"targetRef": ref}
	switch block := draw.Pick(g.Source, "", "", "defaults", "defaults", "overrides"); block {
	case "":
		for key, value := range proper {
			spec[key] = value
		}
	default:
		if strategy := draw.Pick(g.Source, "", "atomic", "merge", "merge"); strategy != "" {
			proper["strategy"] = strategy
		}
		spec[block] = proper
	}
	g.add("kuadrant.io/v1", kind, g.Made(t.namespace, name), spec)
}

// authRules draws named rules of some of the sections of an AuthPolicy.
func (g *kuadrantInput) authRules() object {
	out := object{}
	for _, section := range draw.Some(g.Source, 40, "authentication", "authorization", "metadata") {
		rules := object{}
		for _, name := range draw.Some(g.Source, 40, "a", "b", "c") {
			switch priority := g.value(); section {
			case "authentication":
				rules[name] = object{"anonymous": object{}, "priority": priority}
			case "authorization":
				rules[name] = object{"opa": object{"rego": fmt.Sprintf("allow = %d", priority)}}
			default:
				rules[name] = object{"http": object{"url": fmt.Sprintf("http://metadata/%d", priority)}}
			}
		}
		out[section] = rules
	}
	return out
}

func (g *kuadrantInput) limits() object {
	out := object{}
	for _, name := range draw.Some(g.Source, 40, "a", "b", "c") {
		out[name] = object{"rates": []object{{"limit": g.value(), "window": "1m"}}}
	}
	return out
}

// askKuadrant reads the effective policy on every path.
func askKuadrant(ctx context.Context, p program.Program, _ translate, in *input) (facts, error) {
	out := facts{}
	return out, effectiveFacts(ctx, p, in, out, "--vendor-setting", "kuadrant.profile=operator")
}
