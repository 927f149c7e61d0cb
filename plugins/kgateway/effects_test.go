package kgateway

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/effecttest"
)

// trafficPolicy is a policy for the route of the cases.
func trafficPolicy(name, spec string) string {
	return "{apiVersion: gateway.kgateway.dev/v1alpha1, kind: TrafficPolicy, metadata: {name: " + name +
		", namespace: a}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], " + spec + "}}\n---\n"
}

func TestEffects(t *testing.T) {
	extension := func(kind string) string {
		return "[{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: " + kind + ", name: f}}]"
	}
	const directResponse = "{apiVersion: gateway.kgateway.dev/v1alpha1, kind: DirectResponse, metadata: {name: f, namespace: a}, spec: {status: 410}}"
	effecttest.Run(t, Plugin(), controller, []effecttest.Case{
		{Name: "nothing"},
		{Name: "the longest prefix first", Objects: trafficPolicy("p", `acl: {defaultAction: deny, rules: [
			{action: allow, cidrs: [10.0.0.0/8, 10.9.1.1]}, {action: deny, cidrs: [10.9.0.0/16]}]}`),
			Want: `
list: allow [10.9.1.1/32], deny [10.9.0.0/16], allow [10.0.0.0/8], deny the rest
covers: p acl`},
		{Name: "a rewrite", Objects: trafficPolicy("p", `urlRewrite: {pathRegex: {pattern: "(?i)^/API(/|$)(.*)", substitution: "/\\2"}}`),
			Want: `path: /x`},
		{Name: "a rewrite of the route wins", Filters: "[{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /y}}}]",
			Objects: trafficPolicy("p", `urlRewrite: {pathRegex: {pattern: "^/api", substitution: "/"}}`), Want: "path: /y"},
		{Name: "sizes and times", Objects: trafficPolicy("p", "buffer: {maxRequestSize: 8Mi}, timeouts: {request: 5s}, retry: {attempts: 2, statusCodes: [502, 503]}"),
			Want: `
body: 8388608
buffering.request: on (p buffer)
bodyLimit: 8Mi (p buffer.maxRequestSize)
timeouts.request: 5s (p timeouts.request)
retries.attempts: 2 (p retry.attempts)
retries.statuses: 502 503 (p retry.statusCodes)
covers: p buffer`},
		{Name: "no buffer", Objects: trafficPolicy("p", "buffer: {disable: {}}")},
		{Name: "by a filter", Filters: extension("TrafficPolicy"),
			Objects: "{apiVersion: gateway.kgateway.dev/v1alpha1, kind: TrafficPolicy, metadata: {name: f, namespace: a}, spec: {csrf: {percentageEnabled: 100}}}",
			Want:    "unknown: csrf of TrafficPolicy a/f may refuse requests from other origins, which is not evaluated"},
		{Name: "an answer and backends", Filters: extension("DirectResponse"), Objects: directResponse, Want: "answers: 500"},
		{Name: "an answer", Backends: "[]", Filters: extension("DirectResponse"),
			Objects: directResponse, Want: "answers: 410\ncovers: f "},
		{Name: "a filter that is not there", Filters: extension("TrafficPolicy"),
			Want: "answers: 500"},
	})
}
