package istio

import (
	"cmp"
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findProxies finds the proxies of a Gateway of Istio.
func findProxies(r *resolve.Resolution, gateway *model.Object, controller string) ([]point.End, bool) {
	if _, own := findGatewayForm(r.Snapshot, gateway); !own {
		return nil, false
	}
	return findOwnProxies(r, gateway, controller), true
}

// findOwnProxy finds the proxies of a Gateway or a waypoint.
func (j *hopJudge) findOwnProxy(gateway *model.Object) []point.End {
	class := j.in.Get(model.Ref{Group: gatewayGroup, Kind: "GatewayClass", Name: gateway.Text("spec", "gatewayClassName")})
	controller := ""
	if class != nil {
		controller = class.Text("spec", "controllerName")
	}
	return findOwnProxies(j.res, gateway, controller)
}

// findOwnProxies finds the Pods of a Gateway: those of the input with its name, else one as Istio
// makes it (pilot/pkg/config/kube/gatewaycommon/gateway_utils.go:36, deploymentcontroller.go:390).
// The service account of one that is deployed by hand is not known.
func findOwnProxies(r *resolve.Resolution, gateway *model.Object, controller string) []point.End {
	labels := map[string]string{gatewayNameLabel: gateway.Ref.Name}
	for _, o := range point.FindWorkloads(r, gateway.Ref.Namespace, labels) {
		out := point.NewEnd(r, o)
		out.Gateway, out.Controller, out.Stands = gateway, controller, gateway.Ref
		return []point.End{out}
	}
	for key, value := range gateway.Body.At("spec", "infrastructure", "labels").Fields {
		labels[key] = value.Text()
	}
	class := gateway.Text("spec", "gatewayClassName")
	maps.Copy(labels, map[string]string{gatewayNameLabel: gateway.Ref.Name,
		"gateway.networking.k8s.io/gateway-class-name": class})
	name := gateway.Ref.Name
	if form, _ := findGatewayForm(r.Snapshot, gateway); form != waypoint {
		name += "-" + class
	} else {
		labels[managedLabel] = managedByMesh
	}
	account := cmp.Or(gateway.Annotations["gateway.istio.io/service-account"], name)
	return []point.End{{Object: point.NewAssumedPod(gateway.Ref.Namespace, name, account, labels), Node: topology.None,
		Stands: gateway.Ref, Gateway: gateway, Controller: controller, AccountUnknown: !isManaged(gateway),
		Note: "as Istio deploys it"}}
}
