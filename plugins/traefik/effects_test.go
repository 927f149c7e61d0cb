package traefik

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/effecttest"
)

// filtersFor name Middlewares, in their order.
func filtersFor(names ...string) string {
	var out []string
	for _, name := range names {
		out = append(out, "{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: "+name+"}}")
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func middleware(name, spec string) string {
	return "{apiVersion: traefik.io/v1alpha1, kind: Middleware, metadata: {name: " + name + ", namespace: a}, spec: {" +
		spec + "}}\n---\n"
}

func TestEffects(t *testing.T) {
	const list = "ipAllowList: {sourceRange: [10.0.0.0/8, 192.168.0.1]}"
	effecttest.Run(t, Plugin(), controller, []effecttest.Case{
		{Name: "nothing"},
		{Name: "a list", Filters: filtersFor("m"), Objects: middleware("m", list),
			Want: "list: allow [10.0.0.0/8 192.168.0.1/32], deny the rest\ncovers: m ipAllowList"},
		{Name: "by a header", Filters: filtersFor("m"),
			Objects: middleware("m", "ipAllowList: {sourceRange: [10.0.0.0/8], ipStrategy: {depth: 1}}"),
			Want:    "unknown: ipAllowList.ipStrategy of Middleware a/m decides which address the list sees, which is not evaluated"},
		{Name: "in order", Filters: filtersFor("strip", "add"),
			Objects: middleware("strip", "stripPrefix: {prefixes: [/other, /api]}") + middleware("add", "addPrefix: {prefix: /v2}"),
			Want:    "path: /v2/x"},
		{Name: "the whole prefix", Filters: filtersFor("strip"), URL: "http://h/api",
			Objects: middleware("strip", "stripPrefix: {prefixes: [/api]}"), Want: "path: /"},
		{Name: "an expression", Filters: filtersFor("m"),
			Objects: middleware("m", `replacePathRegex: {regex: "^/api/(.*)", replacement: /v2/$1}`), Want: "path: /v2/x"},
		{Name: "a prefix by an expression", Filters: filtersFor("m"),
			Objects: middleware("m", `stripPrefixRegex: {regex: ["/x", "/[a-z]+"]}`), Want: "path: /x"},
		{Name: "a chain", Filters: filtersFor("c"),
			Objects: middleware("c", "chain: {middlewares: [{name: m}, {name: p}, {name: c}]}") + middleware("m", list) +
				middleware("p", "replacePath: {path: /y}"),
			Want: "list: allow [10.0.0.0/8 192.168.0.1/32], deny the rest\npath: /y\ncovers: m ipAllowList"},
		{Name: "to https before a list", Filters: filtersFor("s", "m"),
			Objects: middleware("s", "redirectScheme: {scheme: https, permanent: true}") + middleware("m", list),
			Want:    "redirect: 301 https://h/api/x?q=1 first=true\ncovers: s redirectScheme"},
		{Name: "to another port after a list", Filters: filtersFor("m", "s"), URL: "http://h/",
			Objects: middleware("s", `redirectScheme: {scheme: https, port: "8443"}`) + middleware("m", list),
			Want: `
list: allow [10.0.0.0/8 192.168.0.1/32], deny the rest
redirect: 302 https://h:8443/ first=false
covers: m ipAllowList
covers: s redirectScheme`},
		{Name: "by an expression", Filters: filtersFor("r", "m"),
			Objects: middleware("r", `redirectRegex: {regex: "^http://h/(.*)", replacement: "http://other/$1"}`) + middleware("m", list),
			Want: `
list: allow [10.0.0.0/8 192.168.0.1/32], deny the rest
redirect: 302 http://other/api/x?q=1 first=true
covers: m ipAllowList
unknown: redirectRegex of Middleware a/r may redirect requests before others refuse them, which is not evaluated`},
		{Name: "sizes and limits", Filters: filtersFor("b", "l"),
			Objects: middleware("b", "buffering: {maxRequestBodyBytes: 8388608}") + middleware("l", "rateLimit: {average: 10, burst: 5, period: 1m}"),
			Want: `
body: 8388608
bodyLimit: 8388608 (b buffering.maxRequestBodyBytes)
limits.rate: 10 (l rateLimit.average)
limits.period: 1m (l rateLimit.period)
limits.burst: 5 (l rateLimit.burst)
covers: b buffering.maxRequestBodyBytes`},
		{Name: "of a backend", Backends: "[{name: s, port: 80, filters: " + filtersFor("m") + "}]",
			Objects: middleware("m", list),
			Want:    "unknown: the filter Middleware a/m of a backend may change or answer requests, which is not evaluated"},
		{Name: "what is not known", Filters: filtersFor("e", "absent"), Objects: middleware("e", "errors: {query: /e}"),
			Want: `
unknown: errors of Middleware a/e may change or refuse requests, which is not evaluated
unknown: the filter Middleware a/absent may answer requests, which is not evaluated`},
	})
}
