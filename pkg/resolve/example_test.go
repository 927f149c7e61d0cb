package resolve_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// From manifests to what is in force on a route rule: read, build the graph, resolve, and ask for
// the rule's contexts. A context is a stack of policies that traffic can meet there; its verdict
// says who set and who lost what.
func ExampleRun() {
	kinds := `
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: TimeoutPolicy.policies.example.com
targets: [Gateway, HTTPRoute, HTTPRoute/rule]
refs: [{at: spec.targetRefs}]
content: {fields: [request, idle]}
strategy: merge defaults
`
	manifests := `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: example, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  rules: [{name: cart}]
---
apiVersion: policies.example.com/v1
kind: TimeoutPolicy
metadata: {name: everywhere, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  request: 10s
  idle: 1h
---
apiVersion: policies.example.com/v1
kind: TimeoutPolicy
metadata: {name: quick, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]
  request: 2s
`
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(manifests)})
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(kinds)}}, nil,
		descriptor.Functions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res := resolve.Run(in, build.Graph(in, catalog.Settings(), catalog.Links()...), catalog)
	timeouts := res.Kind(model.GroupKind{Group: "policies.example.com", Kind: "TimeoutPolicy"})
	rule := model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "shop", Name: "shop",
		Section: "cart"}
	for _, node := range res.Graph.Lookup(rule) {
		for _, stack := range timeouts.Contexts(node) {
			o := timeouts.Verdict(stack)
			for _, r := range o.Result.Rules {
				fmt.Println(r.Name, r.Value, "from", o.Layers[r.From[0].Layer].Policy.Ref())
			}
			for _, l := range o.Losses() {
				fmt.Println("lost:", l.Rule, l.Value, "of", o.Layers[l.From.Layer].Policy.Ref(), "because", l.Reason)
			}
		}
	}
	// Output:
	// idle 1h from timeoutpolicy/shop/everywhere
	// request 2s from timeoutpolicy/shop/quick
	// lost: request 10s of timeoutpolicy/shop/everywhere because MoreSpecificWins
}
