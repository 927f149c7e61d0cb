package kgateway

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// findProxies finds the proxies of a Gateway, which are deployed in its namespace under its name
// (pkg/kgateway/helm/envoy/templates/_helpers.tpl:78).
func findProxies(r *resolve.Resolution, gateway *model.Object, owner string) ([]point.End, bool) {
	if owner != controller && (owner != "" || gateway.Text("spec", "gatewayClassName") != "kgateway") {
		return nil, false
	}
	name := gateway.Ref.Name
	return point.NewProxies(r, gateway, point.ProxyTemplate{Namespace: gateway.Ref.Namespace,
		Selects: map[string]string{"gateway.networking.k8s.io/gateway-name": name},
		Labels: map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name,
			"gateway.networking.k8s.io/gateway-class-name": gateway.Text("spec", "gatewayClassName")},
		Account: name,
		DialsService: func(proxy *point.End, service *model.Object) bool {
			return isAmbient(r.Snapshot, proxy) && usesWaypoint(r.Snapshot, service)
		}}), true
}

// isAmbient reports whether the traffic of a proxy is taken by ztunnel.
func isAmbient(in *model.Snapshot, proxy *point.End) bool {
	const mode = "istio.io/dataplane-mode"
	if own := workload.PodLabels(proxy.Object)[mode]; own != "" {
		return own == "ambient"
	}
	ns := in.Get(model.Ref{Kind: "Namespace", Name: proxy.Namespace()})
	return ns != nil && ns.Labels[mode] == "ambient"
}

// usesWaypoint reports whether a Service asks Gateways to send through its waypoint: by the word true
// alone, on the Service or on its Namespace
// (pkg/kgateway/extensions2/plugins/waypoint/plugin.go:86-128).
func usesWaypoint(in *model.Snapshot, service *model.Object) bool {
	const label = "istio.io/ingress-use-waypoint"
	ns := in.Get(model.Ref{Kind: "Namespace", Name: service.Ref.Namespace})
	return service.Labels[label] == "true" || ns != nil && ns.Labels[label] == "true"
}
