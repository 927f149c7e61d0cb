package nginx

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/effecttest"
)

// defaults are the settings of nginx itself, behind those of clients.
const defaults = `timeouts.connect: 60s ( )
timeouts.read: 60s ( )
timeouts.send: 60s ( )
buffering.response: on ( )`

func TestEffects(t *testing.T) {
	policyFor := func(kind, target, name, spec string) string {
		refs := "targetRefs: [{group: gateway.networking.k8s.io, " + target + "}]"
		if kind == "ClientSettingsPolicy" {
			refs = "targetRef: {group: gateway.networking.k8s.io, " + target + "}"
		}
		return "{apiVersion: gateway.nginx.org/v1alpha1, kind: " + kind + ", metadata: {name: " + name +
			", namespace: a}, spec: {" + refs + ", " + spec + "}}\n---\n"
	}
	const gateway, route = "kind: Gateway, name: gw", "kind: HTTPRoute, name: r"
	filter := func(kind string) string {
		return "[{type: ExtensionRef, extensionRef: {group: gateway.nginx.org, kind: " + kind + ", name: f}}]"
	}
	effecttest.Run(t, Plugin(), controller, []effecttest.Case{
		{Name: "nothing", Want: "body: 1048576\nbodyLimit: 1m ( )\n" + defaults},
		{Name: "a route's size goes before its Gateway's",
			Objects: policyFor("ClientSettingsPolicy", gateway, "g", "body: {maxSize: 8m, timeout: 5s}") +
				policyFor("ClientSettingsPolicy", route, "r", "body: {maxSize: 10k}"),
			Want: `
body: 10240
timeouts.clientBody: 5s (g body.timeout)
bodyLimit: 10k (r body.maxSize)
` + defaults + `
covers: r body.maxSize`},
		{Name: "no limit", Objects: policyFor("ClientSettingsPolicy", gateway, "g", `body: {maxSize: "0"}`),
			Want: "bodyLimit: 0 (g body.maxSize)\n" + defaults + "\ncovers: g body.maxSize"},
		{Name: "times and buffers", Objects: policyFor("ProxySettingsPolicy", route, "p",
			"timeout: {read: 5m}, buffering: {disable: true, buffers: {number: 8, size: 8k}}"),
			Want: `
body: 1048576
bodyLimit: 1m ( )
timeouts.connect: 60s ( )
timeouts.read: 5m (p timeout.read)
timeouts.send: 60s ( )
buffering.response: off (p buffering.disable)
buffering.buffers: 8 8k (p buffering.buffers)`},
		{Name: "a login", Filters: filter("AuthenticationFilter"),
			Objects: "{apiVersion: gateway.nginx.org/v1alpha1, kind: AuthenticationFilter, metadata: {name: f, namespace: a}, spec: {type: Basic, basic: {realm: x, secretRef: {name: u}}}}",
			Want:    "body: 1048576\nbodyLimit: 1m ( )\n" + defaults},
		{Name: "snippets", Filters: filter("SnippetsFilter"),
			Objects: "{apiVersion: gateway.nginx.org/v1alpha1, kind: SnippetsFilter, metadata: {name: f, namespace: a}, spec: {snippets: [{context: http.server.location, value: deny all;}]}}",
			Want:    "body: 1048576\nbodyLimit: 1m ( )\n" + defaults + "\nunknown: snippets of SnippetsFilter a/f may do anything, which is not evaluated"},
	})
}
