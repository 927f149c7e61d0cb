package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// BenchmarkEffective answers `effective -A -o json` for 10 gateways with a policy each and so many
// routes, every tenth with one, and reports what each part costs.
func BenchmarkEffective(b *testing.B) {
	for _, routes := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("routes=%d", routes), func(b *testing.B) {
			text := shop(routes)
			parts := map[string]time.Duration{}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				answerAll(b, text, parts)
			}
			for name, d := range parts {
				b.ReportMetric(float64(d.Milliseconds())/float64(b.N), name+"-ms")
			}
		})
	}
}

func answerAll(b *testing.B, text []byte, parts map[string]time.Duration) {
	start := time.Now()
	lap := func(name string) {
		now := time.Now()
		parts[name] += now.Sub(start)
		start = now
	}
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: bytes.NewReader(text)})
	if err != nil {
		b.Fatal(err)
	}
	lap("decode")
	g := build.Graph(in, catalog.Settings())
	lap("topology")
	r := resolve.Run(in, g, catalog)
	lap("attach")
	for _, k := range r.Kinds {
		if len(k.Policies) > 0 {
			k.EachStackInForce(func(s resolve.StackID) { k.Verdict(s) })
		}
	}
	lap("fold")
	list := effective.List(r, view.Query{})
	lap("view")
	if err := render.Write(io.Discard, list, render.Options{Format: render.JSON}); err != nil {
		b.Fatal(err)
	}
	lap("write")
}

func shop(routes int) []byte {
	var b bytes.Buffer
	b.WriteString(
		"apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: prod}\nspec: {controllerName: example.com/gateway}\n")
	for i := range 10 {
		fmt.Fprintf(&b, `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: gw%[1]d
  namespace: infra
spec:
  gatewayClassName: prod
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: alt, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: policies.example.com/v1
kind: AuthPolicy
metadata:
  name: gw%[1]d
  namespace: infra
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw%[1]d}
  defaults:
    strategy: merge
    rules:
      authentication: {api: {apiKey: {}}}
      authorization: {geo: {opa: {}}}
`, i)
	}
	for i := range routes {
		fmt.Fprintf(&b, `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: r%[1]d
  namespace: ns%[2]d
spec:
  parentRefs:
  - name: gw%[3]d
    namespace: infra
  hostnames:
  - r%[1]d.example.com
  rules:
  - matches:
    - path:
        type: PathPrefix
        value: /a
    backendRefs:
    - name: svc
      port: 80
  - name: second
    backendRefs:
    - name: svc
      port: 80
`, i, i%50, i%10)
		if i%10 == 0 {
			fmt.Fprintf(&b, `---
apiVersion: policies.example.com/v1
kind: AuthPolicy
metadata:
  name: p%[1]d
  namespace: ns%[2]d
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r%[1]d}
  rules:
    authentication: {own: {jwt: {}}}
`, i, i%50)
		}
	}
	return b.Bytes()
}
