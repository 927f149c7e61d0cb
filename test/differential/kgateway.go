package main

import (
	"fmt"
	"slices"
)

// kgateway compares what kgateway's translator sets Envoy up with, route by route, and the statuses of policies.
var kgateway = peer{name: "kgateway", module: "github.com/kgateway-dev/kgateway/v2", inside: "test/cmd/dopolicy-peer", generate: drawKgateway, ask: askKgateway}

const gatewayAPI = "gateway.networking.k8s.io"

// drawKgateway draws one or two Gateways with listeners that share ports and have overlapping hostnames, HTTPRoutes, half of which hand rules
// over to other HTTPRoutes, and TrafficPolicies at every level. A third of the rules has no name, a fifth does not forward, a fifth of the
// policies is named by a filter.
//
// Values that the API server would add are written out: the translator does not add them. No path of a rule occurs twice, so that a path and a
// host tell the rule.
func drawKgateway(s source) input {
	g := kgatewayInput{source: s}
	g.add("gateway.networking.k8s.io/v1", "GatewayClass", g.made("", "kgateway"), object{"controllerName": "kgateway.dev/kgateway"})
	for _, name := range kgatewayNamespaces {
		metadata := g.made("", name)
		metadata["labels"] = object{"kubernetes.io/metadata.name": name}
		g.objects = append(g.objects, object{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
		g.add("v1", "Service", g.made(name, "web"), object{"ports": []object{{"name": "http", "port": 80, "protocol": "TCP"}}})
	}
	for _, name := range numbered("gw", pick(s, 1, 1, 2)) {
		g.gateway(name)
	}
	for _, name := range numbered("route", s.between(1, 3)) {
		g.rootRoute(name)
	}
	for i := range s.between(1, 8) {
		g.policy(fmt.Sprintf("p%d", i))
	}
	g.filters()
	return input{Objects: g.objects}
}

var kgatewayNamespaces = []string{"infra", "app", "team"}

// kgatewayInput is an input in the making.
type kgatewayInput struct {
	source
	objects  []object
	targets  []target // that policies may have
	parents  []target // that routes may have
	rules    []ruleAt
	children int                 // routes that others hand over to
	values   int                 // that were drawn
	names    map[string][]string // of policies that no reference has, by namespace
}

// ruleAt is a rule of a route in a namespace.
type ruleAt struct {
	namespace string
	rule      object
}

func (g *kgatewayInput) add(version, kind string, metadata, spec object) {
	g.objects = append(g.objects, object{"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
}

// value is a number that no other value of the input is.
func (g *kgatewayInput) value() int {
	g.values++
	return g.values
}

func (g *kgatewayInput) gateway(name string) {
	namespace := pick(g.source, "infra", "infra", "app")
	t := target{"Gateway", namespace, name, ""}
	g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	g.add("gateway.networking.k8s.io/v1", "Gateway", g.labelled(namespace, name), object{"gatewayClassName": "kgateway", "listeners": g.listeners(t, "l", g.between(1, 3))})
}

// listeners draws listeners of different hosts and ports.
func (g *kgatewayInput) listeners(owner target, stem string, n int) []object {
	var out []object
	for _, name := range numbered(stem, n) {
		listener := object{"name": name, "port": pick(g.source, 80, 80, 80, 8080), "protocol": "HTTP"}
		if host := pick(g.source, "", "*.example.com", "*.shop.example.com", "a.example.com", "a.shop.example.com"); host != "" {
			listener["hostname"] = host
		}
		if slices.ContainsFunc(out, func(o object) bool { return o["port"] == listener["port"] && o["hostname"] == listener["hostname"] }) {
			continue
		}
		listener["allowedRoutes"] = object{"namespaces": object{"from": pick(g.source, "All", "All", "All", "Same")}}
		out = append(out, listener)
		owner.section = name
		g.targets, g.parents = append(g.targets, owner), append(g.parents, owner)
	}
	return out
}

// labelled is the metadata of an object that selectors may select.
func (g *kgatewayInput) labelled(namespace, name string) object {
	out := g.made(namespace, name)
	if g.chance(50) {
		out["labels"] = object{"tier": pick(g.source, "a", "b")}
	}
	return out
}

// rootRoute draws a route with parents among the listeners.
func (g *kgatewayInput) rootRoute(name string) {
	var parents []object
	for _, p := range some(g.source, 30, g.parents...) {
		// A Gateway and a listener of its own as parents are one way twice.
		if !slices.ContainsFunc(parents, func(o object) bool { return o["name"] == p.name && (o["sectionName"] == nil || p.section == "") }) {
			parents = append(parents, withSection(object{"group": gatewayAPI, "kind": p.kind, "namespace": p.namespace, "name": p.name}, p.section))
		}
	}
	spec := object{"parentRefs": parents}
	if g.chance(70) {
		spec["hostnames"] = some(g.source, 30, "a.example.com", "b.example.com", "a.shop.example.com", "*.shop.example.com", "other.example.org")
	}
	g.route(pick(g.source, "app", "app", "infra", "team"), name, "/"+name, spec, 0)
}

func withSection(o object, section string) object {
	if section != "" {
		o["sectionName"] = section
	}
	return o
}

// route draws the rules of a route and adds it.
func (g *kgatewayInput) route(namespace, name, path string, spec object, depth int) {
	t := target{"HTTPRoute", namespace, name, ""}
	g.targets = append(g.targets, t)
	metadata := g.labelled(namespace, name)
	if g.chance(50) {
		how := pick(g.source, "ShallowMergePreferChild", "ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent")
		metadata["annotations"] = object{"kgateway.dev/inherited-policy-priority": how}
	}
	var rules []object
	for i := range pick(g.source, 1, 1, 2, 3) {
		at := fmt.Sprintf("%s/%d", path, i)
		rule := object{"matches": []object{{"path": object{"type": "PathPrefix", "value": at}}}}
		if g.chance(70) {
			t.section = fmt.Sprintf("rule-%d", i+1)
			rule["name"] = t.section
			g.targets = append(g.targets, t)
		}
		g.action(rule, target{"HTTPRoute", namespace, name, ""}, at, depth)
		g.rules = append(g.rules, ruleAt{namespace, rule})
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	g.add("gateway.networking.k8s.io/v1", "HTTPRoute", metadata, spec)
}

// action draws what a rule does: it forwards, redirects, or hands over to another route.
func (g *kgatewayInput) action(rule object, route target, path string, depth int) {
	namespace := route.namespace
	switch {
	case g.chance(35) && depth < 2 && g.children < 3:
		g.children++
		child, at := fmt.Sprintf("child-%d", g.children), pick(g.source, "app", "team")
		rule["backendRefs"] = []object{{"group": gatewayAPI, "kind": "HTTPRoute", "name": pick(g.source, child, child, "*"), "namespace": at}}
		spec := object{}
		if g.chance(50) || rule["backendRefs"].([]object)[0]["name"] == "*" {
			spec["parentRefs"] = []object{{"group": gatewayAPI, "kind": "HTTPRoute", "name": route.name, "namespace": namespace}}
		}
		g.route(at, child, path, spec, depth+1)
	case g.chance(10):
		rule["filters"] = []object{{"type": "RequestRedirect", "requestRedirect": object{"hostname": "elsewhere.example.com", "statusCode": 302}}}
	default:
		rule["backendRefs"] = []object{{"group": "", "kind": "Service", "name": "web", "namespace": namespace, "port": 80, "weight": 1}}
		if g.chance(10) {
			rule["timeouts"] = object{"request": fmt.Sprintf("%ds", g.value())}
		}
	}
}

// policy draws a TrafficPolicy with one or two targets, by name or by label, or with none: filters may name those.
func (g *kgatewayInput) policy(name string) {
	t := pick(g.source, g.targets...)
	if g.chance(30) { // targets high up, and again those that were drawn before
		t = g.targets[g.IntN(min(4, len(g.targets)))]
	}
	metadata := g.made(t.namespace, name)
	if g.chance(10) {
		metadata["annotations"] = object{"kgateway.dev/policy-weight": fmt.Sprint(g.between(-2, 2))}
	}
	kinds := map[string]bool{}
	spec := object{}
	switch ref := withSection(object{"group": gatewayAPI, "kind": t.kind, "name": t.name}, t.section); {
	case g.chance(15):
		if g.names == nil {
			g.names = map[string][]string{}
		}
		g.names[t.namespace] = append(g.names[t.namespace], name)
	case g.chance(15):
		kinds[t.kind] = true
		selector := withSection(object{"group": gatewayAPI, "kind": t.kind, "matchLabels": object{"tier": pick(g.source, "a", "b")}}, t.section)
		spec["targetSelectors"] = []object{selector}
	default:
		if g.chance(3) {
			ref["name"] = "missing"
		}
		kinds[t.kind] = true
		refs := []object{ref}
		if more := pick(g.source, g.targets...); g.chance(15) && more != t && more.namespace == t.namespace {
			kinds[more.kind] = true
			refs = append(refs, withSection(object{"group": gatewayAPI, "kind": more.kind, "name": more.name}, more.section))
		}
		spec["targetRefs"] = refs
	}
	delete(kinds, "HTTPRoute")
	g.settings(spec, len(kinds) == 0)
	g.add("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", metadata, spec)
}

// filters has rules name policies that have no targets.
func (g *kgatewayInput) filters() {
	for _, at := range g.rules {
		if names := g.names[at.namespace]; len(names) > 0 && g.chance(40) {
			ref := object{"group": "gateway.kgateway.dev", "kind": "TrafficPolicy", "name": pick(g.source, names...)}
			filters, _ := at.rule["filters"].([]object)
			at.rule["filters"] = append(filters, object{"type": "ExtensionRef", "extensionRef": ref})
		}
	}
}
