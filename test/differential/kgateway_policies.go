package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// policy draws a TrafficPolicy with one or two targets, by name or by label, or with none: filters may name those.
func (g *kgatewayInput) policy(name string) {
	t := draw.Pick(g.Source, g.targets...)
	if g.Chance(40) { // targets high up, and again those that were drawn before
		t = g.targets[g.IntN(min(4, len(g.targets)))]
	}
	metadata := g.Made(t.namespace, name)
	if g.Chance(10) {
		metadata["annotations"] = object{"kgateway.dev/policy-weight": fmt.Sprint(g.Between(-2, 2))}
	}
	spec := object{}
	g.settings(spec, g.target(spec, name, t))
	if g.Chance(5) { // an error: there are bits behind the prefix
		spec["acl"] = object{"defaultAction": "deny", "rules": []object{{"action": "allow", "cidrs": []string{"10.1.2.3/8"}}}}
	}
	g.add("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", metadata, spec)
}

// target draws what a policy is attached to, and reports whether these are HTTPRoutes alone.
func (g *kgatewayInput) target(spec object, name string, t target) bool {
	only := t.kind == "HTTPRoute"
	switch ref := withSection(object{"group": gatewayGroup, "kind": t.kind, "name": t.name}, t.section); {
	case g.Chance(15) && t.kind == "HTTPRoute":
		g.names[t.namespace] = append(g.names[t.namespace], name)
	case g.Chance(15):
		selector := withSection(object{"group": gatewayGroup, "kind": t.kind, "matchLabels": object{"tier": draw.Pick(g.Source, "a", "b")}}, t.section)
		spec["targetSelectors"] = []object{selector}
	default:
		if g.Chance(3) {
			ref["name"] = "missing"
		}
		refs := []object{ref}
		if more := draw.Pick(g.Source, g.targets...); g.Chance(15) && more != t && more.namespace == t.namespace {
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
		if names := g.names[at.namespace]; len(names) > 0 && g.Chance(40) {
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
	for _, name := range draw.Some(g.Source, 40, "extAuth", "extProc", "transformation", "acl") {
		how[name] = draw.Pick(g.Source, "DeepMerge", "ShallowMerge")
	}
	text, _ := json.Marshal(map[string]any{"trafficPolicy": how})
	return string(text)
}
