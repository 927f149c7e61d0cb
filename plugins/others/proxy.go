package others

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findProxies finds the proxies of Gateways of Cilium: these are on every node, and no Pods.
func findProxies(_ *resolve.Resolution, gateway *model.Object, controller string) ([]point.End, bool) {
	if controller != "io.cilium/gateway-controller" && (controller != "" || gateway.Text("spec", "gatewayClassName") != "cilium") {
		return nil, false
	}
	return []point.End{{Node: topology.None, Stands: gateway.Ref, Gateway: gateway}}, true
}
