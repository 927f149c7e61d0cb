package main

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// envoyGateway compares conditions, and what proxies are told to do, with what Envoy Gateway's translator makes of the same objects.
var envoyGateway = peer{Peer: built("envoygateway", "github.com/envoyproxy/gateway", "cmd/dopolicy-peer", "load"),
	generate: drawEnvoyGateway, ask: askEnvoyGateway}

const (
	gatewayGroup = "gateway.networking.k8s.io"
	envoyGroup   = "gateway.envoyproxy.io"

	envoyController = "gateway.envoyproxy.io/gatewayclass-controller"
)

// drawEnvoyGateway draws one to three Gateways, now and then one of another controller, or all with one proxy, ListenerSets that they take or refuse,
// routes of all kinds, and policies at every level. A third of the listeners has a hostname that overlaps with others, three in ten rules have no
// name, one backend in eight is not there or not granted, three rules in ten have filters, and one path in five is that of other rules. Half of the
// policies for routes are merged, and one policy in six selects its targets by labels. A quarter of the inputs is mostly about connections.
//
// Left out is what the program says not to evaluate (values that only the controller parses, Secrets of policies, Wasm, OIDC) and routingType, of
// which the translator makes nothing where the addresses of Services are enough.
func drawEnvoyGateway(s draw.Source) input {
	g := envoyInput{drawing: drawing{Source: s}, connections: s.Chance(25)}
	for _, name := range []string{"infra", "app", "other"} {
		g.namespace(name)
	}
	class, gateways := object{"controllerName": envoyController}, s.Between(1, 2)
	if s.Chance(25) {
		class["parametersRef"] = object{"group": envoyGroup, "kind": "EnvoyProxy", "namespace": "infra", "name": "proxy"}
		g.add(envoyGroup+"/v1alpha1", "EnvoyProxy", g.Made("infra", "proxy"), object{"mergeGateways": s.Chance(85)})
		gateways = s.Between(1, 3)
	}
	g.add(gatewayGroup+"/v1", "GatewayClass", g.Made("", "eg"), class)
	for _, name := range draw.Numbered("gw", gateways) {
		g.gateway(name, "eg")
	}
	foreign := s.Chance(10)
	if foreign {
		g.add(gatewayGroup+"/v1", "GatewayClass", g.Made("", "foreign"), object{"controllerName": "example.com/controller"})
		g.gateway("foreign", "foreign")
	}
	for _, name := range draw.Numbered("set", s.Between(0, 2)) {
		g.listenerSet(name)
	}
	for _, name := range draw.Numbered("route", s.Between(1, 4)) {
		g.route(name)
	}
	for i := range s.Between(1, 8) {
		g.policy(fmt.Sprintf("policy-%d", i+1))
	}
	for i := range s.Between(0, 3) {
		if !foreign && g.Chance(45) { // a BackendTLSPolicy is also the other controller's
			g.backendTLS(fmt.Sprintf("tls-%d", i+1))
		}
	}
	g.grants()
	return input{Objects: g.objects}
}

// envoyInput is an input in the making.
type envoyInput struct {
	drawing
	connections bool     // most listeners and routes are for connections
	parents     []target // that routes may name
	targets     []target // that policies may have
}

// namespace draws a namespace with a Service and a certificate.
func (g *envoyInput) namespace(name string) {
	g.objects = append(g.objects, object{"apiVersion": "v1", "kind": "Namespace", "metadata": g.labelled(60, "", name)})
	g.add("v1", "Service", g.Made(name, "web"), object{"clusterIP": fmt.Sprintf("10.0.0.%d", len(g.objects)), "ports": []object{{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}}})
	g.add("v1", "Service", g.Made(name, "api"), object{"clusterIP": fmt.Sprintf("10.0.1.%d", len(g.objects)), "ports": []object{{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "admin", "port": 81, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}}})
	if g.Chance(20) {
		g.add("v1", "Service", g.Made(name, "outside"), object{"type": "ExternalName", "externalName": "example.com", "ports": []object{{"name": "http", "port": 80, "protocol": "TCP"}}})
	}
	g.add(envoyGroup+"/v1alpha1", "HTTPRouteFilter", g.Made(name, "cookies"), object{"matches": []object{{"cookies": []object{{"name": "c", "value": "v"}}}}})
	g.add(envoyGroup+"/v1alpha1", "HTTPRouteFilter", g.Made(name, "rewrite"), object{"urlRewrite": object{"hostname": object{"type": "Backend"}}})
	g.configMap(name, "ca", object{"ca.crt": "one"})
	g.configMap(name, "only", object{"some": "one"})
	g.configMap(name, "none", object{"a": "one", "b": "two"})
	g.objects = append(g.objects, draw.CertificateIn(name))
}

// configMap adds a ConfigMap.
func (g *envoyInput) configMap(namespace, name string, data object) {
	g.objects = append(g.objects, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"namespace": namespace, "name": name}, "data": data})
}

func (g *envoyInput) gateway(name, class string) {
	namespace := draw.Pick(g.Source, "infra", "infra", "app")
	t := target{"Gateway", namespace, name, ""}
	g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	spec := object{"gatewayClassName": class, "listeners": g.listeners(t, g.Between(1, 3))}
	if g.Chance(70) {
		spec["allowedListeners"] = object{"namespaces": g.from()}
	}
	g.add(gatewayGroup+"/v1", "Gateway", g.labelled(60, namespace, name), spec)
}

func (g *envoyInput) listenerSet(name string) {
	namespace := draw.Pick(g.Source, "infra", "app", "app")
	t := target{"ListenerSet", namespace, name, ""}
	parent := g.targets[0]
	if last := g.targets[len(g.targets)-1]; g.Chance(30) && last.kind == "Gateway" {
		parent = last
	}
	g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	g.add(gatewayGroup+"/v1", "ListenerSet", g.labelled(60, namespace, name), object{"parentRef": object{"name": parent.name, "namespace": parent.namespace}, "listeners": g.listeners(t, g.Between(1, 2))})
}

// from draws the namespaces that something is taken from.
func (g *envoyInput) from() object {
	switch from := draw.Pick(g.Source, "All", "All", "Same", "Selector"); from {
	case "Selector":
		return object{"from": from, "selector": object{"matchLabels": object{"tier": draw.Pick(g.Source, "a", "b")}}}
	default:
		return object{"from": from}
	}
}

// listeners draws listeners of which no two have the same port, protocol and hostname, as the API demands of those of one object.
func (g *envoyInput) listeners(t target, n int) []object {
	var out []object
	seen := map[string]bool{}
	for _, name := range draw.Numbered("l", n) {
		l := g.listener()
		if key := fmt.Sprint(l["port"], l["protocol"], l["hostname"]); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		l["name"] = name
		if g.Chance(85) {
			allowed := object{"namespaces": g.from()}
			if g.Chance(8) {
				var kinds []object
				for _, kind := range draw.Some(g.Source, 40, "HTTPRoute", "GRPCRoute", "TCPRoute") {
					kinds = append(kinds, object{"kind": kind})
				}
				allowed["kinds"] = kinds
			}
			l["allowedRoutes"] = allowed
		}
		out = append(out, l)
		section := target{t.kind, t.namespace, t.name, name}
		g.targets, g.parents = append(g.targets, section), append(g.parents, section)
	}
	return out
}

// listener draws a listener without a name. Most are for HTTP. One certificate in ten is not there, or in another namespace.
func (g *envoyInput) listener() object {
	l := object{"port": draw.Pick(g.Source, 80, 80, 8080, 8081), "protocol": "HTTP"}
	certificate := object{"name": "cert"}
	switch g.IntN(20) {
	case 0:
		certificate["name"] = "missing"
	case 1:
		certificate["namespace"] = draw.Pick(g.Source, "infra", "app", "other")
	}
	sort := g.IntN(12)
	if g.connections {
		sort = g.IntN(5)
	}
	switch sort {
	case 0:
		return object{"port": draw.Pick(g.Source, 9000, 9001), "protocol": "TCP"}
	case 1:
		l = object{"port": draw.Pick(g.Source, 443, 8443), "protocol": "TLS", "tls": object{"mode": "Passthrough"}, "hostname": g.hostname()}
		if g.Chance(50) {
			l["tls"] = object{"mode": "Terminate", "certificateRefs": []object{certificate}}
		}
		return l
	case 2:
		return object{"port": 5300, "protocol": "UDP"}
	case 3, 4:
		l = object{"port": draw.Pick(g.Source, 443, 8443), "protocol": "HTTPS", "tls": object{"certificateRefs": []object{certificate}}}
	}
	if g.Chance(40) {
		l["hostname"] = g.hostname()
	}
	return l
}

func (g *envoyInput) hostname() string {
	return draw.Pick(g.Source, "*.example.com", "a.example.com", "b.example.com", "*.a.example.com")
}

func (g *envoyInput) route(name string) {
	kind := draw.Pick(g.Source, "HTTPRoute", "HTTPRoute", "HTTPRoute", "HTTPRoute", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute")
	if g.connections && g.Chance(75) {
		kind = draw.Pick(g.Source, "TCPRoute", "TCPRoute", "TLSRoute", "TLSRoute", "UDPRoute")
	}
	namespace := draw.Pick(g.Source, "app", "app", "app", "infra", "other")
	t := target{kind, namespace, name, ""}
	g.targets = append(g.targets, t)
	spec := object{"parentRefs": g.parentRefs()}
	n := 1
	switch kind {
	case "HTTPRoute", "GRPCRoute":
		n = g.Between(1, 2)
		if g.Chance(40) {
			spec["hostnames"] = draw.Some(g.Source, 30, "a.example.com", "*.example.com", "b.example.com", "x.a.example.com")
		}
	case "TLSRoute":
		spec["hostnames"] = draw.Some(g.Source, 30, "a.example.com", "*.example.com", "b.example.com", "x.a.example.com")
	}
	var rules []object
	for i := range n {
		rule := g.rule(kind, fmt.Sprintf("/%s/%d", name, i))
		if g.Chance(70) {
			rule["name"] = fmt.Sprintf("r%d", i)
			t.section = fmt.Sprintf("r%d", i)
			g.targets = append(g.targets, t)
		}
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	g.add(gatewayGroup+"/v1", kind, g.labelled(60, namespace, name), spec)
}

func (g *envoyInput) rule(kind, path string) object {
	rule := object{}
	switch kind {
	case "HTTPRoute":
		match := object{"path": object{"type": "PathPrefix", "value": path}}
		if g.Chance(20) {
			match["path"] = draw.Pick(g.Source, object{"type": "PathPrefix", "value": "/same"}, object{"type": "PathPrefix", "value": "/same/"}, object{"type": "Exact", "value": "/s.S/m"})
			if g.Chance(20) {
				match["method"] = draw.Pick(g.Source, "GET", "PUT")
			}
			if g.Chance(20) {
				match["headers"] = []object{{"name": draw.Pick(g.Source, "x-a", "X-A"), "value": "1"}}
			}
		}
		rule["matches"] = []object{match}
		if g.Chance(10) {
			rule["timeouts"] = object{"request": g.seconds()}
		}
	case "GRPCRoute":
		method := object{"service": fmt.Sprintf("s%d.S", g.value())}
		if g.Chance(20) {
			method = object{"service": "s.S", "method": "m"}
		}
		rule["matches"] = []object{{"method": method}}
	}
	var refs []object
	for range draw.Pick(g.Source, 1, 1, 1, 2) {
		ref := g.backendRef(kind)
		if g.Chance(8) {
			ref["weight"] = 0
		}
		refs = append(refs, ref)
	}
	rule["backendRefs"] = refs
	if (kind == "HTTPRoute" || kind == "GRPCRoute") && g.Chance(30) {
		g.filters(kind, rule)
	}
	return rule
}

// backendRef draws what a rule sends to.
func (g *envoyInput) backendRef(kind string) object {
	ref := object{"name": draw.Pick(g.Source, "web", "web", "web", "api"), "port": 80}
	if kind == "UDPRoute" {
		ref["port"] = 53
	}
	switch g.IntN(24) {
	case 0:
		ref["name"] = draw.Pick(g.Source, "missing", "outside")
	case 1:
		ref["namespace"] = "missing"
	case 2, 3:
		ref["namespace"] = draw.Pick(g.Source, "infra", "app", "other")
	case 4:
		ref["port"] = draw.Pick(g.Source, 53, 80, 99)
	}
	return ref
}

// filters draws filters of a rule, one in ten of a kind that the controller does not take, or one that is not there. A rule that redirects has no
// backends.
func (g *envoyInput) filters(kind string, rule object) {
	headers := object{"set": []object{{"name": "x-set", "value": fmt.Sprint(g.value())}}}
	mirror := func() object {
		return object{"type": "RequestMirror", "requestMirror": object{"backendRef": g.backendRef(kind)}}
	}
	extension := func(group, kind, name string) object {
		return object{"type": "ExtensionRef", "extensionRef": object{"group": group, "kind": kind, "name": name}}
	}
	var out []object
	switch n := g.IntN(10); {
	case n == 0:
		out = append(out, object{"type": "RequestHeaderModifier", "requestHeaderModifier": headers})
	case n == 1:
		out = append(out, object{"type": "ResponseHeaderModifier", "responseHeaderModifier": headers})
	case n < 4:
		out = append(out, mirror())
	case n == 4:
		out = append(out, extension(envoyGroup, "HTTPRouteFilter", draw.Pick(g.Source, "cookies", "rewrite", "missing")))
	case n == 5 && g.Chance(50):
		out = append(out, extension("example.com", "Filter", "unknown"), mirror())
	case n == 6:
		ref := rule["backendRefs"].([]object)[0]
		ref["filters"] = []object{{"type": "RequestHeaderModifier", "requestHeaderModifier": headers}}
		if g.Chance(30) {
			ref["filters"] = []object{mirror()}
		}
	case kind != "HTTPRoute":
	case n == 7:
		out = append(out, object{"type": "CORS", "cors": object{"allowOrigins": []string{"https://a.example.com"}}})
	case n == 8:
		redirect := object{"hostname": "elsewhere.example.com", "statusCode": draw.Pick(g.Source, 301, 302)}
		out = append(out, object{"type": "RequestRedirect", "requestRedirect": redirect})
		if g.Chance(25) {
			out = append(out, mirror())
		}
		delete(rule, "backendRefs")
	case n == 9:
		out = append(out, object{"type": "URLRewrite", "urlRewrite": object{"hostname": fmt.Sprintf("h%d.example.com", g.value())}})
	}
	if len(out) > 0 {
		rule["filters"] = out
	}
}

// parentRefs draws parents, none of which covers another: one way twice is not what anybody writes.
func (g *envoyInput) parentRefs() []object {
	var out []object
	var taken []target
	for _, p := range draw.Some(g.Source, 25, g.parents...) {
		if slices.ContainsFunc(taken, func(o target) bool {
			return o.kind == p.kind && o.name == p.name && (o.section == "" || p.section == "")
		}) {
			continue
		}
		taken = append(taken, p)
		ref := object{"name": p.name, "namespace": p.namespace}
		if p.kind != "Gateway" {
			ref["group"], ref["kind"] = gatewayGroup, p.kind
		}
		if p.section != "" {
			ref["sectionName"] = p.section
		}
		out = append(out, ref)
	}
	if len(out) == 1 && g.Chance(10) { // those of several that name one parent have all to name a port, or none
		out[0]["port"] = draw.Pick(g.Source, 80, 8080)
	}
	return out
}
