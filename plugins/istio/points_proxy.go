package istio

import (
	"cmp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// findProxies finds the proxies of a Gateway of Istio.
func findProxies(r *resolve.Resolution, gateway *model.Object, _ string) ([]point.End, bool) {
	if _, own := findGatewayForm(r.Snapshot, gateway); !own {
		return nil, false
	}
	return findOwnProxies(r, gateway), true
}

// findOwnProxies finds the proxies of a Gateway or a waypoint, as Istio deploys them
// (pilot/pkg/config/kube/gatewaycommon/gateway_utils.go:36, deploymentcontroller.go:390). The service
// account of one that is deployed by hand is not known.
func findOwnProxies(r *resolve.Resolution, gateway *model.Object) []point.End {
	class := gateway.Text("spec", "gatewayClassName")
	t := point.ProxyTemplate{Namespace: gateway.Ref.Namespace,
		Selects: map[string]string{gatewayNameLabel: gateway.Ref.Name},
		Labels:  map[string]string{"gateway.networking.k8s.io/gateway-class-name": class}}
	name := gateway.Ref.Name
	if form, _ := findGatewayForm(r.Snapshot, gateway); form != waypoint {
		name += "-" + class
	} else {
		t.Labels[managedLabel] = managedByMesh
	}
	if isManaged(gateway) {
		t.Account = cmp.Or(gateway.Annotations["gateway.istio.io/service-account"], name)
	}
	return point.NewProxies(r, gateway, t)
}
