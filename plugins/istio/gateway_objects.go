package istio

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

const (
	eastWestController      = "istio.io/eastwest-controller"
	agentController         = "istio.io/agentgateway-controller"
	agentWaypointController = "istio.io/agentgateway-waypoint-controller"
)

// gatewayObjects says how Istio calls the Service and the workload of a Gateway: NAME-CLASS, or NAME
// for waypoints and other classes of its own; an annotation may say otherwise.
var gatewayObjects = build.GatewayObjects{
	Controllers: []string{gatewayController, meshController, eastWestController, agentController,
		agentWaypointController},
	Classes: map[string]string{"istio": gatewayController, "istio-waypoint": meshController,
		"istio-east-west": eastWestController, "istio-remote": "istio.io/unmanaged-gateway",
		"istio-agentgateway": agentController, "istio-agentgateway-waypoint": agentWaypointController},
	Names: func(gateway *model.Object, controller string) []string {
		if !isManaged(gateway) {
			return nil
		}
		name := gateway.Ref.Name
		if controller == gatewayController || controller == "" {
			name += "-" + gateway.Text("spec", "gatewayClassName")
		}
		out := []string{name}
		for _, key := range []string{"gateway.istio.io/name-override", "gateway.istio.io/service-account"} {
			if other := gateway.Annotations[key]; other != "" {
				out = append(out, other)
			}
		}
		return out
	}}

// isManaged reports whether Istio makes a workload for a Gateway: its addresses name no host, which
// would be that of a Service that is there.
func isManaged(gateway *model.Object) bool {
	addresses, _ := gateway.Get("spec", "addresses").([]any)
	if len(addresses) != 1 {
		return len(addresses) == 0
	}
	kind := model.Text(addresses[0], "type")
	return kind == "" || kind == "IPAddress"
}
