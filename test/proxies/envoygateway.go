package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// envoyGateway is Envoy Gateway with Envoy.
var envoyGateway = &vendor{
	Peer: program.Peer{Name: "envoygateway", Folder: filepath.Join("translators", "envoygateway"), Module: "github.com/envoyproxy/gateway",
		Inside: "cmd/dopolicy-peer", Packages: []string{filepath.Join("..", "differential", "peers", "envoygateway", "load")}},
	controller:  "gateway.envoyproxy.io/gatewayclass-controller",
	answers:     askEnvoys,
	audited:     envoyGatewayPolicies,
	policies:    drawEnvoyGatewayPolicies,
	credentials: addCredentials,
}

// maxLimit is the highest limit that is drawn.
const maxLimit = 2

// drawEnvoyGatewayPolicies draws one to four policies for Gateways, listeners, routes and rules: most ask for credentials, some only if there are any, some allow or
// refuse addresses or methods, one in four limits the rate. Half of those of routes are merged.
func drawEnvoyGatewayPolicies(g *worldDrawing) {
	basic := sha1.Sum([]byte("good"))
	for _, namespace := range []string{"t", "u"} {
		g.secret(namespace, "users", object{".htpasswd": encode([]byte("user:{SHA}" + base64.StdEncoding.EncodeToString(basic[:])))})
		g.secret(namespace, "keys", object{"client": encode([]byte("good"))})
	}
	targets := g.policyTargets()
	for _, name := range draw.Numbered("p", g.Between(1, 4)) {
		t := draw.Pick(g.Source, targets...)
		kind, spec := "SecurityPolicy", object{}
		if g.Chance(25) {
			kind, spec["rateLimit"] = "BackendTrafficPolicy", g.localRateLimit()
		} else {
			for _, part := range draw.Some(g.Source, 25, "basicAuth", "apiKeyAuth", "jwt", "authorization", "cors") {
				spec[part] = g.security(part)
			}
		}
		if t.kind != "Gateway" && g.Chance(50) {
			spec["mergeType"] = "StrategicMerge"
		}
		spec["targetRefs"] = []object{t.ref()}
		g.add("gateway.envoyproxy.io/v1alpha1", kind, g.Made(t.namespace, name), spec)
	}
}

// policyTarget is what a policy may be for.
type policyTarget struct{ kind, namespace, name, section string }

func (t policyTarget) ref() object {
	out := object{"group": gatewayGroup, "kind": t.kind, "name": t.name}
	if t.section != "" {
		out["sectionName"] = t.section
	}
	return out
}

// policyTargets are the Gateways, the routes, and what of them has a name.
func (g *worldDrawing) policyTargets() []policyTarget {
	var out []policyTarget
	for _, o := range g.objects {
		kind, metadata := o["kind"].(string), o["metadata"].(object)
		if !slices.Contains([]string{"Gateway", "HTTPRoute", "GRPCRoute"}, kind) {
			continue
		}
		t := policyTarget{kind, metadata["namespace"].(string), metadata["name"].(string), ""}
		out = append(out, t)
		parts, _ := o["spec"].(object)["listeners"].([]object)
		if rules, ok := o["spec"].(object)["rules"].([]object); ok {
			parts = rules
		}
		for _, part := range parts {
			if name, ok := part["name"].(string); ok {
				t.section = name
				out = append(out, t)
			}
		}
	}
	return out
}

func (g *worldDrawing) secret(namespace, name string, data object) {
	g.objects = append(g.objects, object{"apiVersion": "v1", "kind": "Secret", "metadata": g.Made(namespace, name), "type": "Opaque", "data": data})
}

func encode(text []byte) string { return base64.StdEncoding.EncodeToString(text) }

// security draws a part of a SecurityPolicy.
func (g *worldDrawing) security(part string) object {
	switch part {
	case "basicAuth":
		return object{"users": object{"name": "users"}}
	case "apiKeyAuth":
		return object{"credentialRefs": []object{{"name": "keys"}}, "extractFrom": []object{{"headers": []string{"x-api-key"}}}}
	case "jwt":
		out := object{"providers": []object{{"name": "p", "issuer": tokenIssuer, "localJWKS": object{"type": "Inline", "inline": tokens().keys},
			"extractFrom": object{"headers": []object{{"name": "x-token"}}}}}}
		if g.Chance(25) {
			out["optional"] = true
		}
		return out
	case "authorization":
		rule := object{"action": draw.Pick(g.Source, "Allow", "Deny")}
		switch g.IntN(2) {
		case 0:
			rule["principal"] = object{"clientCIDRs": []string{draw.Pick(g.Source, "127.0.0.0/8", "10.0.0.0/8")}}
		case 1:
			rule["operation"] = object{"methods": draw.Some(g.Source, 40, "GET", "POST", "PUT")}
			rule["principal"] = object{"clientCIDRs": []string{"0.0.0.0/0"}}
		}
		return object{"defaultAction": draw.Pick(g.Source, "Allow", "Deny"), "rules": []object{rule}}
	}
	return object{"allowOrigins": []string{draw.Pick(g.Source, "https://a.example.com", "https://b.example.com")}, "allowMethods": []string{"GET", "POST"}}
}

// localRateLimit draws a limit that a few requests use up, now and then for clients with a header only.
func (g *worldDrawing) localRateLimit() object {
	rule := object{"limit": object{"requests": g.Between(1, maxLimit), "unit": "Hour"}}
	if g.Chance(30) {
		rule["clientSelectors"] = []object{{"headers": []object{{"name": "x-a", "value": draw.Pick(g.Source, plainValues...)}}}}
	}
	return object{"local": object{"rules": []object{rule}}}
}

const tokenIssuer = "https://issuer.example.com"

// tokens are a key set, and a token of it, from a fixed key and without anything random.
var tokens = sync.OnceValue(func() struct{ keys, token string } {
	scalar := make([]byte, 32)
	scalar[31] = 9
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		panic(err) // of a key that never changes
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	raw := base64.RawURLEncoding.EncodeToString
	keys, _ := json.Marshal(object{"keys": []object{{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k", "x": raw(point[1:33]), "y": raw(point[33:])}}})
	signed := raw([]byte(`{"alg":"ES256","kid":"k","typ":"JWT"}`)) + "." + raw([]byte(`{"iss":"`+tokenIssuer+`","sub":"user"}`))
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(nil, key, sum[:])
	if err != nil {
		panic(err)
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return struct{ keys, token string }{string(keys), signed + "." + raw(signature)}
})

// addCredentials adds everything that a policy may ask for.
func addCredentials(r request, good bool) request {
	password, token := "bad", "bad"
	if good {
		password, token = "good", tokens().token
	}
	r.Headers = append(slices.Clone(r.Headers), [2]string{"Authorization", "Basic " + encode(fmt.Appendf(nil, "user:%s", password))},
		[2]string{"x-api-key", password}, [2]string{"x-token", token})
	return r
}
