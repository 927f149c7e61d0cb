package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// GatewayAPI is the release of the Gateway API by whose rules objects are read. Nothing of its Go types is compiled in: fields that it does
// not have are kept, and some kinds that only later releases have are known.
const GatewayAPI = "v1.6.3"

// The groups whose kinds are all known.
const (
	coreGroup         = ""
	gatewayGroup      = "gateway.networking.k8s.io"
	experimentalGroup = "gateway.networking.x-k8s.io"
)

var (
	gatewayClassKind = model.GroupKind{Group: gatewayGroup, Kind: "GatewayClass"}
	gatewayKind      = model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}
	listenerSetKind  = model.GroupKind{Group: gatewayGroup, Kind: "ListenerSet"}
	httpRouteKind    = model.GroupKind{Group: gatewayGroup, Kind: "HTTPRoute"}
	grpcRouteKind    = model.GroupKind{Group: gatewayGroup, Kind: "GRPCRoute"}
	tlsRouteKind     = model.GroupKind{Group: gatewayGroup, Kind: "TLSRoute"}
	tcpRouteKind     = model.GroupKind{Group: gatewayGroup, Kind: "TCPRoute"}
	udpRouteKind     = model.GroupKind{Group: gatewayGroup, Kind: "UDPRoute"}
	grantKind        = model.GroupKind{Group: gatewayGroup, Kind: "ReferenceGrant"}

	xListenerSetKind  = model.GroupKind{Group: experimentalGroup, Kind: "XListenerSet"}
	xBackendKind      = model.GroupKind{Group: experimentalGroup, Kind: "XBackend"}
	serviceKind       = model.GroupKind{Group: coreGroup, Kind: "Service"}
	namespaceKind     = model.GroupKind{Group: coreGroup, Kind: "Namespace"}
	serviceImportKind = model.GroupKind{Group: "multicluster.x-k8s.io", Kind: "ServiceImport"}
)

// standardKinds are those of the Gateway API.
var standardKinds = [...]model.GroupKind{
	gatewayClassKind, gatewayKind, listenerSetKind, httpRouteKind, grpcRouteKind, tlsRouteKind, tcpRouteKind, udpRouteKind, grantKind,
	{Group: gatewayGroup, Kind: "BackendTLSPolicy"},
	xListenerSetKind, xBackendKind,
	{Group: experimentalGroup, Kind: "XBackendTrafficPolicy"}, {Group: experimentalGroup, Kind: "XTelemetryPolicy"},
	{Group: experimentalGroup, Kind: "XMesh"},
	serviceKind, namespaceKind, {Kind: "Secret"}, {Kind: "ConfigMap"}, serviceImportKind,
}

// Kinds returns the kinds of the objects that make the graph, and the Gateway API's own policies,
// sorted.
func Kinds() []model.GroupKind {
	var out []model.GroupKind
	for _, gk := range standardKinds {
		if gk.Kind != "Secret" && gk.Kind != "ConfigMap" && gk.Kind != "XMesh" {
			out = append(out, gk)
		}
	}
	slices.SortFunc(out, model.GroupKind.Compare)
	return out
}

// knownKinds returns the kinds that are defined: by the Gateway API, by a CRD, or by an object of
// the input.
func knownKinds(in *model.Snapshot) map[model.GroupKind]struct{} {
	known := map[model.GroupKind]struct{}{}
	for _, gk := range standardKinds {
		known[gk] = struct{}{}
	}
	for _, gk := range in.Kinds() {
		known[gk] = struct{}{}
	}
	for _, crd := range in.Definitions() {
		gk, _ := crd.DefinedKind()
		if gk.Kind != "" {
			known[gk] = struct{}{}
		}
	}
	return known
}

// ListenerSetKinds returns ListenerSet, and XListenerSet, which came before it and is the same.
func ListenerSetKinds() []model.GroupKind {
	return []model.GroupKind{listenerSetKind, xListenerSetKind}
}

// IsListenerSet reports whether gk is one of ListenerSetKinds.
func IsListenerSet(gk model.GroupKind) bool { return gk == listenerSetKind || gk == xListenerSetKind }

func isRoute(gk model.GroupKind) bool {
	return slices.Contains(routeKinds[:], gk)
}

// routeKinds are the kinds of routes, sorted. Those of the first two are HTTP traffic.
var routeKinds = [...]model.GroupKind{grpcRouteKind, httpRouteKind, tcpRouteKind, tlsRouteKind, udpRouteKind}

// RouteKinds returns the kinds of routes, sorted.
func RouteKinds() []model.GroupKind { return slices.Clone(routeKinds[:]) }

// HTTPRouteKinds returns the kinds of routes for HTTP traffic, gRPC included, sorted.
func HTTPRouteKinds() []model.GroupKind { return slices.Clone(routeKinds[:2]) }

// IsHTTPRoute reports whether gk is one of HTTPRouteKinds.
func IsHTTPRoute(gk model.GroupKind) bool { return gk == httpRouteKind || gk == grpcRouteKind }

// kindsByProtocol returns the route kinds that listeners of a standard protocol take (gatewayapi
// G13), nil for any other protocol.
func kindsByProtocol(protocol string) []model.GroupKind {
	switch protocol {
	case "HTTP", "HTTPS":
		return []model.GroupKind{httpRouteKind, grpcRouteKind}
	case "TLS":
		return []model.GroupKind{tlsRouteKind}
	case "TCP":
		return []model.GroupKind{tcpRouteKind}
	case "UDP":
		return []model.GroupKind{udpRouteKind}
	}
	return nil
}
