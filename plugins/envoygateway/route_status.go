package envoygateway

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// routeWriter writes what the controller reports about routes beyond what the Gateway API says.
type routeWriter struct {
	res      *resolve.Resolution
	tls      tlsTable
	overlaps routeOverlaps
}

// reviseRoutes writes the conditions of routes at the controller's Gateways. A route that the controller
// does not look up listeners for is not counted at them.
func reviseRoutes(r *resolve.Resolution, all []status.Prediction) []status.Prediction {
	w := &routeWriter{res: r, tls: newTLSTable(listBackendTLS(r.Snapshot))}
	w.overlaps = findOverlaps(r)
	counts := map[model.Ref]*int{} // of routes, by listener
	for i := range all {
		if all[i].AttachedRoutes != nil {
			counts[all[i].Object] = all[i].AttachedRoutes
		}
	}
	for i := range all {
		for _, id := range r.Graph.Lookup(all[i].Object) {
			if n := r.Graph.Node(id); n.Role == topology.Route && n.Hop == 0 && !w.writeRoute(id, &all[i]) {
				w.takeFromCounts(id, counts)
			}
		}
	}
	return all
}

// takeFromCounts takes a route out of the counts of its listeners.
func (w *routeWriter) takeFromCounts(route topology.NodeID, counts map[model.Ref]*int) {
	done := map[topology.NodeID]bool{}
	for _, a := range w.res.Graph.Attachments(route) {
		if a.State != topology.Accepted || done[a.Listener] || a.Listener == topology.None {
			continue
		}
		done[a.Listener] = true
		if count := counts[w.res.Graph.Node(a.Listener).Ref]; count != nil {
			*count--
		}
	}
}

// writeRoute writes the conditions of one route, and reports whether it is counted at its listeners. Where
// it may not be read whose a Gateway is, what the controller would say otherwise is left open.
func (w *routeWriter) writeRoute(route topology.NodeID, p *status.Prediction) (counted bool) {
	counted = true
	var flaws *routeFlaws
	for i := range p.Ancestors {
		a := &p.Ancestors[i]
		own := w.isOwnEntry(a)
		if !own && !w.isForbiddenEntry(a) {
			continue
		}
		if flaws == nil {
			flaws = w.judgeRoute(route)
		}
		written := *a
		written.Conditions = slices.Clone(a.Conditions)
		isCounted := w.writeEntry(route, &written, flaws)
		if own {
			*a, counted = written, counted && isCounted
			continue
		}
		status.LeaveChangesOpen(a.Conditions, written.Conditions, "it depends on whose "+a.Ref.String()+
			" is, which is forbidden")
	}
	return counted
}

// writeEntry writes the conditions of a route at one of the controller's Gateways, and reports whether the
// route is counted there.
func (w *routeWriter) writeEntry(route topology.NodeID, a *status.Ancestor, flaws *routeFlaws) (counted bool) {
	if flaws.invalidRules {
		a.Conditions = []status.Condition{{Type: "Accepted", Status: "False", Reason: "InvalidRule",
			Message: "One and only one rule is supported"}}
		return true
	}
	// the controller looks for no listeners of a GRPCRoute without rules
	counted = w.res.Graph.Node(route).Ref.Kind != "GRPCRoute" || flaws.rules == 0 || flaws.refused < flaws.rules
	for j := range a.Conditions {
		switch a.Conditions[j].Type {
		case "ResolvedRefs":
			a.Conditions[j] = flaws.addTo(a.Conditions[j])
		case "Accepted":
			a.Conditions[j] = flaws.acceptance(a.Conditions[j])
		}
	}
	if flaws.refused > 0 && flaws.refused < flaws.rules {
		a.Conditions = append(a.Conditions, status.Condition{Type: "PartiallyInvalid", Status: "True",
			Reason: joinReasons(flaws.refusals), Message: "Dropped rules: " + flaws.why})
	}
	if c, ok := w.overlaps.conditionFor(w.res, route, a); ok && counted {
		a.Conditions = append(a.Conditions, c)
	}
	return counted
}

// isForbiddenEntry reports whether an entry is about a Gateway that may be the controller's: it, or its
// class, may not be read.
func (w *routeWriter) isForbiddenEntry(a *status.Ancestor) bool {
	if a.Ref == nil || w.res.Snapshot.Cluster == nil {
		return false
	}
	if gateway := a.Ref.WithoutSection(); w.res.Snapshot.Get(gateway) == nil {
		return w.res.Snapshot.Cluster.IsUnreadRef(gateway)
	}
	return w.res.Snapshot.Cluster.HasUnread(gatewayapi.GatewayClassKind)
}

// isOwnEntry reports whether an entry is about one of the controller's Gateways.
func (w *routeWriter) isOwnEntry(a *status.Ancestor) bool {
	if a.Ref == nil {
		return false
	}
	for _, id := range w.res.Graph.Lookup(a.Ref.WithoutSection()) {
		n := w.res.Graph.Node(id)
		if n.Role == topology.ListenerSet && w.res.Graph.ListenerSet(id).Gateway == topology.None {
			continue
		}
		if (n.Role == topology.Gateway || n.Role == topology.ListenerSet) &&
			w.res.Graph.ImplementationName(id) == "envoygateway" {
			return true
		}
	}
	return false
}

// routeFlaws is what is wrong with what a route refers to: all reasons, which the controller joins.
type routeFlaws struct {
	reasons      map[string]bool
	messages     []string
	open         string // what is not known; "": nothing
	refusals     map[string]bool
	refused      int // rules that are refused
	rules        int
	why          string
	invalidRules bool // it has not the one rule that it has to have
}

func (f *routeFlaws) add(reason, message string) {
	f.reasons[reason] = true
	if !slices.Contains(f.messages, message) {
		f.messages = append(f.messages, message)
	}
}

func joinReasons(reasons map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(reasons)), ",")
}

// acceptance is the condition Accepted of a route with rules that are refused: all of them have it
// refused, unless no hostname fits, and some have it accepted, whatever else was said.
func (f *routeFlaws) acceptance(c status.Condition) status.Condition {
	switch {
	case f.refused == 0 || c.Status == "Unknown" || c.Reason == "NoMatchingListenerHostname":
		return c
	case f.refused == f.rules:
		return status.Condition{Type: c.Type, Status: "False", Reason: joinReasons(f.refusals), Message: f.why}
	}
	return status.Condition{Type: c.Type, Status: "True", Reason: "Accepted", Message: "Route is accepted"}
}

// addTo is the condition ResolvedRefs with the flaws in the place of what the Gateway API says.
func (f *routeFlaws) addTo(c status.Condition) status.Condition {
	switch {
	case len(f.reasons) > 0:
		c.Status, c.Reason, c.Message = "False", joinReasons(f.reasons), strings.Join(f.messages, "; ")
	case c.Status == "False":
		c.Status, c.Reason, c.Message = "True", "ResolvedRefs", "Resolved all the Object references for the Route"
	}
	if f.open != "" {
		c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", f.open
	}
	return c
}

// findForbidden says which objects beside a route may not be read that its conditions depend on; "" if all
// may be.
func (w *routeWriter) findForbidden(namespace string) string {
	for _, kind := range []string{"BackendTLSPolicy.gateway.networking.k8s.io", "Service", "ConfigMap",
		"HTTPRouteFilter.gateway.envoyproxy.io", "Backend.gateway.envoyproxy.io"} {
		if gk := model.ParseGroupKind(kind); w.res.Snapshot.Cluster.IsUnread(gk, namespace) {
			return gk.Kind + "s in namespace " + namespace + " are forbidden"
		}
	}
	return ""
}

// judgeRoute finds out what is wrong with what the rules of a route refer to.
func (w *routeWriter) judgeRoute(route topology.NodeID) *routeFlaws {
	n := w.res.Graph.Node(route)
	f := &routeFlaws{reasons: map[string]bool{}, refusals: map[string]bool{}, open: w.findForbidden(n.Ref.Namespace)}
	rules := n.Object.Body.At("spec", "rules")
	f.invalidRules = (n.Ref.Kind == "TCPRoute" || n.Ref.Kind == "UDPRoute") && rules.Len() != 1
	for _, rule := range rules.Items {
		f.rules++
		if n.Ref.Kind != "HTTPRoute" && n.Ref.Kind != "GRPCRoute" {
			continue
		}
		flaw := judgeRule(w.res.Snapshot, n.Ref, rule, func(ref model.Body) bool {
			b, ok := w.res.Graph.JudgeBackendRef(route, ref)
			to := &routeFlaws{reasons: map[string]bool{}}
			if ok {
				w.judgeBackend(to, n.Ref, b)
			}
			return ok && len(to.reasons) == 0
		})
		if flaw.unresolved != "" {
			f.add(flaw.unresolved, flaw.what)
		}
		if flaw.refused != "" {
			f.refused++
			f.refusals[flaw.refused], f.why = true, flaw.why
		}
	}
	for _, to := range listRouteBackends(w.res, route) {
		if to.fault != "" {
			f.add("UnsupportedRefValue", to.fault)
		} else {
			w.judgeBackend(f, n.Ref, to.ref)
		}
	}
	return f
}

// routeBackend is what a route sends to, or copies requests to; fault is what the controller holds
// against it before it looks for the backend.
type routeBackend struct {
	ref   topology.BackendRef
	fault string
}

// listRouteBackends lists what the controller looks for of what the rules of a route name: of one
// that it drops for its matches, mirrors alone.
func listRouteBackends(r *resolve.Resolution, route topology.NodeID) []routeBackend {
	n := r.Graph.Node(route)
	refs := map[int][]topology.BackendRef{} // by rule
	for _, section := range r.Graph.Sections(n.Ref) {
		for _, rule := range r.Graph.Lookup(n.Ref.WithSection(section)) {
			refs[r.Graph.Node(rule).Index] = r.Graph.BackendRefs(rule)
		}
	}
	var out []routeBackend
	for i, rule := range n.Object.Body.At("spec", "rules").Items {
		if n.Ref.Kind == "HTTPRoute" || n.Ref.Kind == "GRPCRoute" {
			for _, ref := range listMirrors(r.Snapshot, n.Ref, rule) {
				if b, ok := r.Graph.JudgeBackendRef(route, ref); ok {
					out = append(out, routeBackend{ref: b})
				}
			}
			if _, ok := readMatches(rule, n.Ref.Kind == "GRPCRoute"); !ok {
				continue
			}
		}
		written := rule.Field("backendRefs")
		for j, b := range refs[i] {
			to := routeBackend{ref: b}
			if len(refs[i]) == written.Len() { // else one of them cannot be read
				to.fault = explainBackendFilters(n.Ref.Kind, written.At(strconv.Itoa(j)))
			}
			out = append(out, to)
		}
	}
	return out
}

// judgeBackend judges one backendRef of a route.
func (w *routeWriter) judgeBackend(f *routeFlaws, route model.Ref, b topology.BackendRef) {
	reason, message := explainBackend(w.res.Snapshot, route, b)
	if reason == "" && b.Weight > 0 {
		var fault authorityFault
		if fault = w.tls.judgeBackend(w.res.Snapshot, b); fault.unknown {
			f.open = fault.message
			return
		}
		if fault.reason != "" {
			reason, message = invalidTLS, formatSentence(fault.message)
		}
	}
	if reason != "" {
		f.add(reason, message)
	}
}

// invalidTLS is the reason of routes to backends without certificates of authorities.
const invalidTLS = "InvalidBackendTLS"

// newBackendJudge prepares what finds backends that the controller cannot send to: rules that have
// no other answer 500.
func newBackendJudge(in *model.Snapshot) topology.BackendJudge {
	tls := newTLSTable(listBackendTLS(in))
	return func(route model.Ref, b topology.BackendRef) (string, string) {
		if reason, message := explainBackend(in, route, b); reason != "" || b.Weight == 0 {
			return reason, message
		}
		if fault := tls.judgeBackend(in, b); fault.reason != "" {
			return invalidTLS, formatSentence(fault.message)
		}
		return "", ""
	}
}

// explainBackend says why the controller cannot send to what a backendRef names, with its reason; ""
// if it can.
func explainBackend(in *model.Snapshot, route model.Ref, b topology.BackendRef) (reason, message string) {
	whole := b.Ref.WithoutSection()
	o := in.Get(whole)
	switch {
	case b.Reason == "" && o != nil && whole.GroupKind() == backendKind:
		return explainBackendObject(in, o)
	case b.Reason == "BackendNotFound" && o != nil && o.Text("spec", "type") == "ExternalName", b.Reason == "" &&
		o != nil && whole.Kind == "Service" && o.Text("spec", "type") == "ExternalName":
		return "UnsupportedValue", whole.String() + " is of type ExternalName, which is not supported"
	case b.Reason == "BackendNotFound" && o != nil:
		return "PortNotFound", b.Message
	case b.Reason != "" || o == nil || b.Port == 0 || !gatewayapi.ListsPorts(whole.GroupKind()):
		return b.Reason, b.Message
	}
	port := manifest.FindServicePort(o, "", b.Port, route.Kind == "UDPRoute")
	if port != nil && port.UDP != (route.Kind == "UDPRoute") {
		return "PortNotFound", whole.String() + " has no port " + manifest.FormatInt(int(b.Port)) + " of the protocol"
	}
	return "", ""
}
