package viewtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// CacheKind describes the policy kind Cache of several targets.
const CacheKind = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Cache.x.io
targets: [Gateway, Gateway/listener, HTTPRoute, HTTPRoute/rule, Service]
rules: fields
fold: bottomUp
`

// ResolutionOf resolves documents with a policy kind of several targets.
func ResolutionOf(t *testing.T, docs ...string) *resolve.Resolution {
	t.Helper()
	return ResolvedAs(t, CacheKind, descriptor.Functions{}, docs...)
}

// ResolvedAs resolves documents with policy kinds that are described in a file.
func ResolvedAs(t *testing.T, kinds string, funcs descriptor.Functions, docs ...string) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(docs, "\n---\n"))})
	if err != nil {
		t.Fatal(err)
	}
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(kinds)}}, nil, funcs)
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings()), c)
}

// GatewayGroup is the group of the Gateway API.
const GatewayGroup = "gateway.networking.k8s.io"

// GatewayDoc is a Gateway with a listener http and a listener https for *.example.com.
func GatewayDoc(namespace, name string) string {
	return fmt.Sprintf(
		`{apiVersion: %s/v1, kind: Gateway, metadata: {name: %s, namespace: %s}, spec: {gatewayClassName: c, listeners: [`+
			`{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, `+
			`{name: https, port: 443, protocol: HTTPS, hostname: "*.example.com", tls: {certificateRefs: [{name: x}]}, allowedRoutes: {namespaces: {from: All}}}]}}`, GatewayGroup, name, namespace)
}

// RouteDoc is a route of parents (namespace/name or namespace/name/listener) with rules r0, r1, …
// that send to a Service of its name.
func RouteDoc(namespace, name string, rules int, parents ...string) string {
	var refs, own []string
	for _, p := range parents {
		parts := append(strings.Split(p, "/"), "")
		ref := fmt.Sprintf("{namespace: %s, name: %s", parts[0], parts[1])
		if parts[2] != "" {
			ref += ", sectionName: " + parts[2]
		}
		refs = append(refs, ref+"}")
	}
	for i := range rules {
		own = append(own,
			fmt.Sprintf("{name: r%d, matches: [{path: {value: /%d}}], backendRefs: [{name: %s, port: 80}]}", i, i,
				name))
	}
	return fmt.Sprintf(
		`{apiVersion: %s/v1, kind: HTTPRoute, metadata: {name: %s, namespace: %s}, spec: {parentRefs: [%s], rules: [%s]}}`,
		GatewayGroup, name, namespace, strings.Join(refs, ", "), strings.Join(own, ", "))
}

// ServiceDoc is a Service.
func ServiceDoc(namespace, name string) string {
	return fmt.Sprintf(
		`{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: %s}, spec: {ports: [{port: 80}]}}`,
		name, namespace)
}

// CacheDoc is a policy on targets (Kind/name or Kind/name/section) with the given settings.
func CacheDoc(namespace, name, spec string, targets ...string) string {
	var refs []string
	for _, target := range targets {
		parts := append(strings.Split(target, "/"), "")
		group := GatewayGroup
		if parts[0] == "Service" {
			group = `""`
		}
		ref := fmt.Sprintf("{group: %s, kind: %s, name: %s", group, parts[0], parts[1])
		if parts[2] != "" {
			ref += ", sectionName: " + parts[2]
		}
		refs = append(refs, ref+"}")
	}
	return fmt.Sprintf(
		`{apiVersion: x.io/v1, kind: Cache, metadata: {name: %s, namespace: %s}, spec: {targetRefs: [%s], %s}}`, name,
		namespace, strings.Join(refs, ", "), spec)
}

const PlainGateway = `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw, namespace: infra}, spec: {gatewayClassName: c,
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}}`

// MatchingRoute is a route of the Gateway whose only rule has matches.
func MatchingRoute(namespace, name, host, created string, matches ...string) string {
	return fmt.Sprintf(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: %s, namespace: %s%s}, spec: {hostnames: [%s],
  parentRefs: [{name: gw, namespace: infra}], rules: [{name: r, matches: [%s], backendRefs: [{name: s, port: 80}]}]}}`, name, namespace, created, host, strings.Join(matches, ", "))
}
