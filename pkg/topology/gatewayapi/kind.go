package gatewayapi

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Version is the release of the Gateway API by whose rules objects are read. Nothing of its Go
// types is compiled in: fields that it does not have are kept, and some kinds that only later
// releases have are known.
const Version = "v1.6.3"

// The groups whose kinds are all known.
const (
	CoreGroup         = ""
	GatewayGroup      = gatewayv1.GroupName
	ExperimentalGroup = gatewayxv1alpha1.GroupName
)

var (
	GatewayClassKind = model.GroupKind{Group: GatewayGroup, Kind: "GatewayClass"}
	GatewayKind      = model.GroupKind{Group: GatewayGroup, Kind: "Gateway"}
	ListenerSetKind  = model.GroupKind{Group: GatewayGroup, Kind: "ListenerSet"}
	HTTPRouteKind    = model.GroupKind{Group: GatewayGroup, Kind: "HTTPRoute"}
	GRPCRouteKind    = model.GroupKind{Group: GatewayGroup, Kind: "GRPCRoute"}
	TLSRouteKind     = model.GroupKind{Group: GatewayGroup, Kind: "TLSRoute"}
	TCPRouteKind     = model.GroupKind{Group: GatewayGroup, Kind: "TCPRoute"}
	UDPRouteKind     = model.GroupKind{Group: GatewayGroup, Kind: "UDPRoute"}
	GrantKind        = model.GroupKind{Group: GatewayGroup, Kind: "ReferenceGrant"}

	XListenerSetKind  = model.GroupKind{Group: ExperimentalGroup, Kind: "XListenerSet"}
	XBackendKind      = model.GroupKind{Group: ExperimentalGroup, Kind: "XBackend"}
	ServiceKind       = model.GroupKind{Group: CoreGroup, Kind: "Service"}
	NamespaceKind     = model.GroupKind{Group: CoreGroup, Kind: "Namespace"}
	ServiceImportKind = model.GroupKind{Group: "multicluster.x-k8s.io", Kind: "ServiceImport"}
)

// standardKinds are those of the Gateway API.
var standardKinds = [...]model.GroupKind{
	GatewayClassKind, GatewayKind, ListenerSetKind, HTTPRouteKind, GRPCRouteKind, TLSRouteKind, TCPRouteKind,
	UDPRouteKind, GrantKind,
	{Group: GatewayGroup, Kind: "BackendTLSPolicy"},
	XListenerSetKind, XBackendKind,
	{Group: ExperimentalGroup, Kind: "XBackendTrafficPolicy"}, {Group: ExperimentalGroup, Kind: "XTelemetryPolicy"},
	{Group: ExperimentalGroup, Kind: "XMesh"},
	ServiceKind, NamespaceKind, {Kind: "Secret"}, {Kind: "ConfigMap"}, ServiceImportKind,
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

// KnownKinds returns the kinds that are defined: by the Gateway API, by a CRD, or by an object of
// the input.
func KnownKinds(in *model.Snapshot) map[model.GroupKind]struct{} {
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
	return []model.GroupKind{ListenerSetKind, XListenerSetKind}
}

// IsListenerSet reports whether gk is one of ListenerSetKinds.
func IsListenerSet(gk model.GroupKind) bool { return gk == ListenerSetKind || gk == XListenerSetKind }

// IsRoute reports whether gk is a kind of routes of the Gateway API.
func IsRoute(gk model.GroupKind) bool {
	return slices.Contains(SortedRouteKinds[:], gk)
}

// SortedRouteKinds are the kinds of routes, sorted. Those of the first two are HTTP traffic.
var SortedRouteKinds = [...]model.GroupKind{GRPCRouteKind, HTTPRouteKind, TCPRouteKind, TLSRouteKind, UDPRouteKind}

// RouteKinds returns the kinds of routes, sorted.
func RouteKinds() []model.GroupKind { return slices.Clone(SortedRouteKinds[:]) }

// HTTPRouteKinds returns the kinds of routes for HTTP traffic, gRPC included, sorted.
func HTTPRouteKinds() []model.GroupKind { return slices.Clone(SortedRouteKinds[:2]) }

// IsHTTPRoute reports whether gk is one of HTTPRouteKinds.
func IsHTTPRoute(gk model.GroupKind) bool { return gk == HTTPRouteKind || gk == GRPCRouteKind }

// KindsByProtocol returns the route kinds that listeners of a standard protocol take (gatewayapi
// G13), nil for any other protocol.
func KindsByProtocol(protocol string) []model.GroupKind {
	switch protocol {
	case "HTTP", "HTTPS":
		return []model.GroupKind{HTTPRouteKind, GRPCRouteKind}
	case "TLS":
		return []model.GroupKind{TLSRouteKind}
	case "TCP":
		return []model.GroupKind{TCPRouteKind}
	case "UDP":
		return []model.GroupKind{UDPRouteKind}
	}
	return nil
}

// ListsPorts reports whether objects of a kind list their ports as Services do.
func ListsPorts(gk model.GroupKind) bool { return gk == ServiceKind || gk == ServiceImportKind }

// NamespaceRef returns the reference of the namespace called name.
func NamespaceRef(name string) model.Ref { return model.Ref{Kind: NamespaceKind.Kind, Name: name} }

// IsMeshParent reports whether a parent of the kind makes a route one of the mesh (gatewayapi G19,
// G49).
func IsMeshParent(gk model.GroupKind) bool { return gk == ServiceKind || gk == ServiceImportKind }

// WithCoreGroup returns a reference with the group that has no name, where an implementation calls
// it otherwise.
func WithCoreGroup(ref model.Ref, names []string) model.Ref {
	if slices.Contains(names, ref.Group) {
		ref.Group = CoreGroup
	}
	return ref
}
