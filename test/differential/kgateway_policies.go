package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// policy draws a TrafficPolicy with one or two targets, by name or by label, or with none: filters may name those.
func (g *kgatewayInput) policy(name string) {
	t := pick(g.source, g.targets...)
	if g.chance(40) { // targets high up, and again those that were drawn before
		t = g.targets[g.IntN(min(4, len(g.targets)))]
	}
	metadata := g.made(t.namespace, name)
	if g.chance(10) {
		metadata["annotations"] = object{"kgateway.dev/policy-weight": fmt.Sprint(g.between(-2, 2))}
	}
	spec := object{}
	g.settings(spec, g.target(spec, name, t))
	if g.chance(5) { // an error: there are bits behind the prefix
		spec["acl"] = object{"defaultAction": "deny", "rules": []object{{"action": "allow", "cidrs": []string{"10.1.2.3/8"}}}}
	}
	g.add("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", metadata, spec)
}

// target draws what a policy is attached to, and reports whether these are HTTPRoutes alone.
func (g *kgatewayInput) target(spec object, name string, t target) bool {
	only := t.kind == "HTTPRoute"
	switch ref := withSection(object{"group": gatewayGroup, "kind": t.kind, "name": t.name}, t.section); {
	case g.chance(15) && t.kind == "HTTPRoute":
		g.names[t.namespace] = append(g.names[t.namespace], name)
	case g.chance(15):
		selector := withSection(object{"group": gatewayGroup, "kind": t.kind, "matchLabels": object{"tier": pick(g.source, "a", "b")}}, t.section)
		spec["targetSelectors"] = []object{selector}
	default:
		if g.chance(3) {
			ref["name"] = "missing"
		}
		refs := []object{ref}
		if more := pick(g.source, g.targets...); g.chance(15) && more != t && more.namespace == t.namespace {
			only = only && more.kind == "HTTPRoute"
			refs = append(refs, withSection(object{"group": gatewayGroup, "kind": more.kind, "name": more.name}, more.section))
		}
		spec["targetRefs"] = refs
	}
	return only
}

// filters has rules name policies that have no targets, each once: one that a rule and the rule that hands over to it both name would be combined with
// itself.
func (g *kgatewayInput) filters() {
	for _, at := range g.rules {
		if names := g.names[at.namespace]; len(names) > 0 && g.chance(40) {
			i := g.IntN(len(names))
			ref := object{"group": "gateway.kgateway.dev", "kind": "TrafficPolicy", "name": names[i]}
			g.names[at.namespace] = slices.Delete(names, i, i+1)
			filters, _ := at.rule["filters"].([]object)
			at.rule["filters"] = append(filters, object{"type": "ExtensionRef", "extensionRef": ref})
		}
	}
}

// policyMerge draws how policies of one level share settings.
func (g *kgatewayInput) policyMerge() string {
	how := map[string]string{}
	for _, name := range some(g.source, 40, "extAuth", "extProc", "transformation", "acl") {
		how[name] = pick(g.source, "DeepMerge", "ShallowMerge")
	}
	text, _ := json.Marshal(map[string]any{"trafficPolicy": how})
	return string(text)
}
