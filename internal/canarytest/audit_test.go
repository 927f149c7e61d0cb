package canarytest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secrets are policies and objects that hold secrets where they may, on the routes of
// testdata/audit. ~ stands for a canary.
const secrets = `
---
apiVersion: v1
kind: Secret
metadata: {name: cart-users, namespace: shop, annotations: {note: ~}}
data: {.htpasswd: ~}
stringData: {key: ~}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: keys, namespace: shop}
data: {jwks: ~}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: tokens, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, sectionName: browse}]
  apiKeyAuth: {credentialRefs: [{name: cart-users}], extractFrom: [{headers: [x-key]}]}
  jwt:
    providers:
    - {name: here, issuer: "https://login.example.com", localJWKS: {type: Inline, inline: ~}}
    - {name: there, issuer: "https://login.example.com", remoteJWKS: {uri: "https://user:~@login.example.com/keys?token=~"}}
  extAuth: {http: {backendRefs: [{name: cart, port: 8080}], path: "/check?token=~"}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: browse, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, sectionName: browse}]
  timeout: {http: {requestTimeout: 5s}}
  retry: {numRetries: 7}
  faultInjection: {abort: {httpStatus: 418}}
  rateLimit: {type: Local, local: {rules: [{clientSelectors: [{headers: [{name: authorization, value: ~}]}], limit: {requests: 3, unit: Hour}}]}}
  healthCheck: {active: {type: HTTP, interval: 9s, http: {path: ~, expectedResponse: {type: Text, text: ~}}}}
  responseOverride: [{match: {statusCodes: [{type: Value, value: 500}]}, response: {body: {type: Inline, inline: ~}}}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyExtensionPolicy
metadata: {name: code, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  lua: [{type: Inline, inline: ~}]
  wasm: [{name: w, rootID: r, config: {password: ~}, env: {hostKeys: [~]}, code: {type: HTTP, http: {url: "https://user:~@wasm.example.com/w.wasm"}}}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: proxy, namespace: infra}
spec: {provider: {type: Kubernetes, kubernetes: {envoyDeployment: {container: {env: [{name: PASSWORD, value: ~}]}}}}}
`

// inDump is what dumps may hold of secrets, at the places that they have for it: of a listener, a
// route configuration, a route, the chain of filters and the whole.
var inDump = map[string]string{
	"listener": `"transport_socket": {"typed_config": {"common_tls_context": {"tls_certificates": [{"certificate_chain": {"inline_string": "~"}, "private_key": {"inline_string": "~"}, "password": {"inline_bytes": "~"}}]}}}`,
	"route": `"request_headers_to_add": [{"header": {"key": "authorization", "value": "Basic ~"}}], "response_headers_to_add": [{"header": {"key": "set-cookie", "value": "~"}}],
		"decorator": {"operation": "~"}, "metadata": {"filter_metadata": {"other": {"password": "~"}}}`,
	"filters": `{"name": "envoy.filters.http.jwt_authn", "typed_config": {"providers": {"here": {"issuer": "https://other.example.com", "payload_in_metadata": "here", "local_jwks": {"inline_string": "~"}},
			"there": {"issuer": "https://login.example.com", "payload_in_metadata": "there", "remote_jwks": {"http_uri": {"uri": "https://user:~@login.example.com/keys?token=~"}}}},
			"requirement_map": {"both": {"requires_any": {"requirements": [{"provider_name": "here"}, {"provider_name": "there"}]}}}}},
		{"name": "envoy.filters.http.ext_authz/securitypolicy/shop/tokens", "disabled": true, "typed_config": {"http_service": {"path_prefix": "/other?token=~", "server_uri": {"uri": "http://user:~@x"},
			"authorization_request": {"headers_to_add": [{"key": "x-secret", "value": "~"}]}}}},
		{"name": "envoy.filters.http.credential_injector", "typed_config": {"credential": {"typed_config": {"credential": {"inline_string": "~"}}}}},
		{"name": "envoy.filters.http.api_key_auth", "typed_config": {"credentials": [{"key": "~", "client": "~"}]}},
		{"name": "envoy.filters.http.lua/envoyextensionpolicy/shop/other/lua/0", "disabled": true, "typed_config": {"default_source_code": {"inline_string": "~"}}},
		{"name": "stranger", "typed_config": {"value": {"password": "~"}}},`,
	"perRoute": `"envoy.filters.http.jwt_authn": {"requirement_name": "both"}, "envoy.filters.http.ext_authz/securitypolicy/shop/tokens": {"check_settings": {"context_extensions": {"key": "~"}}},
		"envoy.filters.http.api_key_auth": {"credentials": [{"key": "~", "client": "~"}]}, "envoy.filters.http.lua/envoyextensionpolicy/shop/other/lua/0": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": {"source_code": {"inline_string": "~"}}},
		"envoy.filters.http.local_ratelimit": {"token_bucket": {"max_tokens": 1, "tokens_per_fill": 1, "fill_interval": "1s"}, "descriptors": [{"entries": [{"key": "authorization", "value": "~"}], "token_bucket": {"max_tokens": 1, "fill_interval": "1s"}}]},`,
	"section": `{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "dynamic_active_secrets": [{"name": "~", "secret": {"generic_secret": {"secret": {"inline_string": "~"}}, "session_ticket_keys": {"keys": [{"inline_bytes": "~"}]}}}],
			"dynamic_warming_secrets": [{"name": "~", "error_state": {"details": "~"}}]}`,
	"refused": `"error_state": {"version_info": "9", "details": "Invalid \"~\" in {password: ~} 'key: ~' inline_string: \"~\"", "failed_configuration": {"name": "infra/eg/http", "password": "~"}}`,
	"node":    `"env": {"PASSWORD": "~"}, "user_agent_name": "~"`,
}

// plant puts canaries in the places of a text.
func plant(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "~") {
		if i > 0 {
			fmt.Fprintf(&out, "zqcanary%05dx", i)
		}
		out.WriteString(part)
	}
	return out.String()
}

// behind puts a text behind the first of each marker that a dump has; there has to be one.
func behind(t *testing.T, dump, marker, text string) string {
	t.Helper()
	if !strings.Contains(dump, marker) {
		t.Fatalf("the dump has no %s", marker)
	}
	return strings.ReplaceAll(dump, marker, marker+plant(text))
}

// secretive writes a dump of testdata/audit with secrets.
func secretive(t *testing.T, folder, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../testdata/audit", name))
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	packed, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	text := string(packed)
	text = behind(t, text, `"configs":[`, inDump["section"]+",")
	text = behind(t, text, `"listener":{`, inDump["listener"]+`,"was":0,`)
	text = behind(t, text, `"active_state":{`, `"x":0,`)
	text = strings.Replace(text, `"active_state":`, plant(inDump["refused"])+`,"active_state":`, 1)
	text = behind(t, text, `"http_filters":[`, inDump["filters"])
	text = behind(t, text, `"typed_per_filter_config":{`, inDump["perRoute"])
	text = behind(t, text, `"node":{`, inDump["node"]+",")
	text = behind(t, text, `"routes":[{`, inDump["route"]+`,"was":0,`)
	if !json.Valid([]byte(text)) {
		t.Fatal("the dump is no JSON with its secrets")
	}
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAudits: what dumps and manifests hold of secrets is in no form of an audit, nor in what it
// says beside, though there are differences in the settings that hold them.
func TestAudits(t *testing.T) {
	folder := t.TempDir()
	manifests, err := os.ReadFile("../../testdata/audit/manifests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(folder, "in.yaml")
	if err := os.WriteFile(in, []byte(string(manifests)+plant(secrets)), 0o600); err != nil {
		t.Fatal(err)
	}
	one, two := secretive(t, folder, "proxy-1.json"), secretive(t, folder, "proxy-2.json")
	for _, dumps := range [][]string{{"--dataplane", one}, {"--dataplane", two, "--all"},
		{"--dataplane", one, "--dataplane", two}} {
		for _, form := range []string{"table", "wide", "json", "yaml", "ndjson", "name", "sarif", "junit",
			"github", "markdown"} {
			text := run(t, append([]string{"audit", "-f", in, "-v", "-o", form}, dumps...)...)
			leaks(t, fmt.Sprint(form, " of ", dumps), text)
			if strings.Contains(text, "canary-") {
				t.Errorf("%s of %v has a value of the dump as it is in the repository", form, dumps)
			}
			if form != "json" {
				continue
			}
			for _, setting := range []string{"jwt", "extAuth", "apiKeyAuth", "rateLimit.local", "healthCheck.active",
				"responseOverride", "lua", "wasm", "stranger"} {
				if !strings.Contains(text, `"setting": "`+setting+`"`) && !strings.Contains(text, `"`+setting+`"`) {
					t.Errorf("nothing is said of %s, so that its secrets are not tried\n%s", setting, text)
				}
			}
			if !strings.Contains(text, "DataplaneRejected") {
				t.Error("no refused update, so that its reason is not tried")
			}
		}
	}
}
