package main

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

const gatewayGroup = "gateway.networking.k8s.io"

// Hostnames that listeners and routes have. Few, so that they meet often.
var (
	listenerHosts = []string{"*.example.com", "*.example.com", "shop.example.com", "api.example.com", "*.shop.example.com"}
	routeHosts    = []string{"shop.example.com", "shop.example.com", "api.example.com", "*.example.com", "*.example.com", "*.shop.example.com", "a.shop.example.com", "other.example.com"}
)

// drawWorld draws one or two Gateways of the vendor with one to four listeners each, now and then a ListenerSet, and two to five routes whose rules
// compete: paths, headers and queries are drawn from short lists, times of creation repeat, and each rule has backends of its own, which tell
// the rule. One rule in ten redirects, one in eight rewrites, one in eight has several backends with weights, one in twenty a backend that is not
// there. What an API server would refuse is not drawn.
//
// With policies, rules have names, none redirects, and all backends are there.
func drawWorld(s draw.Source, v *vendor, policies bool) (*world, error) {
	g := worldDrawing{Source: s, vendor: v, policies: policies}
	g.add("v1", "Namespace", g.Made("", "t"), nil)
	g.add("v1", "Namespace", g.Made("", "u"), nil)
	g.add(gatewayGroup+"/v1", "GatewayClass", g.Made("", "class"), object{"controllerName": v.controller})
	secret := draw.CertificateIn("t")
	g.objects = append(g.objects, secret)
	g.gateway("edge")
	if g.Chance(25) {
		g.gateway("inner")
	}
	if v.takes("ListenerSet") && g.Chance(25) {
		g.listenerSet("set")
	}
	for i := range g.Between(2, 5) {
		kind := "HTTPRoute"
		if v.takes("GRPCRoute") && g.Chance(20) {
			kind = "GRPCRoute"
		}
		g.route(kind, fmt.Sprintf("r%d", i+1))
	}
	if policies {
		v.policies(&g)
	}
	return (&world{Objects: g.objects}).clone()
}

// parent is what a route may be attached to: a Gateway or ListenerSet, or one of its listeners.
type parent struct {
	kind, name, section string
	port                int
	secure              bool
}

// worldDrawing is a world in the making.
type worldDrawing struct {
	draw.Source
	vendor   *vendor
	policies bool
	objects  []object
	parents  []parent
	backends int // that were drawn
}

func (g *worldDrawing) add(version, kind string, metadata, spec object) {
	o := object{"apiVersion": version, "kind": kind, "metadata": metadata}
	if spec != nil {
		o["spec"] = spec
	}
	g.objects = append(g.objects, o)
}

func (g *worldDrawing) gateway(name string) {
	spec := object{"gatewayClassName": "class", "listeners": g.listeners("Gateway", name, draw.Pick(g.Source, 1, 1, 2, 2, 3, 4)),
		"allowedListeners": object{"namespaces": object{"from": "All"}}}
	g.add(gatewayGroup+"/v1", "Gateway", g.Made("t", name), spec)
}

func (g *worldDrawing) listenerSet(name string) {
	g.add(gatewayGroup+"/v1", "ListenerSet", g.Made("t", name), object{"parentRef": object{"name": "edge"}, "listeners": g.listeners("ListenerSet", name, g.Between(1, 2))})
}

// listeners draws listeners of which no two have the same port and hostname, as the API demands of those of one object.
func (g *worldDrawing) listeners(kind, owner string, n int) []object {
	g.parents = append(g.parents, parent{kind: kind, name: owner})
	var out []object
	seen := map[string]bool{}
	for _, name := range draw.Numbered("l", n) {
		p := parent{kind, owner, name, draw.Pick(g.Source, 80, 80, 80, 8080), false}
		l := object{"name": name, "protocol": "HTTP", "allowedRoutes": object{"namespaces": object{"from": "All"}}}
		if g.Chance(30) {
			p.port, p.secure = draw.Pick(g.Source, 443, 443, 443, 8443), true
			l["protocol"], l["tls"] = "HTTPS", object{"mode": "Terminate", "certificateRefs": []object{{"name": "cert"}}}
		}
		l["port"] = p.port
		if g.Chance(60) {
			l["hostname"] = draw.Pick(g.Source, listenerHosts...)
		}
		key := fmt.Sprint(p.port, l["hostname"])
		if seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, l)
		g.parents = append(g.parents, p)
	}
	return out
}

func (g *worldDrawing) route(kind, name string) {
	namespace := draw.Pick(g.Source, "t", "t", "t", "u")
	spec := object{"parentRefs": g.parentRefs()}
	if g.Chance(75) {
		spec["hostnames"] = distinct(draw.Some(g.Source, 15, routeHosts...))
	}
	var rules []object
	for range draw.Pick(g.Source, 1, 1, 2, 2, 3) {
		rule := g.rule(kind, namespace)
		if g.policies {
			rule["name"] = fmt.Sprintf("m%d", len(rules)+1)
		}
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	g.add(gatewayGroup+"/v1", kind, g.Made(namespace, name), spec)
}

// parentRefs draws parents, of which none covers another: one way twice is not what anybody writes.
func (g *worldDrawing) parentRefs() []object {
	var out []object
	var taken []parent
	for _, p := range draw.Some(g.Source, 35, g.parents...) {
		if slices.ContainsFunc(taken, func(o parent) bool {
			return o.kind == p.kind && o.name == p.name && (o.section == "" || p.section == "")
		}) {
			continue
		}
		taken = append(taken, p)
		ref := object{"name": p.name, "namespace": "t"}
		if p.kind != "Gateway" {
			ref["group"], ref["kind"] = gatewayGroup, p.kind
		}
		if p.section != "" {
			ref["sectionName"] = p.section
		}
		out = append(out, ref)
	}
	if len(out) == 1 && g.Chance(10) { // those of several that name one parent have all to name a port, or none
		out[0]["port"] = draw.Pick(g.Source, 80, 443, 8080)
	}
	return out
}

func (g *worldDrawing) rule(kind, namespace string) object {
	rule := object{}
	if n := draw.Pick(g.Source, 0, 1, 1, 1, 1, 1, 2, 2, 3); n > 0 {
		var matches []object
		for range n {
			if kind == "GRPCRoute" {
				matches = append(matches, g.grpcMatch())
			} else {
				matches = append(matches, g.httpMatch())
			}
		}
		rule["matches"] = matches
	}
	if kind == "HTTPRoute" {
		switch prefix := onlyPrefix(rule); {
		case !g.policies && g.Chance(10):
			rule["filters"] = []object{{"type": "RequestRedirect", "requestRedirect": g.redirect(prefix)}}
			return rule
		case g.Chance(12):
			rule["filters"] = []object{{"type": "URLRewrite", "urlRewrite": g.rewrite(prefix)}}
		}
	}
	rule["backendRefs"] = g.backendRefs(namespace)
	return rule
}

// onlyPrefix reports whether a rule has one match, with a path prefix: then a filter may replace it.
func onlyPrefix(rule object) bool {
	matches, _ := rule["matches"].([]object)
	if len(matches) != 1 {
		return false
	}
	path, _ := matches[0]["path"].(object)
	return path["type"] == "PathPrefix"
}

// expression is a regular expression, with values of which some match it.
type expression struct {
	text   string
	values []string
}

var (
	pathValues   = []string{"/", "/a", "/a", "/a/", "/a/b", "/a/b", "/ab", "/a/b/c", "/x", "/x/y"}
	pathPatterns = []expression{
		{"/a.*", []string{"/a", "/ab", "/a/b/c"}}, {"/[a-z]+", []string{"/x", "/abc", "/x/y"}}, {"/a/[0-9]+", []string{"/a/1", "/a/12", "/a/1x"}},
		{"/(a|x)/b", []string{"/a/b", "/x/b", "/x/b/c"}}, {".*", []string{"/", "/zzz"}}, {"/x/.+", []string{"/x/y", "/x/"}}, {"/a/b?", []string{"/a/", "/a/b"}},
		{"/.*b", []string{"/ab", "/x/b", "/b/c"}}, {"a/b", []string{"/a/b", "a/b"}}, {"/A", []string{"/A", "/a"}}, {"/a|/x", []string{"/a", "/x", "/x/y"}},
	}
	valuePatterns  = []expression{{"[0-9]+", []string{"1", "12", "x1"}}, {"1|2", []string{"1", "2", "12"}}, {"o.*", []string{"one", "o", "two"}}, {"n", []string{"n", "one"}}, {"^1", []string{"1", "12"}}}
	plainValues    = []string{"1", "2", "one"}
	headerNames    = []string{"x-a", "x-b", "X-C"}
	queryNames     = []string{"q", "r", "s"}
	services       = []string{"a.A", "a.A", "b.B", "a"}
	calls          = []string{"Get", "Get", "Put"}
	servicePattern = []expression{{`a\..*`, []string{"a.A", "a.B"}}, {`[ab]\.[AB]`, []string{"a.B", "b.B"}}, {"a.A|b.B", []string{"a.A", "b.B"}}}
	callPattern    = []expression{{"G.*", []string{"Get", "Got"}}, {"[A-Z]et", []string{"Get", "Set"}}}
)

// pattern is the expression with a text.
func pattern(in []expression, text string) expression {
	for _, e := range in {
		if e.text == text {
			return e
		}
	}
	return expression{text, []string{text}}
}

func (g *worldDrawing) httpMatch() object {
	match := object{}
	if g.Chance(90) {
		kind := draw.Pick(g.Source, "PathPrefix", "PathPrefix", "PathPrefix", "Exact", "Exact", "RegularExpression")
		value := draw.Pick(g.Source, pathValues...)
		if kind == "RegularExpression" && g.Chance(85) {
			value = draw.Pick(g.Source, pathPatterns...).text
		}
		match["path"] = object{"type": kind, "value": value}
	}
	if g.Chance(20) {
		match["method"] = draw.Pick(g.Source, "GET", "GET", "POST", "PUT", "HEAD", "OPTIONS")
	}
	if g.Chance(25) {
		match["headers"] = g.conditions(headerNames)
	}
	if g.Chance(20) {
		match["queryParams"] = g.conditions(queryNames)
	}
	return match
}

// conditions draws conditions on headers or query parameters, each on another one.
func (g *worldDrawing) conditions(names []string) []object {
	var out []object
	for _, name := range draw.Some(g.Source, 30, names...) {
		condition := object{"name": name, "value": draw.Pick(g.Source, plainValues...)}
		if g.Chance(30) {
			condition["type"], condition["value"] = "RegularExpression", draw.Pick(g.Source, valuePatterns...).text
		}
		out = append(out, condition)
	}
	return out
}

func (g *worldDrawing) grpcMatch() object {
	match := object{}
	if g.Chance(80) {
		method := object{}
		if g.Chance(20) {
			method["type"] = "RegularExpression"
			parts := draw.Some(g.Source, 60, "service", "method")
			if slices.Contains(parts, "service") {
				method["service"] = draw.Pick(g.Source, servicePattern...).text
			}
			if slices.Contains(parts, "method") {
				method["method"] = draw.Pick(g.Source, callPattern...).text
			}
		} else {
			switch g.IntN(5) {
			case 0:
				method["method"] = draw.Pick(g.Source, calls...)
			case 1, 2:
				method["service"] = draw.Pick(g.Source, services...)
			default:
				method["service"], method["method"] = draw.Pick(g.Source, services...), draw.Pick(g.Source, calls...)
			}
		}
		match["method"] = method
	}
	if g.Chance(30) {
		match["headers"] = g.conditions(headerNames)
	}
	return match
}

func (g *worldDrawing) redirect(prefix bool) object {
	out := object{}
	if g.Chance(40) {
		out["scheme"] = draw.Pick(g.Source, "http", "https")
	}
	if g.Chance(50) {
		out["hostname"] = draw.Pick(g.Source, "to.example.org", "shop.example.com")
	}
	if g.Chance(30) {
		out["port"] = draw.Pick(g.Source, 80, 443, 8080, 9000)
	}
	if g.Chance(50) {
		out["path"] = g.replacement(prefix)
	}
	if g.Chance(40) {
		out["statusCode"] = draw.Pick(g.Source, 301, 302)
	}
	return out
}

func (g *worldDrawing) rewrite(prefix bool) object {
	out := object{}
	if g.Chance(40) {
		out["hostname"] = draw.Pick(g.Source, "to.example.org", "shop.example.com")
	}
	if len(out) == 0 || g.Chance(70) {
		out["path"] = g.replacement(prefix)
	}
	return out
}

// replacement draws what a path becomes.
func (g *worldDrawing) replacement(prefix bool) object {
	if prefix && g.Chance(80) {
		return object{"type": "ReplacePrefixMatch", "replacePrefixMatch": draw.Pick(g.Source, "/", "/new", "/new/", "/n/m")}
	}
	return object{"type": "ReplaceFullPath", "replaceFullPath": draw.Pick(g.Source, "/full", "/full/", "/")}
}

// backendRefs draws the backends of a rule: most often one.
func (g *worldDrawing) backendRefs(namespace string) []object {
	var out []object
	n := 1
	if g.Chance(12) {
		n = g.Between(2, 3)
	}
	for range n {
		ref := g.backend(namespace)
		if n > 1 && g.Chance(70) {
			ref["weight"] = draw.Pick(g.Source, 0, 1, 5)
		}
		out = append(out, ref)
	}
	if !g.policies && g.Chance(5) {
		draw.Pick(g.Source, out...)["name"] = "missing"
	}
	return out
}

// backend draws a Service with one address, in the namespace of its route or in the other one with a grant, and refers to it.
func (g *worldDrawing) backend(namespace string) object {
	g.backends++
	name, home := fmt.Sprintf("b%d", g.backends), namespace
	ref := object{"name": name, "port": 80}
	if g.Chance(8) {
		home = map[string]string{"t": "u", "u": "t"}[namespace]
		ref["namespace"] = home
		g.add(gatewayGroup+"/v1beta1", "ReferenceGrant", g.Made(home, name), object{"from": []object{
			{"group": gatewayGroup, "kind": "HTTPRoute", "namespace": namespace}, {"group": gatewayGroup, "kind": "GRPCRoute", "namespace": namespace},
		}, "to": []object{{"group": "", "kind": "Service", "name": name}}})
	}
	g.add("v1", "Service", g.Made(home, name), object{"clusterIP": fmt.Sprintf("10.96.0.%d", g.backends), "selector": object{"app": name},
		"ports": []object{{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}}})
	metadata := g.Made(home, name)
	metadata["labels"] = object{"kubernetes.io/service-name": name}
	g.objects = append(g.objects, object{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4",
		"endpoints": []object{{"addresses": []string{fmt.Sprintf("10.1.0.%d", g.backends)}, "conditions": object{"ready": true, "serving": true}}},
		"ports":     []object{{"name": "http", "port": 8080, "protocol": "TCP"}}})
	return ref
}

// distinct leaves out what was there before.
func distinct(in []string) []string {
	var out []string
	for _, x := range in {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
