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
	if route := t.kind == "HTTPRoute" || t.kind == "GRPCRoute"; g.Chance(10) && (route || !g.mixed) {
		metadata["annotations"] = object{"kgateway.dev/policy-weight": fmt.Sprint(g.Between(-2, 2))}
	}
	spec := object{}
	g.settings(spec, g.target(spec, name, t))
	if g.Chance(5) { // an error: there are bits behind the prefix
		spec["acl"] = object{"defaultAction": "deny", "rules": []object{{"action": "allow", "cidrs": []string{"10.1.2.3/8"}}}}
	}
	g.add("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", metadata, spec)
}

// listenerPolicy draws a ListenerPolicy for a Gateway, a ListenerSet or a listener.
func (g *kgatewayInput) listenerPolicy(name string) {
	t := g.parents[g.IntN(len(g.parents))]
	if g.Chance(50) {
		t = g.parents[0]
	}
	n := g.value()
	fields := object{}
	http := object{"serverName": fmt.Sprint(n), "idleTimeout": fmt.Sprintf("%ds", n), "maxRequestHeadersKb": n, "maxHeadersCount": n, "acceptHttp10": true,
		"skipXFFAppend": true, "useRemoteAddress": g.Chance(40), "xffNumTrustedHops": n}
	settings := object{}
	for _, field := range draw.Some(g.Source, 30, "serverName", "idleTimeout", "maxRequestHeadersKb", "maxHeadersCount", "acceptHttp10", "skipXFFAppend", "useRemoteAddress", "xffNumTrustedHops") {
		settings[field] = http[field]
	}
	fields["httpSettings"] = settings
	if g.Chance(30) {
		fields["perConnectionBufferLimitBytes"] = 1000 + n
	}
	spec := object{"default": fields}
	if g.Chance(20) {
		spec["perPort"] = []object{{"port": draw.Pick(g.Source, 80, 8080), "listener": object{"httpSettings": object{"serverName": fmt.Sprint(n)}}}}
	}
	if g.Chance(20) {
		spec["targetSelectors"] = []object{withSection(object{"group": gatewayGroup, "kind": t.kind, "matchLabels": object{"tier": draw.Pick(g.Source, "a", "b")}}, t.section)}
	} else {
		spec["targetRefs"] = []object{withSection(object{"group": gatewayGroup, "kind": t.kind, "name": t.name}, t.section)}
	}
	g.add("gateway.kgateway.dev/v1alpha1", "ListenerPolicy", g.Made(t.namespace, name), spec)
}

// backendPolicy draws a BackendConfigPolicy for the Service of a namespace.
func (g *kgatewayInput) backendPolicy(name string) {
	n := g.value()
	all := object{"connectTimeout": fmt.Sprintf("%ds", n), "perConnectionBufferLimitBytes": 1000 + n, "tcpKeepalive": object{"keepAliveProbes": n},
		"commonHttpProtocolOptions": object{"maxRequestsPerConnection": n}}
	spec := object{"targetRefs": []object{{"group": "", "kind": "Service", "name": "web"}}}
	for _, field := range draw.Some(g.Source, 50, "connectTimeout", "perConnectionBufferLimitBytes", "tcpKeepalive", "commonHttpProtocolOptions") {
		spec[field] = all[field]
	}
	g.add("gateway.kgateway.dev/v1alpha1", "BackendConfigPolicy", g.Made(draw.Pick(g.Source, kgatewayNamespaces...), name), spec)
}

// target draws what a policy is attached to, and reports whether these are HTTPRoutes alone.
func (g *kgatewayInput) target(spec object, name string, t target) bool {
	only := t.kind == "HTTPRoute"
	switch ref := withSection(object{"group": gatewayGroup, "kind": t.kind, "name": t.name}, t.section); {
	case g.Chance(15) && t.kind == "HTTPRoute":
		g.names[t.namespace] = append(g.names[t.namespace], name)
	case g.Chance(20):
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
