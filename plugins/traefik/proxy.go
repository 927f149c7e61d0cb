package traefik

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// findProxies finds the proxies, which are one for all Gateways, where the chart is installed: that is
// known only of Pods in the input.
func findProxies(r *resolve.Resolution, gateway *model.Object, owner string) ([]point.End, bool) {
	if owner != controller && (owner != "" || gateway.Text("spec", "gatewayClassName") != "traefik") {
		return nil, false
	}
	return point.NewProxies(r, gateway, point.ProxyTemplate{
		Selects: map[string]string{"app.kubernetes.io/name": "traefik"},
		DialsService: func(_ *point.End, service *model.Object) bool {
			return service.Annotations["traefik.io/service.nativelb"] == "true"
		}}), true
}
