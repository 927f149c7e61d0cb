// Auditgen writes the manifests of a large shop behind one Gateway, and the config_dump of a proxy
// that does all that they ask for, by which the speed of `audit --dataplane` is measured. Names are
// those of Envoy Gateway's translator.
//
//	go run ./internal/auditgen [-routes 10000] [-rules 1] [-own 3] FOLDER
//
// FOLDER gets manifests.yaml and config_dump.json. With -own N every Nth route has policies of its
// own.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	s := shop{}
	flag.IntVar(&s.routes, "routes", 10000, "how many routes")
	flag.IntVar(&s.rules, "rules", 1, "how many rules each has")
	flag.IntVar(&s.own, "own", 3, "every so many routes have policies of their own")
	flag.Parse()
	if err := s.save(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// namespaces is how many there are.
const namespaces = 20

// shop is what is generated.
type shop struct{ routes, rules, own int }

func (s shop) save(args []string) error {
	if len(args) != 1 {
		return errors.New("name the folder to write to")
	}
	for name, write := range map[string]func(io.Writer) error{"manifests.yaml": s.manifests,
		"config_dump.json": s.dump} {
		f, err := os.Create(filepath.Join(args[0], name))
		if err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s shop) has(route int) bool { return route%s.own == 0 }

// writer keeps the first error.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) add(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.to, format, args...)
	}
}

const shared = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: infra}
spec:
  gatewayClassName: eg
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: all, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: eg}]
  timeout: {http: {requestTimeout: 10s}}
  circuitBreaker: {maxConnections: 100}
`

// manifests writes a document at a time.
func (s shop) manifests(to io.Writer) error {
	w := &writer{to: to}
	w.add(shared)
	for i := range namespaces {
		w.add("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team-%d}\n", i)
		w.add(
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: app, namespace: team-%d}\nspec: {ports: [{name: http, port: 8080}]}\n", i)
	}
	for i := range s.routes {
		w.add(
			"---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop-%[1]d, namespace: team-%[2]d}\nspec:\n"+
				"  parentRefs: [{name: eg, namespace: infra}]\n  hostnames: [shop-%[1]d.example.com]\n  rules:\n",
			i, i%namespaces)
		for r := range s.rules {
			w.add(
				"  - name: v%[1]d\n    matches: [{path: {type: PathPrefix, value: /v%[1]d}}]\n    backendRefs: [{name: app, port: 8080}]\n", r)
		}
		if s.has(i) {
			w.add(
				"---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: shop-%[1]d, namespace: team-%[2]d}\nspec:\n"+
					"  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop-%[1]d}]\n"+
					"  cors: {allowOrigins: [\"https://www-%[1]d.example.com\"], allowMethods: [GET, POST]}\n  basicAuth: {users: {name: users}}\n", i, i%namespaces)
		}
	}
	return w.err
}
