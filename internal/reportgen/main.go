// Reportgen writes the manifests of a large shop, by which the size and the speed of reports are
// measured: gateways with policies of three kinds, namespaces with some, and routes of which some
// or all have their own.
//
//	go run ./internal/reportgen [-routes 5000] [-own 3] > shop.yaml
//
// With -own N every Nth route has policies of its own, of two kinds.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	s := shop{}
	flag.IntVar(&s.routes, "routes", 5000, "how many routes, of two rules each")
	flag.IntVar(&s.own, "own", 3, "every so many routes have policies of their own")
	flag.Parse()
	if err := s.write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// The rest of the shape.
const (
	gateways   = 10
	namespaces = 20
	rulesEach  = 2
)

// shop is what is generated.
type shop struct{ routes, own int }

// write writes a document at a time.
func (s shop) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprint(w,
		"apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: prod}\nspec: {controllerName: example.com/gateway}\n")
	for i := range gateways {
		writeGateway(w, i)
	}
	for i := range namespaces {
		fmt.Fprintf(w, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team-%d}\n", i)
		fmt.Fprintf(w,
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: app, namespace: team-%d}\nspec: {ports: [{port: 8080}]}\n", i)
	}
	for i := range s.routes {
		writeRoute(w, i, i%s.own == 0)
	}
	return w.Flush()
}

// writeGateway writes a gateway with two listeners and its policies: defaults that are merged,
// limits that override, and tokens that all share.
func writeGateway(w io.Writer, i int) {
	fmt.Fprintf(w, `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw%[1]d, namespace: infra}
spec:
  gatewayClassName: prod
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.gw%[1]d.example.com", allowedRoutes: {namespaces: {from: All}}}
  - {name: https, port: 443, protocol: HTTPS, hostname: "*.gw%[1]d.example.com", allowedRoutes: {namespaces: {from: All}}, tls: {certificateRefs: [{name: cert}]}}
---
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: gw%[1]d-auth, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw%[1]d}
  defaults:
    strategy: merge
    rules:
      authentication:
        staff: {jwt: {issuerUrl: "https://login.example.com/realms/gw%[1]d"}}
      authorization:
        geo: {opa: {rego: "allow { input.context.request.http.headers[\"x-country\"] != \"xx\" }"}}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: gw%[1]d-limits, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw%[1]d}
  overrides:
    strategy: merge
    limits:
      cap: {rates: [{limit: %[2]d, window: 1s}]}
---
apiVersion: kuadrant.io/v1alpha1
kind: TokenRateLimitPolicy
metadata: {name: gw%[1]d-tokens, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw%[1]d}
  defaults:
    limits:
      daily: {rates: [{limit: 100000, window: 24h}]}
`, i, 1000*(i+1))
}

// writeRoute writes a route, and if asked to the policies of its own: one that is merged with the
// gateway's, and one whose setting loses.
func writeRoute(w io.Writer, i int, own bool) {
	fmt.Fprintf(w, `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop-%[1]d, namespace: team-%[2]d}
spec:
  parentRefs: [{name: gw%[3]d, namespace: infra}]
  hostnames: [shop-%[1]d.gw%[3]d.example.com]
  rules:
`, i, i%namespaces, i/namespaces%gateways)
	for r := range rulesEach {
		fmt.Fprintf(w,
			"  - name: v%d\n    matches: [{path: {type: PathPrefix, value: /v%d}}]\n    backendRefs: [{name: app, port: 8080}]\n", r+1, r+1)
	}
	if !own {
		return
	}
	strategy := []string{"merge", "atomic", "merge"}[i/2%3]
	fmt.Fprintf(w, `---
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: shop-%[1]d-auth, namespace: team-%[2]d}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop-%[1]d}
  defaults:
    strategy: %[3]s
    rules:
      authentication:
        keys: {apiKey: {selector: {matchLabels: {shop: "%[1]d"}}}}
      authorization:
        geo: {patternMatching: {patterns: [{predicate: "request.host == 'shop-%[1]d'"}]}}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: shop-%[1]d-limits, namespace: team-%[2]d}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop-%[1]d}
  limits:
    cap: {rates: [{limit: %[4]d, window: 1s}]}
    burst: {rates: [{limit: %[5]d, window: 10s}]}
`, i, i%namespaces, strategy, 5000+i, 100+i)
}
