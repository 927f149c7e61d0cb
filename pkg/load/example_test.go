package load_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// A broken document costs itself: the others are read, each object knows its line, and a problem
// says where the trouble is.
func ExampleFiles() {
	manifests := `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {gatewayClassName: example, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  hostnames: [cart.example.com]
`
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(manifests)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range in.Objects {
		fmt.Println(o.Ref, "at", o.Origin)
	}
	for _, o := range in.Objects {
		if hosts := o.Body.At("spec", "hostnames"); !hosts.IsNull() {
			fmt.Println(hosts.Value(), "at", o.OriginOf("spec", "hostnames"))
		}
	}
	for _, p := range in.Problems {
		fmt.Println(p.Severity, p.Code, "at", p.Origin)
	}
	// Output:
	// gateway/infra/edge at stdin:1
	// httproute/shop/cart at stdin:10
	// [cart.example.com] at stdin:14
	// error InvalidYAML at stdin:8
}
