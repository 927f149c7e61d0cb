package main

import (
	"fmt"
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// istio is Istio with Envoy.
var istio = &vendor{
	Peer:        program.Peer{Name: "istio", Folder: filepath.Join("translators", "istio"), Module: "istio.io/istio", Inside: "pilot/cmd/dopolicy-peer"},
	controller:  "istio.io/gateway-controller",
	answers:     askEnvoys,
	policies:    drawIstioPolicies,
	credentials: addCredentials,
}

// drawIstioPolicies draws a RequestAuthentication in seven of ten worlds, now and then two, and one to three AuthorizationPolicies: at Gateways by
// reference, by the label of their Pods, for their namespace, or for the mesh. Half of the rules ask who it is. Ports are left out, since listeners
// have others here, and what an external service decides.
func drawIstioPolicies(g *worldDrawing) {
	g.add("v1", "Namespace", g.Made("", "istio-system"), nil)
	if g.Chance(70) {
		for _, name := range draw.Numbered("jwt", draw.Pick(g.Source, 1, 1, 2)) {
			rule := object{"issuer": draw.Pick(g.Source, tokenIssuer, tokenIssuer, "https://other.example.com"), "jwks": tokens().keys,
				"fromHeaders": []object{{"name": "x-token"}}}
			g.istioPolicy("RequestAuthentication", name, object{"jwtRules": []object{rule}})
		}
	}
	for _, name := range draw.Numbered("p", g.Between(1, 3)) {
		spec := object{}
		if g.Chance(50) {
			spec["action"] = draw.Pick(g.Source, "DENY", "DENY", "ALLOW", "AUDIT")
		}
		var rules []object
		for range draw.Pick(g.Source, 0, 1, 1, 1, 1, 2, 2) {
			rules = append(rules, g.istioRule())
		}
		if rules != nil {
			spec["rules"] = rules
		} else { // which the webhook takes of these alone
			spec["action"] = "ALLOW"
		}
		g.istioPolicy("AuthorizationPolicy", name, spec)
	}
}

// istioPolicy adds a policy at what is drawn.
func (g *worldDrawing) istioPolicy(kind, name string, spec object) {
	namespace, gateway := "t", "edge"
	if g.Chance(20) {
		gateway = "inner"
	}
	switch g.IntN(10) {
	case 0:
		namespace = "istio-system"
	case 1, 2: // for the whole namespace
	case 3, 4, 5:
		spec["selector"] = object{"matchLabels": object{"gateway.networking.k8s.io/gateway-name": gateway}}
	default:
		spec["targetRefs"] = []object{{"group": gatewayGroup, "kind": "Gateway", "name": gateway}}
	}
	g.add("security.istio.io/v1", kind, g.Made(namespace, name), spec)
}

func (g *worldDrawing) istioRule() object {
	out := object{}
	if g.Chance(70) {
		source := draw.Pick(g.Source,
			object{"requestPrincipals": []string{"*"}}, object{"requestPrincipals": []string{tokenIssuer + "/*"}},
			object{"notRequestPrincipals": []string{"*"}}, object{"notRequestPrincipals": []string{"*"}},
			object{"ipBlocks": []string{draw.Pick(g.Source, "127.0.0.0/8", "10.0.0.0/8")}}, object{"notIpBlocks": []string{"10.0.0.0/8"}})
		out["from"] = []object{{"source": source}}
	}
	if g.Chance(50) {
		operation := object{}
		for _, part := range draw.Some(g.Source, 25, "paths", "methods", "hosts") {
			name := part
			if g.Chance(20) {
				name = "not" + string(part[0]-'a'+'A') + part[1:]
			}
			operation[name] = g.istioOperation(part)
		}
		out["to"] = []object{{"operation": operation}}
	}
	if g.Chance(20) {
		when := object{"key": "request.headers[" + draw.Pick(g.Source, headerNames...) + "]"}
		if g.Chance(40) {
			when["key"] = "request.auth.claims[sub]"
		}
		when[draw.Pick(g.Source, "values", "values", "notValues")] = []string{draw.Pick(g.Source, "1", "one", "user", "*")}
		out["when"] = []object{when}
	}
	return out
}

func (g *worldDrawing) istioOperation(part string) []string {
	switch part {
	case "paths":
		return draw.Some(g.Source, 20, "/a", "/a*", "/a/*", "*/b", "/x", "/x/*", "*")
	case "methods":
		return draw.Some(g.Source, 30, "GET", "POST", "PUT")
	case "hosts":
		return draw.Some(g.Source, 20, "shop.example.com", "*.example.com", "api.example.com", "other.example.com")
	}
	panic(fmt.Sprintf("nothing is drawn for %s", part))
}
