package build_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// What traffic passes on its way to a rule are the nodes above the rule. A parentRef that leads
// nowhere has no edge; the attachments of the route say why.
func Example() {
	manifests := `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: example
  listeners:
  - {name: public, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: internal, port: 8080, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs:
  - {name: edge, namespace: infra, sectionName: public}
  - {name: edge, namespace: infra, sectionName: internal}
  rules:
  - {name: cart, matches: [{path: {value: /cart}}]}
`
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(manifests)})
	if err != nil {
		fmt.Println(err)
		return
	}
	graph := build.Graph(in, model.Settings{})
	route := model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "shop", Name: "shop"}
	for _, rule := range graph.Lookup(route.WithSection("cart")) {
		for at := []topology.NodeID{rule}; len(at) > 0; at = graph.Parents(topology.Traffic, at[0]) {
			n := graph.Node(at[0])
			fmt.Println(n.Role, n.Ref)
		}
	}
	for _, id := range graph.Lookup(route) {
		for _, a := range graph.Attachments(id) {
			fmt.Println(a.Parent, a.State, a.Reason)
		}
	}
	// Output:
	// rule httproute/shop/shop/cart
	// route httproute/shop/shop
	// listener gateway/infra/edge/public
	// gateway gateway/infra/edge
	// gatewayClass gatewayclass/example
	// gateway/infra/edge/public Accepted listener public accepts the route
	// gateway/infra/edge/internal NotAllowedByListeners listener internal takes no routes from namespace shop
}
