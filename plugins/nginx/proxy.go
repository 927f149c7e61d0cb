package nginx

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// findProxies finds the proxies of a Gateway, which are deployed in its namespace as NAME-CLASS
// (internal/controller/provisioner/objects.go:117).
func findProxies(r *resolve.Resolution, gateway *model.Object, owner string) ([]point.End, bool) {
	class := gateway.Text("spec", "gatewayClassName")
	if owner != controller && (owner != "" || class != "nginx") {
		return nil, false
	}
	name := gateway.Ref.Name + "-" + class
	return point.NewProxies(r, gateway, point.ProxyTemplate{Namespace: gateway.Ref.Namespace,
		Selects: map[string]string{"gateway.networking.k8s.io/gateway-name": gateway.Ref.Name},
		Labels:  map[string]string{"app.kubernetes.io/name": name}, Account: name}), true
}
