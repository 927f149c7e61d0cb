package build

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// TestImplementation: whose a Gateway is, by its class or, where that is not in the input, by the
// objects that only one implementation has; and that a listener's own hostname is taken from others
// on its port there.
func TestImplementation(t *testing.T) {
	const shop = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: a}
spec:
  gatewayClassName: c
  listeners:
  - {name: all, port: 80, protocol: HTTP}
  - {name: own, port: 80, protocol: HTTP, hostname: x.example.com}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: a}
spec: {parentRefs: [{name: gw, sectionName: all}], hostnames: [x.example.com], rules: [{}]}
`
	const class = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\nspec: {controllerName: "
	const mine = "---\napiVersion: mine.example.com/v1\nkind: P\nmetadata: {name: p, namespace: a}\n"
	const other = "---\napiVersion: other.example.com/v1\nkind: P\nmetadata: {name: p, namespace: a}\n"
	for _, c := range []struct {
		name, more, whose string
		state             topology.AttachmentState
	}{
		{"its controller", class + "example.com/mine}\n", "mine", topology.NoMatchingListenerHostname},
		{"another controller", class + "example.com/foreign}\n" + mine, "", topology.Accepted},
		{"nothing tells", "", "", topology.Accepted},
		{"its objects", mine, "mine", topology.NoMatchingListenerHostname},
		{"objects of two", mine + other, "", topology.Accepted},
	} {
		g := testGraph{Graph(model.NewSnapshot(objects(t, shop+c.more), nil), model.Settings{}, func(b *Builder) {
			b.AddImplementation(Implementation{Name: "mine", Controllers: []string{"example.com/mine"},
				Group: "mine.example.com", ExclusiveHostnames: true})
			b.AddImplementation(Implementation{Name: "other", Controllers: []string{"example.com/other"},
				Group: "other.example.com"})
		})}
		listener := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "Gateway", Namespace: "a", Name: "gw",
			Section: "all"})[0]
		route := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "HTTPRoute", Namespace: "a", Name: "r"})[0]
		if got := g.ParentVerdicts(route)[0]; got.State != c.state || g.ImplementationName(listener) != c.whose {
			t.Errorf("%s: %s (%s), whose %q", c.name, got.State, got.Reason, g.ImplementationName(listener))
		}
	}
}
