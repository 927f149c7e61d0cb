package findingtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProtection holds findings about protection against inputs at the edge of what they are about:
// a Gateway, and routes of one host.
func TestProtection(t *testing.T) {
	const (
		basic  = "basicAuth: {users: {name: htpasswd}}"
		anyone = "authorization: {defaultAction: Allow}"
		cors   = `cors: {allowOrigins: ["https://example.com"]}`
	)
	tests := map[string]struct {
		objects []string
		want    []string // id and object
	}{
		"a header in front of a login": {
			[]string{route("a", "{path: {value: /x}}"),
				route("b", "{path: {value: /x}, headers: [{name: probe, value: '1'}]}"), on("HTTPRoute", "a", basic)},
			[]string{"ProtectionBypassed httproute/app/b/rule-1"}},
		"only requests with a header lose their login": {
			[]string{route("a", "{path: {value: /x}, headers: [{name: who, value: me}]}"),
				route("b", "{path: {value: /x/y}}"), route("c", "{path: {value: /x}}"), on("HTTPRoute", "a", basic)},
			[]string{"ProtectionBypassed httproute/app/b/rule-1"}},
		"a method contradicts another": {
			[]string{route("a", "{path: {value: /x}, method: GET}"), route("b", "{path: {value: /x/y}, method: POST}"),
				on("HTTPRoute", "a", basic)}, nil},
		"another rule without a login stands between": {
			[]string{route("a", "{path: {value: /}}"), route("b", "{path: {value: /x/y}}", "{path: {value: /x}}"),
				on("HTTPRoute", "a", basic)},
			[]string{"ProtectionBypassed httproute/app/b/rule-2"}},
		"a rule of the same route": {
			[]string{route("a", "{path: {value: /x}}", "{path: {value: /x/y}}"), onRule("a", "rule-1", basic)}, nil},
		"an exact match takes the path itself": {
			[]string{route("a", "{path: {value: /}}"), route("b", "{path: {value: /x}}"),
				route("c", "{path: {type: Exact, value: /x}}"), on("HTTPRoute", "a", basic), on("HTTPRoute", "c",
					basic)},
			[]string{"ProtectionBypassed httproute/app/b/rule-1"}},
		"the more specific rule redirects": {
			[]string{route("a", "{path: {value: /}}"), strings.Replace(route("b", "{path: {value: /x}}"),
				"backendRefs: [{name: s, port: 80}]",
				"filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]", 1),
				on("HTTPRoute", "a", basic)}, nil},
		"the more specific rule asks a service": {
			[]string{route("a", "{path: {value: /}}"), route("b", "{path: {value: /x}}"), on("HTTPRoute", "a", basic),
				on("HTTPRoute", "b", "extAuth: {http: {backendRefs: [{name: auth, port: 80}]}}")}, nil},
		"the login of the Gateway is for both": {
			[]string{route("a", "{path: {value: /}}"), route("b", "{path: {value: /x}}"),
				on("Gateway", "gw", basic)}, nil},

		"a policy that opens a path takes protection away and that is said once": {
			[]string{route("a", "{path: {value: /}}"), on("Gateway", "gw", basic), on("HTTPRoute", "a", anyone)},
			[]string{"ProtectionReplaced securitypolicy/app/a"}},
		"a rule for preflights alone needs no protection": {
			[]string{route("a", "{path: {value: /}, method: OPTIONS}"), on("Gateway", "gw", basic),
				on("HTTPRoute", "a", anyone)}, nil},
		"a rule for preflights and others does": {
			[]string{route("a", "{path: {value: /}, method: OPTIONS}, {path: {value: /}, method: GET}"),
				on("Gateway", "gw", basic), on("HTTPRoute", "a", anyone)},
			[]string{"ProtectionReplaced securitypolicy/app/a"}},
		"authorization alone is taken away": {
			[]string{route("a", "{path: {value: /}}"),
				on("Gateway", "gw", basic+"\n  authorization: {defaultAction: Deny}"), on("HTTPRoute", "a", basic)},
			[]string{"ProtectionReplaced securitypolicy/app/a"}},
		"what is taken away decides nothing": {
			[]string{route("a", "{path: {value: /}}"), on("Gateway", "gw", anyone), on("HTTPRoute", "a", cors)}, nil},
		"it holds by another gate": {
			[]string{route("a", "{path: {value: /}}"), on("Gateway", "gw", basic),
				on("HTTPRoute", "a", "jwt: {providers: [{name: p, remoteJWKS: {uri: 'https://id.example.com'}}]}")},
			nil},

		"cross-origin requests are no protection": {
			[]string{route("a", "{path: {value: /}}"), on("HTTPRoute", "a", `cors: {allowOrigins: ["*"]}`)}, nil},
		"it allows everybody with a login": {
			[]string{route("a", "{path: {value: /}}"), on("HTTPRoute", "a", basic+"\n  "+anyone)}, nil},
		"it is overridden everywhere": {
			[]string{route("a", "{path: {value: /}}"), on("Gateway", "gw", anyone), on("HTTPRoute", "a", basic)}, nil},
		"a limit that only reports": {
			[]string{route("a", "{path: {value: /}}"),
				strings.Replace(on("HTTPRoute", "a",
					"rateLimit: {type: Global, global: {rules: [{shadowMode: true, limit: {requests: 1, unit: Second}}]}}"),
					"SecurityPolicy", "BackendTrafficPolicy", 1)}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "in.yaml")
			if err := os.WriteFile(file, []byte(gatewayOfOneHost+strings.Join(test.objects, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range run(t, file) {
				switch f.ID {
				case "ProtectsNothing", "ProtectionReplaced", "ProtectionBypassed", "FailOpenProtection":
					got = append(got, f.ID+" "+firstWords(f.Message))
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// firstWords are the object that a message begins with.
func firstWords(message string) string {
	for _, verb := range []string{" takes ", " protects ", " lets "} {
		if object, _, found := strings.Cut(message, verb); found {
			return object
		}
	}
	return message
}

const gatewayOfOneHost = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: app}
spec:
  gatewayClassName: c
  listeners:
  - {name: http, protocol: HTTP, port: 80}
`

// route is one with a rule for each match.
func route(name string, matches ...string) string {
	out := fmt.Sprintf(
		"---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: %s, namespace: app}\nspec:\n  parentRefs: [{name: gw}]\n  hostnames: [shop.example.com]\n  rules:\n", name)
	for _, m := range matches {
		out += "  - {matches: [" + m + "], backendRefs: [{name: s, port: 80}]}\n"
	}
	return out
}

// on is a policy on an object.
func on(kind, name, settings string) string {
	return fmt.Sprintf(
		"---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: %s, namespace: app}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, kind: %s, name: %s}\n  %s\n",
		name, kind, name, settings)
}

// onRule is a policy on a rule of a route.
func onRule(name, rule, settings string) string {
	return strings.Replace(on("HTTPRoute", name, settings), "name: "+name+"}\n", "name: "+name+", sectionName: "+
		rule+"}\n", 1)
}
