package main

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// rootRoute draws an HTTPRoute with parents among the listeners.
func (g *kgatewayInput) rootRoute(name string) {
	g.route(draw.Pick(g.Source, "app", "app", "infra", "team"), name, "/"+name, g.attached(), 0)
}

// attached is the spec of a route with parents and, in half of the cases, hostnames.
func (g *kgatewayInput) attached() object {
	var parents []object
	for _, p := range draw.Some(g.Source, 40, g.parents...) {
		// A Gateway and a listener of its own as parents are one way twice.
		if !slices.ContainsFunc(parents, func(o object) bool { return o["name"] == p.name && (o["sectionName"] == nil || p.section == "") }) {
			parents = append(parents, withSection(object{"group": gatewayGroup, "kind": p.kind, "namespace": p.namespace, "name": p.name}, p.section))
		}
	}
	out := object{"parentRefs": parents}
	if g.Chance(50) {
		out["hostnames"] = draw.Some(g.Source, 35, "a.example.com", "b.example.com", "a.shop.example.com", "*.shop.example.com")
	}
	return out
}

// route draws the rules of an HTTPRoute and adds it.
func (g *kgatewayInput) route(namespace, name, path string, spec object, depth int) {
	t := target{"HTTPRoute", namespace, name, ""}
	g.targets = append(g.targets, t)
	metadata := g.labelled(50, namespace, name)
	if g.Chance(50) {
		how := draw.Pick(g.Source, "ShallowMergePreferChild", "ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent")
		metadata["annotations"] = object{"kgateway.dev/inherited-policy-priority": how}
	}
	var rules []object
	for i := range draw.Pick(g.Source, 1, 1, 2, 3) {
		at := fmt.Sprintf("%s/%d", path, i)
		rule := object{"matches": []object{{"path": object{"type": "PathPrefix", "value": at}}}}
		g.name(rule, t, i)
		g.action(rule, t, at, depth)
		g.rules = append(g.rules, ruleAt{namespace, rule})
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	g.add("gateway.networking.k8s.io/v1", "HTTPRoute", metadata, spec)
}

// name gives most rules a name, by which policies may target them.
func (g *kgatewayInput) name(rule object, route target, at int) {
	if g.Chance(70) {
		route.section = fmt.Sprintf("rule-%d", at+1)
		rule["name"] = route.section
		g.targets = append(g.targets, route)
	}
}

// action draws what a rule does: it forwards, redirects, or hands over to another route.
func (g *kgatewayInput) action(rule object, route target, path string, depth int) {
	switch {
	case g.Chance(35) && depth < 2 && g.children < 3:
		g.children++
		child, at := fmt.Sprintf("child-%d", g.children), draw.Pick(g.Source, "app", "team")
		to := draw.Pick(g.Source, child, child, "*")
		rule["backendRefs"] = []object{{"group": gatewayGroup, "kind": "HTTPRoute", "name": to, "namespace": at, "weight": 1}}
		spec := object{}
		if to == "*" || g.Chance(50) {
			spec["parentRefs"] = []object{{"group": gatewayGroup, "kind": "HTTPRoute", "name": route.name, "namespace": route.namespace}}
		}
		g.route(at, child, path, spec, depth+1)
	case g.Chance(10):
		rule["filters"] = []object{{"type": "RequestRedirect", "requestRedirect": object{"hostname": "elsewhere.example.com", "statusCode": 302}}}
	default:
		g.forward(rule, route.namespace)
	}
	if g.Chance(10) {
		rule["timeouts"] = object{"request": fmt.Sprintf("%ds", g.value())}
	}
}

// forward has a rule forward to the Service of a namespace. Now and then the rule says itself what policies could say.
func (g *kgatewayInput) forward(rule object, namespace string) {
	rule["backendRefs"] = []object{{"group": "", "kind": "Service", "name": "web", "namespace": namespace, "port": 80, "weight": 1}}
	switch g.IntN(20) {
	case 0:
		rule["filters"] = []object{{"type": "URLRewrite", "urlRewrite": object{"hostname": "inside.example.com"}}}
	case 1:
		rule["filters"] = []object{{"type": "URLRewrite", "urlRewrite": object{"path": object{"type": "ReplaceFullPath", "replaceFullPath": "/inside"}}}}
	case 2:
		rule["filters"] = []object{{"type": "CORS", "cors": object{"allowOrigins": []string{"https://inside.example.com"}, "maxAge": 5}}}
	case 3:
		rule["retry"] = object{"attempts": g.value(), "codes": []int{503}, "backoff": "50ms"}
	}
}

// grpcRoute draws a GRPCRoute. No filter of one names a policy.
func (g *kgatewayInput) grpcRoute(name string) {
	t := target{"GRPCRoute", draw.Pick(g.Source, "app", "infra"), name, ""}
	g.targets = append(g.targets, t)
	spec := g.attached()
	var rules []object
	for i := range g.Between(1, 2) {
		rule := object{"matches": []object{{"method": object{"type": "Exact", "service": "shop.v1", "method": fmt.Sprintf("Call%d", i)}}},
			"backendRefs": []object{{"group": "", "kind": "Service", "name": "web", "namespace": t.namespace, "port": 80, "weight": 1}}}
		g.name(rule, t, i)
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	g.add("gateway.networking.k8s.io/v1", "GRPCRoute", g.labelled(50, t.namespace, name), spec)
}
