package others

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// gateways are the implementations without policies that make Services and workloads for Gateways.
var gateways = []build.GatewayObjects{
	{Controllers: []string{"io.cilium/gateway-controller"},
		Classes: map[string]string{"cilium": "io.cilium/gateway-controller"},
		Names:   nameAfterGateway("cilium-gateway-")},
	{Controllers: []string{"projectcontour.io/gateway-controller"}, Names: nameAfterGateway("envoy-", "contour-")},
	{Controllers: []string{"gateways.kuma.io/controller"},
		Classes: map[string]string{"kuma": "gateways.kuma.io/controller"}, Names: nameAfterGateway("")},
}

func nameAfterGateway(prefixes ...string) func(*model.Object, string) []string {
	return func(gateway *model.Object, _ string) []string {
		var out []string
		for _, prefix := range prefixes {
			out = append(out, prefix+gateway.Ref.Name)
		}
		return out
	}
}
