package nginx

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// reviseObjects puts what the controller reports about its Gateways, ListenerSets, listeners and
// routes in the place of what the Gateway API says.
func reviseObjects(r *resolve.Resolution, all []status.Prediction) []status.Prediction {
	withheld := r.Snapshot.Cluster.HasUnread(gatewayapi.GatewayClassKind)
	if !slices.ContainsFunc(r.Graph.Order(topology.Traffic), func(id topology.NodeID) bool {
		return r.Graph.Node(id).Role == topology.Gateway && isOwn(r.Graph, id, withheld)
	}) {
		return all
	}
	v := viewOf(r.Graph, r.Snapshot)
	var out []status.Prediction
	for _, p := range all {
		before := cloneAncestors(p.Ancestors)
		for _, id := range r.Graph.Lookup(p.Object) {
			switch n := r.Graph.Node(id); n.Role {
			case topology.Gateway:
				v.reviseGateway(&p, id)
			case topology.ListenerSet:
				v.reviseSet(&p, id)
			case topology.Listener:
				if !v.reviseListener(&p, id) {
					p.Ancestors = nil
				}
			case topology.Route:
				v.reviseRoute(&p, id)
			}
		}
		if withheld && len(p.Ancestors) > 0 {
			p.Ancestors = withholdChanges(before, p.Ancestors)
		}
		if len(p.Ancestors) > 0 || p.Object.Section == "" {
			out = append(out, p)
		}
	}
	return out
}

func cloneAncestors(all []status.Ancestor) []status.Ancestor {
	out := slices.Clone(all)
	for i := range out {
		out[i].Conditions = slices.Clone(out[i].Conditions)
	}
	return out
}

// withholdChanges leaves open what is only so if the Gateways are the controller's, where classes may
// not be read.
func withholdChanges(before, after []status.Ancestor) []status.Ancestor {
	out := cloneAncestors(before)
	for _, a := range out {
		var same []status.Condition
		for _, b := range after {
			if a.Ref == b.Ref || a.Ref != nil && b.Ref != nil && *a.Ref == *b.Ref && a.Port == b.Port {
				same = b.Conditions
			}
		}
		status.LeaveChangesOpen(a.Conditions, same, "it depends on whose the Gateway is, and GatewayClasses are forbidden")
	}
	return out
}

// isOwn reports whether a Gateway is known to be the controller's, or may be: its class is withheld.
func isOwn(g *topology.Graph, gateway topology.NodeID, withheld bool) bool {
	return slices.ContainsFunc(g.Parents(topology.Traffic, gateway), func(class topology.NodeID) bool {
		o := g.Node(class).Object
		return o == nil && withheld || o != nil && o.Text("spec", "controllerName") == controller
	})
}

func (v *controllerView) isOwn(gateway topology.NodeID) bool { return isOwn(v.g, gateway, v.withheld) }

// reviseGateway predicts the conditions of a Gateway: of several of a type the last one stands
// (internal/controller/status/prepare_requests.go, prepareGatewayRequest @ e55bfe339).
func (v *controllerView) reviseGateway(p *status.Prediction, id topology.NodeID) {
	gateway := v.gateways[id]
	if gateway == nil || !v.isOwn(id) || hasUnknown(p.Ancestors[0].Conditions) {
		return
	}
	conditions := []status.Condition{{Type: "Accepted", Status: "True", Reason: "Accepted",
		Message: "the Gateway is accepted"}}
	if gateway.fault != "" {
		conditions = []status.Condition{gateway.faulty}
	}
	body := v.g.Node(id).Object.Body
	params, client := body.At("spec", "infrastructure", "parametersRef"), body.At("spec", "tls", "backend")
	if params.IsObject() || client.IsObject() {
		resolved := status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs",
			Message: "all references are resolved"}
		if why := v.judgeParameters(id, params); why != "" {
			conditions = append(conditions, refused("InvalidParameters", why))
			resolved = unresolved("ParametersRefInvalid", why)
		}
		if u, ok := v.g.ClientCertificate(id); ok && u.Reason != "" {
			resolved = unresolved(u.Reason, u.Message)
		}
		conditions = append(conditions, resolved)
	}
	if gateway.fault == "" {
		valid := 0
		for _, l := range gateway.listeners {
			if l.valid {
				valid++
			}
		}
		switch {
		case valid == 0 && len(gateway.listeners)+len(gateway.taken) > 0:
			conditions = append(conditions, refused("ListenersNotValid", "no listener is valid"))
		case valid < len(gateway.listeners):
			conditions = append(conditions, status.Condition{Type: "Accepted", Status: "True", Reason: "ListenersNotValid",
				Message: "some listeners are not valid"})
		}
	}
	p.Ancestors[0].Conditions = lastOfType(conditions)
	if p.AttachedListenerSets != nil {
		n := 0
		for _, set := range v.g.ListenerSetsOf(id) {
			if s := v.sets[set]; s != nil && s.valid {
				n++
			}
		}
		p.AttachedListenerSets = &n
	}
}

// judgeParameters says what is wrong with the parametersRef of a Gateway.
func (v *controllerView) judgeParameters(id topology.NodeID, ref model.Body) string {
	to := model.Ref{Group: group, Kind: "NginxProxy", Namespace: v.g.Node(id).Ref.Namespace, Name: ref.Text("name")}
	switch {
	case !ref.IsObject():
		return ""
	case ref.Text("kind") != "NginxProxy":
		return "parameters of kind " + ref.Text("kind") + " are not supported"
	case ref.Text("group") != group || v.in.FindExistence(to).Presence == model.Missing:
		return to.String() + " does not exist"
	}
	return ""
}

func hasUnknown(all []status.Condition) bool {
	return slices.ContainsFunc(all, func(c status.Condition) bool { return c.Status == "Unknown" })
}

// reviseSet predicts the conditions of a ListenerSet (prepare_requests.go,
// PrepareListenerSetRequests).
func (v *controllerView) reviseSet(p *status.Prediction, id topology.NodeID) {
	s := v.sets[id]
	if s == nil || s.unknown || !v.isOwn(s.gateway) || hasUnknown(p.Ancestors[0].Conditions) {
		return
	}
	if s.valid {
		p.Ancestors[0].Conditions = []status.Condition{{Type: "Accepted", Status: "True", Reason: "Accepted",
			Message: "the listener set is accepted"}}
		return
	}
	reason := s.refusal.Reason
	if reason == "ParentNotAccepted" {
		reason = "ParentNotProgrammed"
	}
	p.Ancestors[0].Conditions = []status.Condition{s.refusal, notProgrammed(reason, s.refusal.Message)}
}

// reviseListener predicts the conditions of a listener; false if the controller reports none.
func (v *controllerView) reviseListener(p *status.Prediction, id topology.NodeID) bool {
	owner := v.g.Listener(id).Owner
	var all []*listenerView
	switch gateway, set := v.gateways[owner], v.sets[owner]; {
	case gateway != nil && v.isOwn(owner):
		all = gateway.listeners
	case set != nil && v.isOwn(set.gateway) && !set.unknown:
		all = set.listeners
	default:
		return true
	}
	i := slices.IndexFunc(all, func(l *listenerView) bool { return l.id == id })
	if i < 0 {
		return false
	}
	if hasUnknown(p.Ancestors[0].Conditions) {
		return true
	}
	l := all[i]
	conditions := slices.Clone(l.conditions)
	if l.valid {
		conditions = append(conditions, status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted",
			Message: "the listener is accepted"})
		if !slices.ContainsFunc(conditions, func(c status.Condition) bool { return c.Type == "ResolvedRefs" }) {
			conditions = append(conditions, status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs",
				Message: "all references are resolved"})
		}
	}
	p.Ancestors[0].Conditions = lastOfType(conditions)
	if p.AttachedRoutes != nil {
		n := v.countRoutes(l, *p.AttachedRoutes)
		if v.withheld && n != *p.AttachedRoutes { // whose Gateway it is may not be read
			p.AttachedRoutes = nil
			return true
		}
		p.AttachedRoutes = &n
	}
	return true
}

// countRoutes counts the routes at a listener: of HTTP and gRPC those that the controller attaches.
func (v *controllerView) countRoutes(l *listenerView, known int) int {
	if l.facts.Protocol != "HTTP" && l.facts.Protocol != "HTTPS" {
		return known
	}
	return v.attached[l.id]
}

// reviseRoute predicts the entries of a route for the controller's Gateways (prepare_requests.go,
// prepareRouteStatus). A route that it does not know has none.
func (v *controllerView) reviseRoute(p *status.Prediction, id topology.NodeID) {
	r := v.routes[id]
	n := v.g.Node(id)
	if n.Ref.Group != gatewayGroup || n.Ref.Kind != "HTTPRoute" && n.Ref.Kind != "GRPCRoute" {
		return
	}
	var out []status.Ancestor
	for _, a := range p.Ancestors {
		if a.Ref == nil || !v.isOwnParent(*a.Ref) {
			out = append(out, a)
			continue
		}
		if r == nil || r.repeated {
			continue
		}
		parents := r.parentsOf(*a.Ref, a.Port)
		if len(parents) == 0 {
			continue
		}
		if slices.ContainsFunc(a.Conditions, func(c status.Condition) bool {
			return c.Type == "Accepted" && c.Status == "Unknown"
		}) {
			out = append(out, a)
			continue
		}
		conditions := []status.Condition{
			{Type: "Accepted", Status: "True", Reason: "Accepted", Message: "the route is accepted"},
			{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs", Message: "all references are resolved"}}
		for _, c := range a.Conditions { // the words that there are
			if c.Type == "Accepted" && c.Status == "True" {
				conditions[0].Message = c.Message
			}
		}
		conditions = append(conditions, r.conditions...)
		conditions = append(conditions, reportedParent(parents).failed...)
		a.Conditions = keepUnknown(lastOfType(conditions), a.Conditions)
		out = append(out, a)
	}
	p.Ancestors = out
}

// keepUnknown lets references of which the input does not tell stay unknown, and what is the same
// keep its words.
func keepUnknown(conditions, before []status.Condition) []status.Condition {
	for i, c := range conditions {
		for _, b := range before {
			if b.Type == c.Type && b.Status == c.Status && b.Reason == c.Reason {
				conditions[i].Message = b.Message
			}
			if b.Type == c.Type && b.Type == "ResolvedRefs" && b.Status == "Unknown" && c.Status == "True" {
				conditions[i] = b
			}
		}
	}
	return conditions
}

// isOwnParent reports whether a parent is a Gateway that is known to be the controller's, or a
// ListenerSet at one.
func (v *controllerView) isOwnParent(parent model.Ref) bool {
	for _, id := range v.g.Lookup(parent.WithoutSection()) {
		if s := v.sets[id]; s != nil && !s.unknown {
			return v.isOwn(s.gateway)
		}
		if v.gateways[id] != nil {
			return v.isOwn(id)
		}
	}
	return false
}

// parentsOf lists what a parentRef comes to.
func (r *routeView) parentsOf(parent model.Ref, port int32) []*parentView {
	index := -1
	for _, p := range r.parents {
		whole := p.written == parent && p.port == port
		if whole && (index < 0 || index == p.index) {
			index = p.index
		}
	}
	var out []*parentView
	for _, p := range r.parents {
		if p.index == index {
			out = append(out, p)
		}
	}
	return out
}

// reportedParent is the one of several that is reported: the last that is attached and has nothing
// to say, else the first.
func reportedParent(parents []*parentView) *parentView {
	out := parents[0]
	if len(parents) == 1 {
		return out
	}
	for _, p := range parents {
		if p.attached && len(p.failed) == 0 {
			out = p
		}
	}
	return out
}
