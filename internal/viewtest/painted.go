package viewtest

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// painted has policies of two kinds in two namespaces on a Gateway and a route; two of them are in
// doubt.
const painted = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: example.com/controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec: {gatewayClassName: class, listeners: [{name: web, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, {name: tcp, port: 90, protocol: TCP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: app}
spec: {parentRefs: [{name: gw, namespace: infra, port: 80}], rules: [{name: cart}]}
---
apiVersion: x.io/v1
kind: Paint
metadata: {name: b, namespace: infra}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw}, wall: red}
---
apiVersion: x.io/v1
kind: Paint
metadata: {name: a, namespace: infra}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw}, wall: blue}
---
apiVersion: x.io/v1
kind: Paint
metadata: {name: c, namespace: app}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}, wall: blue}
---
apiVersion: a.io/v1
kind: Gloss
metadata: {name: g, namespace: app}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}, shine: high}`

// PaintedResolution resolves an input with policies of two kinds in two namespaces, two of them in
// doubt.
func PaintedResolution(t *testing.T) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(painted)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := descriptor.NewCatalog(nil, nil, nil, descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings()), c)
}
