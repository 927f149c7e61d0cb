package main

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// policyKind is a kind of policies whose settings an audit compares.
type policyKind struct {
	version, kind string
	settings      []policySetting
}

// policySetting is one setting of a policy, and how a value is drawn. Those of a cluster hold for all listeners of a rule, whatever the policy is for.
type policySetting struct {
	name      string
	value     func(s draw.Source) any
	ofCluster bool
}

// policyDrawing is a world that gets policies.
type policyDrawing struct {
	draw.Source
	*world
	kinds []policyKind
	drawn int
}

// addPolicies draws policies for Gateways, listeners, routes and their rules: one at most of a kind for a target, with two or three settings.
func addPolicies(s draw.Source, w *world, kinds []policyKind) *policyDrawing {
	g := &policyDrawing{Source: s, world: w, kinds: kinds}
	g.nameRules()
	for range s.Between(1, 4) {
		g.addPolicy()
	}
	return g
}

// nameRules gives every rule a name, by which policies may have it as target, and backends that are there and get something: no settings are compared of
// a rule that is answered with 500.
func (g *policyDrawing) nameRules() {
	for _, o := range g.routes() {
		for i, rule := range list(o, "spec", "rules") {
			rule := rule.(object)
			rule["name"] = fmt.Sprintf("named-%d", i)
			for _, ref := range list(rule, "backendRefs") {
				ref := ref.(object)
				delete(ref, "weight")
				if ref["name"] == "missing" {
					ref["name"] = g.serviceIn(text(o, "metadata", "namespace"))
					delete(ref, "namespace")
				}
			}
		}
	}
}

// serviceIn is the name of a Service of a namespace. There is one, as a reference that leads nowhere had one before.
func (g *policyDrawing) serviceIn(namespace string) string {
	for _, o := range g.of("Service") {
		if text(o, "metadata", "namespace") == namespace {
			return text(o, "metadata", "name")
		}
	}
	return "missing"
}

func (w *world) routes() []object { return append(w.of("HTTPRoute"), w.of("GRPCRoute")...) }

// addPolicy adds a policy, unless there is one of its kind for its target.
func (g *policyDrawing) addPolicy() object {
	kind := draw.Pick(g.Source, g.kinds...)
	target, section := g.target()
	ref := object{"group": gatewayGroup, "kind": target["kind"], "name": text(target, "metadata", "name")}
	if section != "" {
		ref["sectionName"] = section
	}
	for _, o := range g.of(kind.kind) {
		if text(o, "metadata", "namespace") != text(target, "metadata", "namespace") {
			continue
		}
		for _, other := range list(o, "spec", "targetRefs") {
			if text(other, "kind") == ref["kind"] && text(other, "name") == ref["name"] && text(other, "sectionName") == section {
				return nil
			}
		}
	}
	g.drawn++
	spec := object{"targetRefs": []any{ref}}
	listener := target["kind"] == "Gateway" && section != ""
	for _, setting := range draw.Some(g.Source, 40, kind.settings...) {
		if !setting.ofCluster || !listener {
			spec[setting.name] = setting.value(g.Source)
		}
	}
	if len(spec) == 1 {
		return nil
	}
	out := object{"apiVersion": kind.version, "kind": kind.kind, "spec": spec,
		"metadata": g.Made(text(target, "metadata", "namespace"), fmt.Sprintf("policy-%d", g.drawn))}
	g.Objects = append(g.Objects, out)
	return out
}

// target draws an object for a policy, and now and then a section of it.
func (g *policyDrawing) target() (object, string) {
	o := draw.Pick(g.Source, append(g.of("Gateway"), g.routes()...)...)
	sections := list(o, "spec", "listeners")
	if o["kind"] != "Gateway" {
		sections = list(o, "spec", "rules")
	}
	if g.Chance(40) {
		return o, text(draw.Pick(g.Source, sections...), "name")
	}
	return o, ""
}

// change is what was changed in a world, and how an audit names it: by the kind of the policy, with the setting where it is one, or by the route.
type change struct {
	what          string
	kind, setting string
	route         string
}

// change changes one thing that an audit compares: a value of a policy, a policy that is new or gone, or a rule of a route that is.
func (g *policyDrawing) change() change {
	var policies []object
	for _, kind := range g.kinds {
		policies = append(policies, g.of(kind.kind)...)
	}
	switch n := g.IntN(10); {
	case n < 5 && len(policies) > 0:
		return g.changeValue(draw.Pick(g.Source, policies...))
	case n < 7 && len(policies) > 0:
		p := draw.Pick(g.Source, policies...)
		g.remove(p)
		return change{what: named(p) + " is gone", kind: p["kind"].(string)}
	case n < 9:
		if p := g.addPolicy(); p != nil {
			return change{what: named(p) + " is new", kind: p["kind"].(string)}
		}
	}
	o := draw.Pick(g.Source, g.routes()...)
	out := change{route: strings.ToLower(o["kind"].(string)) + "/" + named(o)}
	rules := list(o, "spec", "rules")
	if len(rules) > 1 {
		o["spec"].(object)["rules"] = rules[:len(rules)-1]
		out.what = "the last rule is gone of " + out.route
		return out
	}
	rule := object{"name": "new", "backendRefs": rules[0].(object)["backendRefs"]}
	if rule["backendRefs"] == nil {
		delete(rule, "backendRefs")
		rule["filters"] = rules[0].(object)["filters"]
	}
	o["spec"].(object)["rules"] = append(rules, rule)
	out.what = "a rule is new of " + out.route
	return out
}

// changeValue draws a value of a policy again.
func (g *policyDrawing) changeValue(policy object) change {
	spec := policy["spec"].(object)
	for _, kind := range g.kinds {
		if kind.kind != policy["kind"] {
			continue
		}
		for _, setting := range kind.settings {
			if spec[setting.name] != nil {
				spec[setting.name] = setting.value(g.Source)
				return change{what: fmt.Sprintf("%s of %s is another", setting.name, named(policy)), kind: kind.kind, setting: setting.name}
			}
		}
	}
	return change{what: "nothing"}
}

// remove takes an object out of the world.
func (g *policyDrawing) remove(o object) {
	var left []object
	for _, other := range g.Objects {
		if other["kind"] != o["kind"] || named(other) != named(o) {
			left = append(left, other)
		}
	}
	g.Objects = left
}

// Policies of Envoy Gateway.
var envoyGatewayPolicies = []policyKind{
	{"gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", []policySetting{
		{name: "timeout", value: func(s draw.Source) any { return object{"http": object{"requestTimeout": seconds(s)}} }},
		{name: "faultInjection", value: func(s draw.Source) any { return object{"delay": object{"fixedDelay": seconds(s)}} }},
		{name: "rateLimit", value: func(s draw.Source) any {
			return object{"type": "Local", "local": object{"rules": []any{object{"limit": object{"requests": s.Between(1, 99), "unit": "Minute"}}}}}
		}},
		{name: "retry", value: func(s draw.Source) any {
			return object{"numRetries": s.Between(1, 9), "retryOn": object{"httpStatusCodes": []any{s.Between(500, 504)}}}
		}},
		{name: "requestBuffer", value: func(s draw.Source) any { return object{"limit": fmt.Sprintf("%dKi", s.Between(1, 99))} }},
		{name: "circuitBreaker", ofCluster: true, value: func(s draw.Source) any { return object{"maxConnections": s.Between(1, 99)} }},
		{name: "tcpKeepalive", ofCluster: true, value: func(s draw.Source) any { return object{"probes": s.Between(1, 9)} }},
		{name: "healthCheck", ofCluster: true, value: func(s draw.Source) any { return object{"passive": object{"consecutive5XxErrors": s.Between(1, 9)}} }},
		{name: "loadBalancer", ofCluster: true, value: func(s draw.Source) any { return object{"type": draw.Pick(s, "Random", "RoundRobin", "LeastRequest")} }},
	}},
	{"gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", []policySetting{
		{name: "cors", value: func(s draw.Source) any {
			return object{"allowOrigins": []any{fmt.Sprintf("https://%d.example.com", s.Between(1, 9))}, "allowMethods": draw.Some(s, 50, "GET", "POST", "PUT")}
		}},
		{name: "authorization", value: func(s draw.Source) any { return object{"defaultAction": "Deny"} }},
	}},
}

func seconds(s draw.Source) string { return fmt.Sprintf("%ds", s.Between(1, 99)) }
