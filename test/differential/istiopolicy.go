package main

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// istioKind is a kind of policy and how it is drawn.
type istioKind struct {
	version, kind string
	spec          func(g *istioInput, o object) object // the settings; o is the policy in the making
	refs          bool                                 // it can name what it is for
	one           bool                                 // by targetRef as well
}

var istioKinds = []istioKind{
	{"security.istio.io/v1", "AuthorizationPolicy", (*istioInput).authz, true, true},
	{"security.istio.io/v1", "RequestAuthentication", (*istioInput).tokens, true, true},
	{"security.istio.io/v1", "PeerAuthentication", (*istioInput).peers, false, false},
	{"telemetry.istio.io/v1", "Telemetry", (*istioInput).telemetry, true, true},
	{"networking.istio.io/v1beta1", "ProxyConfig", (*istioInput).configured, false, false},
	{"networking.istio.io/v1alpha3", "EnvoyFilter", (*istioInput).filters, true, false},
	{"extensions.istio.io/v1alpha1", "WasmPlugin", (*istioInput).plugin, true, true},
	{"extensions.istio.io/v1alpha1", "TrafficExtension", (*istioInput).extension, true, false},
	{"networking.istio.io/v1", "DestinationRule", nil, false, false},
}

// policy adds a policy: a third for a whole namespace or the mesh, the others by labels or by name. Two in five are of the kind that is drawn
// most often in this input, so that there is something to merge.
func (g *istioInput) policy(name string, often istioKind) {
	k := draw.Pick(g.Source, istioKinds...)
	if g.Chance(40) {
		k = often
	}
	if g.plain && k.kind != "PeerAuthentication" {
		k = often
	}
	o := object{"apiVersion": k.version, "kind": k.kind}
	if k.kind == "DestinationRule" {
		g.destination(name)
		return
	}
	namespace := g.space()
	spec := object{}
	selector, labels := "selector", "matchLabels"
	if k.kind == "EnvoyFilter" {
		selector, labels = "workloadSelector", "labels"
	}
	switch g.IntN(3) {
	case 0:
		w := draw.Pick(g.Source, g.workloads...)
		spec[selector] = object{labels: draw.Pick(g.Source, object{"app": w.name}, object{"tier": w.tier}, object{"tier": "a"}, object{"app": w.name, "tier": "a"})}
		namespace = draw.Pick(g.Source, w.namespace, w.namespace, w.namespace, namespace, g.root)
		if g.Chance(10) {
			spec[selector] = draw.Pick(g.Source, object{}, object{labels: object{}})
			if k.kind == "AuthorizationPolicy" { // ztunnel tells {} from {matchLabels: {}}, and the peer's API server loses the difference when it copies
				spec[selector] = object{}
			}
		}
	case 1:
		if k.refs {
			namespace = g.named(spec, k, namespace)
		}
	}
	o["metadata"] = g.Made(namespace, name)
	for field, v := range k.spec(g, o) {
		spec[field] = v
	}
	if labels, _ := at(spec, "selector", "matchLabels").(object); len(labels) == 0 && k.kind == "PeerAuthentication" {
		delete(spec, "portLevelMtls")
	}
	o["spec"] = spec
	g.objects = append(g.objects, o)
}

// named adds references, and gives the namespace in which they lead somewhere.
func (g *istioInput) named(spec object, k istioKind, namespace string) string {
	groups := map[string]string{"Gateway": "gateway.networking.k8s.io", "GatewayClass": "gateway.networking.k8s.io", "Service": "", "ServiceEntry": "networking.istio.io"}
	all := append(append(append([]target{}, g.gateways...), g.waypoints...), g.served...)
	all = append(all, target{"GatewayClass", g.root, "istio-waypoint", ""})
	var refs []object
	for range draw.Pick(g.Source, 1, 1, 1, 2) {
		t := draw.Pick(g.Source, all...)
		if g.Chance(8) {
			t.name = "missing"
		}
		if len(refs) == 0 && g.Chance(85) {
			namespace = t.namespace
		}
		refs = append(refs, object{"group": groups[t.kind], "kind": t.kind, "name": t.name})
	}
	if k.one && len(refs) == 1 && g.Chance(25) {
		spec["targetRef"] = refs[0]
	} else {
		spec["targetRefs"] = refs
	}
	return namespace
}

// authz draws rules of any action. Some that allow or deny are only tried.
func (g *istioInput) authz(o object) object {
	action := draw.Pick(g.Source, "", "ALLOW", "DENY", "DENY", "AUDIT", "CUSTOM")
	out := object{}
	if action != "" {
		out["action"] = action
	}
	if action == "CUSTOM" {
		out["provider"] = object{"name": draw.Pick(g.Source, "check-a", "check-a", "check-b", "nobody", "log-a", "Check-A")}
	}
	var rules []object
	for range draw.Pick(g.Source, 1, 1, 2) {
		forms := []object{{}, {"to": []object{{"operation": object{"paths": []string{fmt.Sprintf("/%d", g.value())}}}}}}
		if action != "CUSTOM" { // which may not go by who asks
			forms = append(forms, g.connectionRules()...)
			forms = append(forms, object{"from": []object{{"source": object{"namespaces": []string{"app"}}}}, "to": []object{{"operation": object{"methods": []string{"GET"}}}}},
				object{"from": []object{{"source": object{"requestPrincipals": []string{"*"}}}}, "when": []object{{"key": "request.headers[x-a]", "values": []string{"1"}}}},
				object{"from": []object{{"source": object{"ipBlocks": []string{"10.0.0.0/8"}, "requestPrincipals": []string{"*"}}}}, "when": []object{{"key": "source.ip", "values": []string{"10.0.0.1"}}}},
				object{"to": []object{{"operation": object{"ports": []string{fmt.Sprint(g.value())}}}}, "from": []object{{"source": object{"principals": []string{"a"}}}, {"source": object{"notNamespaces": []string{"shop"}}}}})
		}
		rules = append(rules, draw.Pick(g.Source, forms...))
	}
	if action != "" && action != "ALLOW" || g.Chance(80) {
		out["rules"] = rules
	}
	if tried := action == "" || action == "ALLOW" || action == "DENY"; tried && g.Chance(15) {
		o["metadata"].(object)["annotations"] = object{"istio.io/dry-run": draw.Pick(g.Source, "true", "1", "T", "false")}
	}
	return out
}

// connectionRules are rules that ztunnel sees at least a part of.
func (g *istioInput) connectionRules() []object {
	account := "cluster.local/ns/" + draw.Pick(g.Source, "app", "shop", g.root) + "/sa/" + draw.Pick(g.Source, "default", "one", "front", "gw-1-istio", "wp-1", "envoy-front")
	port := draw.Pick(g.Source, "80", "8080")
	source := func(fields object) []object { return []object{{"source": fields}} }
	operation := func(fields object) []object { return []object{{"operation": fields}} }
	return []object{
		{"from": source(object{"principals": []string{account, "*/sa/one"}})},
		{"from": source(object{"notPrincipals": []string{account}})},
		{"from": source(object{"serviceAccounts": []string{draw.Pick(g.Source, "one", "shop/default", "app/default")}}), "to": operation(object{"ports": []string{port}})},
		{"from": source(object{"namespaces": []string{"app"}}), "to": operation(object{"notPorts": []string{port}})},
		{"from": source(object{"notNamespaces": []string{draw.Pick(g.Source, "app", "sh*")}})},
		{"from": source(object{"ipBlocks": []string{"10.9.1.0/28"}}), "when": []object{{"key": "destination.port", "values": []string{port}}}},
		{"when": []object{{"key": "source.namespace", "notValues": []string{"app"}}, {"key": "source.principal", "values": []string{"*"}}}},
		{"from": source(object{"principals": []string{"*"}, "notRequestPrincipals": []string{"*"}})},
		{"to": append(operation(object{"ports": []string{port}, "paths": []string{"/a"}}), operation(object{"methods": []string{"PUT"}})...)},
		{"to": append(operation(object{"paths": []string{"/a"}}), operation(object{"hosts": []string{"h"}})...), "from": source(object{"namespaces": []string{"*"}})},
	}
}

// tokens draws JWT rules of few issuers.
func (g *istioInput) tokens(object) object {
	var rules []object
	for range draw.Pick(g.Source, 0, 1, 1, 2) {
		rule := object{"issuer": draw.Pick(g.Source, "https://a.example", "https://b.example", "https://c.example"), "jwks": `{"keys":[]}`}
		if g.Chance(50) {
			rule["audiences"] = []string{fmt.Sprintf("aud-%d", g.value())}
		}
		if g.Chance(30) {
			rule["fromHeaders"] = []object{{"name": fmt.Sprintf("x-%d", g.value()), "prefix": "Bearer "}}
		}
		if g.Chance(20) {
			rule["forwardOriginalToken"] = true
		}
		rules = append(rules, rule)
	}
	if rules == nil {
		return object{}
	}
	return object{"jwtRules": rules}
}

// peers draws modes; those of ports need a selector.
func (g *istioInput) peers(object) object {
	out := object{}
	mode := func() object {
		if m := draw.Pick(g.Source, "", "UNSET", "DISABLE", "PERMISSIVE", "STRICT", "STRICT"); m != "" {
			return object{"mode": m}
		}
		return object{}
	}
	if g.Chance(75) {
		out["mtls"] = mode()
	}
	ports := object{}
	for _, port := range draw.Some(g.Source, 40, "80", "8080", "9000") {
		ports[port] = mode()
	}
	if g.Chance(50) {
		out["portLevelMtls"] = ports
	}
	return out
}

// proxyConfig draws some fields; metadata is what environment variables are called.
func (g *istioInput) proxyConfig(metadata string) object {
	out := object{}
	if g.Chance(50) {
		out["concurrency"] = g.IntN(9)
	}
	if g.Chance(40) {
		out["image"] = object{"imageType": draw.Pick(g.Source, "default", "debug", "distroless")}
	}
	variables := object{}
	for _, name := range draw.Some(g.Source, 40, "ONE", "TWO", "THREE") {
		variables[name] = fmt.Sprintf("v%d", g.value())
	}
	if g.Chance(60) {
		out[metadata] = variables
	}
	return out
}

func (g *istioInput) configured(object) object { return g.proxyConfig("environmentVariables") }

// filters draws patches, some of them for proxies of one version. What is patched in has a name of its own.
func (g *istioInput) filters(object) object {
	out := object{}
	var patches []object
	for range draw.Pick(g.Source, 1, 1, 2, 3) {
		patch := object{"applyTo": draw.Pick(g.Source, "HTTP_FILTER", "HTTP_FILTER", "CLUSTER", "LISTENER"), "patch": object{"operation": "ADD", "value": object{"name": fmt.Sprintf("n%d", g.value())}}}
		if g.Chance(20) {
			patch["match"] = object{"proxy": object{"proxyVersion": draw.Pick(g.Source, `^1\.32.*`, `^1\.2\d.*`, `^1\.22.*`)}}
		}
		patches = append(patches, patch)
	}
	out["configPatches"] = patches
	if g.Chance(50) {
		out["priority"] = g.Between(-2, 2)
	}
	return out
}

// order draws the phase and the priority of an extension. none is what the kind calls no phase.
func (g *istioInput) order(none string) object {
	out := object{}
	if phase := draw.Pick(g.Source, "", none, "AUTHN", "AUTHN", "AUTHZ", "STATS"); phase != "" {
		out["phase"] = phase
	}
	if g.Chance(50) {
		out["priority"] = g.Between(-1, 2)
	}
	if g.Chance(30) {
		match := object{}
		if g.Chance(60) {
			match["mode"] = draw.Pick(g.Source, "CLIENT", "SERVER", "CLIENT_AND_SERVER")
		}
		if g.Chance(60) {
			match["ports"] = []object{{"number": draw.Pick(g.Source, 80, 81)}}
		}
		out["match"] = []object{match}
	}
	return out
}

func (g *istioInput) plugin(object) object {
	out := g.order("UNSPECIFIED_PHASE")
	out["url"] = fmt.Sprintf("oci://example.com/p%d", g.value())
	if g.Chance(30) {
		out["type"] = draw.Pick(g.Source, "HTTP", "NETWORK")
	}
	return out
}

func (g *istioInput) extension(object) object {
	out := g.order("UNSPECIFIED")
	if g.Chance(50) {
		out["lua"] = object{"inlineCode": fmt.Sprintf("-- %d", g.value())}
		return out
	}
	out["wasm"] = object{"url": fmt.Sprintf("oci://example.com/p%d", g.value())}
	if g.Chance(30) {
		out["wasm"].(object)["type"] = draw.Pick(g.Source, "HTTP", "NETWORK")
	}
	return out
}
