package linkerd

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	topologyselector "github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

const (
	group         = "policy.linkerd.io"
	workloadGroup = "workload.linkerd.io"
	gatewayGroup  = "gateway.networking.k8s.io"
)

var (
	namespaceKind        = model.GroupKind{Kind: "Namespace"}
	podKind              = model.GroupKind{Kind: "Pod"}
	serviceKind          = model.GroupKind{Kind: "Service"}
	serviceAccountKind   = model.GroupKind{Kind: "ServiceAccount"}
	httpRouteKind        = model.GroupKind{Group: gatewayGroup, Kind: "HTTPRoute"}
	grpcRouteKind        = model.GroupKind{Group: gatewayGroup, Kind: "GRPCRoute"}
	tlsRouteKind         = model.GroupKind{Group: gatewayGroup, Kind: "TLSRoute"}
	tcpRouteKind         = model.GroupKind{Group: gatewayGroup, Kind: "TCPRoute"}
	ownRouteKind         = model.GroupKind{Group: group, Kind: "HTTPRoute"}
	serverKind           = model.GroupKind{Group: group, Kind: "Server"}
	egressKind           = model.GroupKind{Group: group, Kind: "EgressNetwork"}
	authorizationKind    = model.GroupKind{Group: group, Kind: "AuthorizationPolicy"}
	oldAuthorizationKind = model.GroupKind{Group: group, Kind: "ServerAuthorization"}
	rateLimitKind        = model.GroupKind{Group: group, Kind: "HTTPLocalRateLimitPolicy"}
	meshTLSKind          = model.GroupKind{Group: group, Kind: "MeshTLSAuthentication"}
	networkKind          = model.GroupKind{Group: group, Kind: "NetworkAuthentication"}
	externalWorkloadKind = model.GroupKind{Group: workloadGroup, Kind: "ExternalWorkload"}
)

// meshIndex is what the input says of the inbound side of the mesh.
type meshIndex struct {
	in        *model.Snapshot
	settings  settings
	workloads []*workload
	servers   map[string][]*server // by namespace, in the order in which they get ports
	byObject  map[*model.Object]*server
	byRef     map[model.Ref]*workload       // made when it is first asked for
	byTarget  map[model.Ref][]*model.Object // AuthorizationPolicies; made when it is first asked for
	oldGrants map[string][]*model.Object    // ServerAuthorizations by namespace; likewise
	limits    map[model.Ref]*model.Object   // the rate limit in force of each Server; likewise
	patterns  map[string]*regexp.Regexp     // expressions of routes; nil: one cannot be read
}

// server is a Server with what it selects.
type server struct {
	object        *model.Object
	external      bool
	selector      topologyselector.LabelSelector
	invalidReason string // why the Server selects nothing
	protocol      string
	routes        []*model.Object // attached, by age, kind and name
}

// buildMeshIndex reads the Servers, the workloads and the routes on Servers.
func buildMeshIndex(in *model.Snapshot, s model.Settings) *meshIndex {
	w := &meshIndex{in: in, settings: readSettings(s), workloads: readWorkloads(in), servers: map[string][]*server{},
		byObject: map[*model.Object]*server{}}
	for _, o := range in.OfKind(serverKind) {
		v := readServer(o)
		w.byObject[o] = v
		w.servers[o.Ref.Namespace] = append(w.servers[o.Ref.Namespace], v)
	}
	for _, list := range w.servers {
		timeless := slices.ContainsFunc(list, func(v *server) bool { return v.object.Created.IsZero() })
		slices.SortStableFunc(list, func(a, b *server) int { return compareAge(a.object, b.object, timeless) })
	}
	for _, load := range w.workloads {
		w.setPorts(load)
	}
	for _, gk := range []model.GroupKind{grpcRouteKind, httpRouteKind, ownRouteKind} {
		for _, o := range in.OfKind(gk) {
			for _, v := range w.findParentServers(o) {
				v.routes = append(v.routes, o)
			}
		}
	}
	for _, v := range w.byObject {
		timeless := slices.ContainsFunc(v.routes, func(o *model.Object) bool { return o.Created.IsZero() })
		slices.SortFunc(v.routes, func(a, b *model.Object) int {
			if c := a.Created.Compare(b.Created); c != 0 && !timeless {
				return c
			}
			return a.Ref.Compare(b.Ref)
		})
	}
	return w
}

// compareAge compares by age, unless that is not known of all, then by name.
func compareAge(a, b *model.Object, timeless bool) int {
	if c := a.Created.Compare(b.Created); c != 0 && !timeless {
		return c
	}
	return cmp.Compare(a.Ref.Name, b.Ref.Name)
}

func readServer(o *model.Object) *server {
	v := &server{object: o, protocol: cmp.Or(o.Text("spec", "proxyProtocol"), "unknown")}
	spec := o.Body.Field("spec")
	selector := spec.Field("podSelector")
	if selector.IsNull() {
		selector, v.external = spec.Field("externalWorkloadSelector"), true
	}
	if selector.IsNull() {
		v.invalidReason = "it has neither podSelector nor externalWorkloadSelector"
	}
	var err error
	if v.selector, err = topologyselector.ReadLabelSelector(selector); err != nil {
		v.invalidReason = "its selector cannot be read: " + err.Error()
	}
	return v
}

// accessPolicy is the accessPolicy of a Server; the default of the API if it has none.
func (v *server) accessPolicy() string { return cmp.Or(v.object.Text("spec", "accessPolicy"), deny) }

// selectsWorkload reports whether a Server is about a workload.
func (v *server) selectsWorkload(load *workload) bool {
	return v.external == load.external && v.object.Ref.Namespace == load.object.Ref.Namespace &&
		v.selector.SelectsLabels(load.labels)
}

// serverPort is the port of a Server.
func (v *server) serverPort() model.Body { return v.object.Body.At("spec", "port") }

// setPorts lists the ports of a workload that can be governed: those that it declares, those that
// Servers select, those that its annotations name.
func (w *meshIndex) setPorts(load *workload) {
	for _, p := range load.declared {
		load.ports = append(load.ports, p.number)
	}
	for _, v := range w.servers[load.object.Ref.Namespace] {
		if v.selectsWorkload(load) {
			load.ports = append(load.ports, load.resolvePort(v.serverPort())...)
		}
	}
	for port := range load.probePaths {
		load.ports = append(load.ports, port)
	}
	for _, note := range []string{opaquePortsAnnotation, requireIdentityAnnotation} {
		load.ports = append(load.ports, load.annotatedPorts(note).listPorts()...)
	}
	slices.Sort(load.ports)
	load.ports = slices.Compact(load.ports)
}

// isShown reports whether what is in force at the ports of a workload without a Server is worth an
// answer: not if it is known to be outside of the mesh, where no proxy asks.
func (w *workload) isShown() bool {
	return w.meshed != topologyselector.No || hasOwnAnnotation(w.object) && w.annotations[injectAnnotation] == ""
}

// findGovernor is the Server that governs a port of a workload, nil if none does.
func (w *meshIndex) findGovernor(load *workload, port int) *server {
	for _, v := range w.servers[load.object.Ref.Namespace] {
		if v.selectsWorkload(load) && slices.Contains(load.resolvePort(v.serverPort()), port) {
			return v
		}
	}
	return nil
}

// authorizationsOf are the AuthorizationPolicies of which a grant at a Server, or of a route, is one: of
// a Server those on its Namespace as well. They are in the order of the input.
func (w *meshIndex) authorizationsOf(ref model.Ref) []*model.Object {
	if w.byTarget == nil {
		w.byTarget = map[model.Ref][]*model.Object{}
		for _, o := range w.in.OfKind(authorizationKind) {
			if target, ok := findTarget(o); ok {
				w.byTarget[target] = append(w.byTarget[target], o)
			}
		}
	}
	if ref.GroupKind() != serverKind {
		return w.byTarget[ref]
	}
	out := slices.Concat(w.byTarget[ref], w.byTarget[model.Ref{Kind: "Namespace", Name: ref.Namespace}])
	slices.SortFunc(out, func(a, b *model.Object) int { return a.Ref.Compare(b.Ref) })
	return out
}

// oldAuthorizationsIn are the ServerAuthorizations of a namespace.
func (w *meshIndex) oldAuthorizationsIn(namespace string) []*model.Object {
	if w.oldGrants == nil {
		w.oldGrants = map[string][]*model.Object{}
		for _, o := range w.in.OfKind(oldAuthorizationKind) {
			w.oldGrants[o.Ref.Namespace] = append(w.oldGrants[o.Ref.Namespace], o)
		}
	}
	return w.oldGrants[namespace]
}

// reference is a reference as Linkerd reads it: kinds and groups in any case, and core for the
// group that has no name.
type reference struct{ group, kind, namespace, name string }

func readReference(b model.Body, group string) reference {
	r := reference{group, b.Text("kind"), b.Text("namespace"), b.Text("name")}
	if g := b.Field("group"); g.IsText() {
		r.group = g.Text()
	}
	if strings.EqualFold(r.group, "core") {
		r.group = ""
	}
	return r
}

// isKind reports whether a reference is to objects of a kind.
func (r reference) isKind(gk model.GroupKind) bool {
	return strings.EqualFold(r.group, gk.Group) && strings.EqualFold(r.kind, gk.Kind)
}

// resolveRef is the object that a reference means.
func (r reference) resolveRef(gk model.GroupKind, home string) model.Ref {
	return model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: cmp.Or(r.namespace, home), Name: r.name}
}

// parentGroup is the group of a parentRef that names none.
func parentGroup(route *model.Object) string { return route.Ref.Group }

// findParentServers are the Servers that a route is attached to. One reference to a Server that is
// no good spoils the route as a whole.
func (w *meshIndex) findParentServers(route *model.Object) []*server {
	var out []*server
	for _, p := range route.Body.At("spec", "parentRefs").Items {
		r := readReference(p, parentGroup(route))
		if !r.isKind(serverKind) {
			continue
		}
		if checkServerParent(route, p) != "" {
			return nil
		}
		if o := w.in.Get(r.resolveRef(serverKind, route.Ref.Namespace)); o != nil && !slices.Contains(out, w.byObject[o]) {
			out = append(out, w.byObject[o])
		}
	}
	return out
}

// checkServerParent is what is wrong with a parentRef to a Server.
func checkServerParent(route *model.Object, p model.Body) string {
	switch ns := p.Text("namespace"); {
	case ns != "" && ns != route.Ref.Namespace:
		return "names a Server in another namespace"
	case !p.Field("port").IsNull():
		return "names a port of a Server"
	case !p.Field("sectionName").IsNull():
		return "names a section of a Server"
	}
	return ""
}

// readsRoutes reports whether the proxies ask the routes of a kind at the Server.
func (v *server) readsRoutes(gk model.GroupKind) bool {
	switch v.protocol {
	case "HTTP/1", "HTTP/2", "unknown":
		return gk != grpcRouteKind
	case "gRPC":
		return gk == grpcRouteKind
	}
	return false
}

// activeRoutes are the attached routes that count, in the order in which proxies get them. One with a
// filter that proxies do not know is left out.
func (v *server) activeRoutes() []*model.Object {
	var out []*model.Object
	for _, o := range v.routes {
		if v.readsRoutes(o.Ref.GroupKind()) && findUnknownFilter(o) == "" {
			out = append(out, o)
		}
	}
	return out
}
