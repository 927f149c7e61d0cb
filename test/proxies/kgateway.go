package main

import (
	"crypto/sha1"
	"encoding/base64"
	"path/filepath"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// kgateway is kgateway with Envoy.
var kgateway = &vendor{
	Peer: program.Peer{Name: "kgateway", Folder: filepath.Join("translators", "kgateway"), Module: "github.com/kgateway-dev/kgateway/v2",
		Inside: "test/cmd/dopolicy-peer", Packages: []string{filepath.Join("..", "differential", "peers", "kgateway", "translate")}},
	controller:  "kgateway.dev/kgateway",
	answers:     askEnvoys,
	policies:    drawKgatewayPolicies,
	credentials: addCredentials,
}

// drawKgatewayPolicies draws one to four TrafficPolicies for Gateways, listeners, routes and rules, each with one or two of: users, API keys, tokens,
// tokens if there are any, expressions about the request, and a rate limit; one in eight switches off what others ask for. What Envoy does by
// modules of kgateway's own, and what an external service decides, is left out.
func drawKgatewayPolicies(g *worldDrawing) {
	for _, namespace := range []string{"t", "u"} {
		g.secret(namespace, "keys", object{"client": encode([]byte("good"))})
		for _, mode := range []string{"Strict", "AllowMissing"} {
			provider := object{"name": "p", "issuer": tokenIssuer, "tokenSource": object{"header": object{"header": "x-token"}},
				"jwks": object{"local": object{"inline": tokens().keys}}}
			g.add("gateway.kgateway.dev/v1alpha1", "GatewayExtension", g.Made(namespace, strings.ToLower(mode)),
				object{"jwt": object{"validationMode": mode, "providers": []object{provider}}})
		}
	}
	targets := g.policyTargets()
	for _, name := range draw.Numbered("p", g.Between(1, 4)) {
		t := draw.Pick(g.Source, targets...)
		spec := object{"targetRefs": []object{t.ref()}}
		for _, part := range draw.Some(g.Source, 15, "basicAuth", "apiKeyAuth", "jwtAuth", "rbac", "rateLimit") {
			spec[part] = g.trafficPolicy(part)
		}
		g.add("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", g.Made(t.namespace, name), spec)
	}
}

// trafficPolicy draws a part of a TrafficPolicy.
func (g *worldDrawing) trafficPolicy(part string) object {
	if strings.HasSuffix(part, "Auth") && g.Chance(12) {
		return object{"disable": object{}}
	}
	switch part {
	case "basicAuth":
		sum := sha1.Sum([]byte("good"))
		return object{"users": []string{"user:{SHA}" + base64.StdEncoding.EncodeToString(sum[:])}}
	case "apiKeyAuth":
		return object{"secretRef": object{"name": "keys"}, "keySources": []object{{"header": "x-api-key"}}}
	case "jwtAuth":
		return object{"extensionRef": object{"name": draw.Pick(g.Source, "strict", "strict", "allowmissing")}}
	case "rateLimit":
		return object{"local": object{"tokenBucket": object{"maxTokens": g.Between(1, maxLimit), "tokensPerFill": 1, "fillInterval": "3600s"}}}
	}
	return object{"action": draw.Pick(g.Source, "Allow", "Deny"), "policy": object{"matchExpressions": []string{draw.Pick(g.Source,
		"request.headers['x-a'] == '1'", "request.path.startsWith('/a')", "request.method == 'GET'",
		"metadata.filter_metadata['envoy.filters.http.jwt_authn']['payload']['sub'] == 'user'")}}}
}
