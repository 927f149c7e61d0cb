package envoygateway

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/effecttest"
)

// policyOf is a policy for the route of the cases.
func policyOf(kind, name, spec string) string {
	return "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: " + kind + ", metadata: {name: " + name +
		", namespace: a}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], " + spec + "}}\n---\n"
}

func TestEffects(t *testing.T) {
	const filters = "[{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: f}}]"
	filter := func(spec string) string {
		return "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: HTTPRouteFilter, metadata: {name: f, namespace: a}, spec: {" + spec + "}}"
	}
	effecttest.Run(t, Plugin(), "gateway.envoyproxy.io/gatewayclass-controller", []effecttest.Case{
		{Name: "nothing"},
		{Name: "addresses in order", Objects: policyOf("SecurityPolicy", "p", `authorization: {rules: [
			{action: Deny, principal: {clientCIDRs: [10.9.0.0/16]}}, {action: Allow, principal: {clientCIDRs: [10.0.0.0/8, "fd00::/8"]}}]}`),
			Want: `
list: deny [10.9.0.0/16], allow [10.0.0.0/8 fd00::/8], deny the rest
covers: p authorization`},
		{Name: "rules for other requests do not count", Objects: policyOf("SecurityPolicy", "p", `authorization: {defaultAction: Allow, rules: [
			{action: Deny, operation: {methods: [POST]}, principal: {clientCIDRs: [10.0.0.0/8]}},
			{action: Deny, principal: {clientCIDRs: [10.0.0.0/8], headers: [{name: x, values: [y]}]}},
			{action: Allow, operation: {path: {value: /api}}}]}`),
			Want: `
list: allow [0.0.0.0/0 ::/0], allow the rest
covers: p authorization`},
		{Name: "a token decides", Objects: policyOf("SecurityPolicy", "p", `authorization: {rules: [{action: Allow, principal: {jwt: {provider: x}}}]}`),
			Want: `unknown: authorization.rules.principal.jwt of SecurityPolicy a/p decides who is let in, which is not evaluated`},
		{Name: "an older policy wins",
			Objects: policyOf("BackendTrafficPolicy", "a", "requestBuffer: {limit: 8Mi}, retry: {numRetries: 3, retryOn: {triggers: [reset, connect-failure]}}") +
				policyOf("BackendTrafficPolicy", "b", "requestBuffer: {limit: 1Ki}, timeout: {http: {requestTimeout: 5s}}"),
			Want: `
body: 8388608
buffering.request: on (a requestBuffer)
bodyLimit: 8Mi (a requestBuffer.limit)
retries.attempts: 3 (a retry.numRetries)
retries.on: reset connect-failure (a retry.retryOn.triggers)
covers: a requestBuffer.limit`},
		{Name: "what may answer", Objects: policyOf("BackendTrafficPolicy", "p", "faultInjection: {abort: {httpStatus: 503}}") +
			policyOf("EnvoyExtensionPolicy", "x", "lua: [{type: Inline, inline: x}]"),
			Want: `
unknown: faultInjection.abort of BackendTrafficPolicy a/p answers requests itself, which is not evaluated
unknown: lua of EnvoyExtensionPolicy a/x may change or refuse requests, which is not evaluated`},
		{Name: "a rewrite by groups", Filters: filters,
			Objects: filter(`urlRewrite: {path: {type: ReplaceRegexMatch, replaceRegexMatch: {pattern: "^/api(/|$)(.*)", substitution: "/$\\2"}}}`),
			Want:    "path: /$x"},
		{Name: "an answer", Filters: filters, Objects: filter("directResponse: {statusCode: 503}"), Want: "answers: 503\ncovers: f directResponse"},
		{Name: "a filter that is not there", Filters: filters,
			Want: "unknown: the filter HTTPRouteFilter a/f may answer requests, which is not evaluated"},
	})
}
