package main

import (
	"bufio"
	"fmt"
	"io"
)

// The shape of the generated topology. Only the number of routes varies.
const (
	gateways          = 10
	listenersEach     = 2
	rulesEach         = 2  // of a route
	routesPerPolicy   = 2  // every so many routes have a policy
	rulesPerPolicy    = 10 // every so many rules have a policy
	routeNamespaces   = 50
	routesInARow      = 10 // on one gateway, then the next one follows
	infraNamespace    = "infra"
	gatewayAPIVersion = "gateway.networking.k8s.io/v1"
)

// shape counts what a topology of so many routes holds.
type shape struct{ routes, rules, policies, paths int }

func shapeOf(routes int) shape {
	rules := routes * rulesEach
	return shape{
		routes:   routes,
		rules:    rules,
		policies: gateways + every(routesPerPolicy, routes) + every(rulesPerPolicy, rules),
		paths:    rules * listenersEach,
	}
}

// every is how many of the numbers from 0 to below n are multiples of step.
func every(step, n int) int { return (n + step - 1) / step }

// writeTopology writes the manifests of a topology as YAML, a document at a time, so that the writer stays small.
func writeTopology(to io.Writer, routes int) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "apiVersion: %s\nkind: GatewayClass\nmetadata: {name: prod}\nspec: {controllerName: example.com/gateway}\n", gatewayAPIVersion)
	for i := range gateways {
		writeGateway(w, i)
	}
	for i := range routes {
		writeRoute(w, i)
	}
	return w.Flush()
}

// writeGateway writes a gateway with its listeners and its policy. All strategies occur.
func writeGateway(w io.Writer, i int) {
	fmt.Fprintf(w, `---
apiVersion: %s
kind: Gateway
metadata:
  name: gw%d
  namespace: %s
spec:
  gatewayClassName: prod
  listeners:
`, gatewayAPIVersion, i, infraNamespace)
	for l := range listenersEach {
		fmt.Fprintf(w, "  - {name: l%d, port: %d, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n", l, 8080+l)
	}
	block := []string{"defaults", "defaults", "overrides", "overrides"}[i%4]
	strategy := []string{"atomic", "merge"}[i%2]
	writePolicy(w, policySpec{
		name: fmt.Sprintf("gw%d", i), namespace: infraNamespace, kind: "Gateway", target: fmt.Sprintf("gw%d", i),
		block: block, strategy: strategy, authentication: "shared", authorization: "gateway",
	})
}

// writeRoute writes a route and the policies on it and on its rules.
func writeRoute(w io.Writer, i int) {
	name, namespace := fmt.Sprintf("r%d", i), fmt.Sprintf("ns%d", i%routeNamespaces)
	fmt.Fprintf(w, `---
apiVersion: %s
kind: HTTPRoute
metadata:
  name: %s
  namespace: %s
spec:
  parentRefs:
  - name: gw%d
    namespace: %s
  hostnames:
  - %s.example.com
  rules:
`, gatewayAPIVersion, name, namespace, i/routesInARow%gateways, infraNamespace, name)
	for r := range rulesEach {
		fmt.Fprintf(w, `  - name: rule%d
    matches:
    - path:
        type: PathPrefix
        value: /v%d
    backendRefs:
    - name: app
      port: 8080
`, r, r)
	}
	strategies := []string{"atomic", "merge", "merge"}
	if i%routesPerPolicy == 0 {
		writePolicy(w, policySpec{
			name: name, namespace: namespace, kind: "HTTPRoute", target: name,
			block: "defaults", strategy: strategies[i/routesPerPolicy%3], authentication: "route", authorization: "shared",
		})
	}
	for r := range rulesEach {
		if (i*rulesEach+r)%rulesPerPolicy == 0 {
			writePolicy(w, policySpec{
				name: fmt.Sprintf("%s-rule%d", name, r), namespace: namespace, kind: "HTTPRoute", target: name, section: fmt.Sprintf("rule%d", r),
				block: "defaults", strategy: "atomic", authentication: "shared", authorization: "rule",
			})
		}
	}
}

// policySpec is what differs between the generated policies. Each has one block with one rule of two sorts.
type policySpec struct {
	name, namespace               string
	kind, target, section         string
	block, strategy               string
	authentication, authorization string
}

func writePolicy(w io.Writer, p policySpec) {
	section := ""
	if p.section != "" {
		section = "\n    sectionName: " + p.section
	}
	fmt.Fprintf(w, `---
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata:
  name: %s
  namespace: %s
spec:
  targetRef:
    group: gateway.networking.k8s.io
    kind: %s
    name: %s%s
  %s:
    strategy: %s
    rules:
      authentication:
        %s:
          apiKey:
            selector:
              matchLabels:
                keys: %s
      authorization:
        %s:
          patternMatching:
            patterns:
            - predicate: auth.identity.team == "%s"
`, p.name, p.namespace, p.kind, p.target, section, p.block, p.strategy, p.authentication, p.name, p.authorization, p.namespace)
}
