package linkerd

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// The families that the linker makes.
const (
	inboundFamily  = "linkerd.inbound"  // namespace > workload > port
	serverFamily   = "linkerd.server"   // Server > route on it
	egressFamily   = "linkerd.egress"   // EgressNetworks
	outboundFamily = "linkerd.outbound" // Service or EgressNetwork > rule of a route on it
)

// The roles of the nodes that the linker makes.
const (
	portRole           topology.Role = "workloadPort"
	externalRole       topology.Role = "externalWorkload"
	serverRole         topology.Role = "server"
	serverRouteRole    topology.Role = "serverRoute"
	egressRole         topology.Role = "egressNetwork"
	outboundParentRole topology.Role = "outboundParent"
	outboundRuleRole   topology.Role = "outboundRule"
)

// addToGraph registers what the vendor adds to the graph.
func addToGraph(b *build.Builder) {
	b.AddParentRules(build.ParentRules{Judge: newParentJudge, CoreName: "core", RoutesTogether: true})
	b.AddExtension(func(b *build.Extender, in *model.Snapshot, s model.Settings) []model.Problem {
		if !isPresent(in, s) {
			return nil
		}
		w := buildMeshIndex(in, s)
		linkInbound(b, w)
		linkServers(b, w)
		linkEgress(b, w)
		linkOutbound(b, in, w.settings)
		return slices.Concat(w.serverProblems(), admissionProblems(in, w), findIdleAnnotations(in, w),
			profileProblems(in))
	})
}

// linkInbound adds the ports of workloads.
func linkInbound(b *build.Extender, w *meshIndex) {
	b.Workloads()
	b.DeclareFamily(inboundFamily, topology.Namespace, topology.Workload, externalRole, portRole)
	for _, load := range w.workloads {
		role := topology.Workload
		if load.external {
			role = externalRole
		}
		id := b.AddObject(role, load.object)
		names := make([]string, len(load.ports))
		for i, port := range load.ports {
			names[i] = strconv.Itoa(port)
		}
		for _, part := range b.AddSections(id, portRole, names) {
			b.Connect(inboundFamily, id, part)
		}
	}
}

// linkServers adds the Servers, and the routes on each.
func linkServers(b *build.Extender, w *meshIndex) {
	b.DeclareFamily(serverFamily, serverRole, serverRouteRole)
	for _, o := range w.in.OfKind(serverKind) {
		id := b.AddObject(serverRole, o)
		for _, route := range w.byObject[o].routes {
			b.Connect(serverFamily, id, b.AddExtraNode(serverRouteRole, route.Ref, route))
		}
	}
}

func linkEgress(b *build.Extender, w *meshIndex) {
	b.DeclareFamily(egressFamily, egressRole)
	for _, o := range w.in.OfKind(egressKind) {
		b.AddExtraNode(egressRole, o.Ref, o) // as a backend of routes it has another node
	}
}

// serverProblems says what of Servers and of the routes on them has no effect.
func (w *meshIndex) serverProblems() []model.Problem {
	var out []model.Problem
	say := func(o *model.Object, severity model.Severity, code model.Code, hint, format string, args ...any) {
		out = append(out, model.Problem{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...),
			Hint: hint}.At(o))
	}
	for _, o := range w.in.OfKind(serverKind) {
		v := w.byObject[o]
		if v.invalidReason != "" {
			say(o, model.Warning, model.InvalidObject, "", "%s: it governs no port", v.invalidReason)
		}
		for _, route := range v.routes {
			if !v.readsRoutes(route.Ref.GroupKind()) {
				say(route, model.Warning, model.NotReached, "",
					"Server %s has the proxyProtocol %s, with which no proxy asks %ss: the route and the policies on it have no effect there",
					o.Ref.FullName(), v.protocol, route.Ref.Kind)
			}
		}
	}
	for _, gk := range []model.GroupKind{grpcRouteKind, httpRouteKind, ownRouteKind} {
		for _, route := range w.in.OfKind(gk) {
			for i, p := range route.Body.At("spec", "parentRefs").Items {
				if !readReference(p, parentGroup(route)).isKind(serverKind) {
					continue
				}
				if bad := checkServerParent(route, p); bad != "" {
					say(route, model.Warning, model.InvalidTarget, "",
						"spec.parentRefs[%d] %s: the route as a whole is left out at Servers", i, bad)
				} else if what := findUnknownFilter(route); what != "" {
					say(route, model.Warning, model.NotReached, "",
						"its filter %s is none that proxies know at Servers: the route is left out there, although its status says Accepted", what)
				}
			}
		}
	}
	return out
}

// profileProblems says that ServiceProfiles, which count before routes and annotations, are not
// evaluated.
func profileProblems(in *model.Snapshot) []model.Problem {
	var out []model.Problem
	for _, o := range in.OfKind(model.GroupKind{Group: "linkerd.io", Kind: "ServiceProfile"}) {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "a ServiceProfile is not evaluated: for its Service it counts before routes and annotations"}.At(
			o))
	}
	return out
}

// findUnknownFilter is a filter of a route for which Linkerd leaves the route out at Servers.
func findUnknownFilter(route *model.Object) string {
	for _, rule := range route.Body.At("spec", "rules").Items {
		for _, f := range rule.Field("filters").Items {
			if t := f.Text("type"); slices.Contains([]string{"RequestMirror", "URLRewrite", "ExtensionRef"}, t) {
				return t
			}
		}
	}
	return ""
}

// findNode is the first node of an object in a role.
func findNode(g *topology.Graph, ref model.Ref, role topology.Role) topology.NodeID {
	for _, id := range g.Lookup(ref) {
		if g.Node(id).Role == role {
			return id
		}
	}
	return topology.None
}
