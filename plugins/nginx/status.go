package nginx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// policyStatuses are the conditions that the controller writes about the policies of a kind: towards
// every target that it knows, of a Service towards the Gateways that use it. A policy without a known
// target has no status (internal/controller/state/graph/policies.go, processPolicies and
// attachPolicies @ e55bfe339).
func policyStatuses(r *resolve.Resolution, k *resolve.Kind,
	outcomes []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	v := viewOf(r.Graph, r.Snapshot)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, o := range outcomes {
		w := ancestorWriter{v: v, kind: k, outcome: o}
		for _, target := range listTargets(o.Policy) {
			w.writeTarget(target)
		}
		slices.SortFunc(w.out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
		out[o.Policy] = w.out
	}
	return out
}

// listTargets lists what a policy refers to, as far as the controller reads it.
func listTargets(p *policy.Policy) []model.Ref {
	spec := p.Object.Body.Field("spec")
	refs := slices.Collect(func(yield func(model.Body) bool) {
		for _, ref := range spec.Field("targetRefs").Items {
			if !yield(ref) {
				return
			}
		}
	})
	if one := spec.Field("targetRef"); one.IsObject() {
		refs = append(refs, one)
	}
	var out []model.Ref
	for _, ref := range refs {
		to := model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: p.Ref().Namespace,
			Name: ref.Text("name")}
		if to.Group == "core" {
			to.Group = ""
		}
		out = append(out, to)
	}
	return out
}

// ancestorWriter writes the status of a policy.
type ancestorWriter struct {
	v       *controllerView
	kind    *resolve.Kind
	outcome *status.PolicyOutcome
	out     []status.Ancestor
}

// writeTarget writes the entries for one target.
func (w *ancestorWriter) writeTarget(ref model.Ref) {
	switch {
	case ref.Group == gatewayGroup && ref.Kind == "Gateway":
		if gateway := w.v.findOwnGateway(ref); gateway != nil {
			w.add(ref, w.v.judgeGateway(w.outcome.Policy, gateway)...)
		}
	case ref.Group == gatewayGroup && (ref.Kind == "HTTPRoute" || ref.Kind == "GRPCRoute"):
		w.writeRoute(ref)
	case ref.Group == "" && ref.Kind == "Service":
		for _, id := range w.v.gatewaysUsing(ref) {
			gateway := w.v.gateways[id]
			if gateway.fault != "" {
				w.add(w.v.g.Node(id).Ref, refused("TargetNotFound", gateway.fault))
			} else {
				w.add(w.v.g.Node(id).Ref)
			}
		}
	}
}

// writeRoute writes the entry for a route. One that names none of the controller's Gateways is not
// known to it.
func (w *ancestorWriter) writeRoute(ref model.Ref) {
	for _, id := range w.v.g.Lookup(ref) {
		if r := w.v.routes[id]; r != nil {
			w.add(ref, w.v.judgeRoute(w.outcome.Policy, r)...)
			return
		}
		if n := w.v.g.Node(id); n.Role != topology.Route || n.Object == nil || n.Hop > 0 {
			continue
		}
		if above, open := findGateways(w.v.g, id, []string{controller}); len(above) == 0 && open {
			w.out = append(w.out, status.Ancestor{Ref: &ref, Controller: controller, Tentative: true,
				Conditions: []status.Condition{{Type: "Accepted", Status: "Unknown", Reason: "NotEvaluated",
					Message: "the parents of " + ref.String() + " are not in the input"}}})
		}
	}
}

// add adds an entry with what is wrong at the ancestor.
func (w *ancestorWriter) add(ref model.Ref, faults ...status.Condition) {
	if slices.ContainsFunc(w.out, func(a status.Ancestor) bool { return *a.Ref == ref }) ||
		slices.Contains(w.kind.RefusedAncestors(w.outcome.Policy), ref) {
		return
	}
	w.out = append(w.out, status.Ancestor{Ref: &ref, Controller: controller, Conditions: w.conditions(faults)})
}

// conditions is those of an entry: what is wrong with the policy as a whole is said towards every
// ancestor, and stands.
func (w *ancestorWriter) conditions(faults []status.Condition) []status.Condition {
	p := w.outcome.Policy
	accepted := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted", Message: "the policy is accepted"}
	conflicted := false
	if len(faults) > 0 {
		accepted = faults[len(faults)-1]
	}
	if by := w.outcome.RejectedBy; len(by) > 0 {
		names := make([]string, len(by))
		for i, ref := range by {
			names[i] = ref.FullName()
		}
		accepted, conflicted = refused("Conflicted", "conflicts with "+strings.Join(names, ", ")), true
	}
	if p.Fault != "" {
		accepted, conflicted = refused(cmp.Or(p.Reason, "Invalid"), p.Fault), false
	}
	out := []status.Condition{accepted}
	programmed := status.Condition{Type: "Programmed", Status: "True", Reason: "Programmed",
		Message: "the policy is programmed"}
	switch {
	case p.Kind.GroupKind.Kind == "ExternalLoadBalancer":
		return out
	case p.Kind.GroupKind.Kind == "WAFPolicy": // what the firewall has fetched decides, not whether it is accepted
		return append(out, status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs",
			Message: "all references are resolved"}, programmed)
	case accepted.Status == "True":
	case conflicted:
		programmed = notProgrammed("Overridden", accepted.Message)
	default:
		programmed = notProgrammed("Reconciling", "the policy is not accepted: "+accepted.Message)
	}
	return append(out, programmed)
}

// findOwnGateway finds a Gateway of the controller.
func (v *controllerView) findOwnGateway(ref model.Ref) *gatewayView {
	for _, id := range v.g.Lookup(ref) {
		if gateway := v.gateways[id]; gateway != nil {
			return gateway
		}
	}
	return nil
}

// judgeGateway says what keeps a policy from a Gateway that it targets.
func (v *controllerView) judgeGateway(p *policy.Policy, gateway *gatewayView) []status.Condition {
	ref := v.g.Node(gateway.id).Ref
	switch need := needOf(p); {
	case gateway.fault != "":
		return []status.Condition{refused("TargetNotFound", fmt.Sprintf("%s is invalid: %s", ref, gateway.fault))}
	case v.lacksResolver(p, gateway):
		return []status.Condition{refused("Invalid", "the processor takes a DNS resolver in the NginxProxy")}
	case need != nil && gateway.proxy.uncertain == "" && !need.has(&gateway.proxy):
		return []status.Condition{refused("NginxProxyConfigNotSet",
			fmt.Sprintf("%s is not configured in a NginxProxy of %s", need.what, ref))}
	}
	return nil
}

// judgeRoute says what keeps a policy from a route that it targets. What a Gateway does not have
// only counts where it has a configuration at all.
func (v *controllerView) judgeRoute(p *policy.Policy, r *routeView) []status.Condition {
	if r.fault != "" {
		return []status.Condition{refused("TargetNotFound", fmt.Sprintf("%s is invalid: %s", v.g.Node(r.id).Ref, r.fault))}
	}
	var out []status.Condition
	need := needOf(p)
	for _, id := range r.gatewaysOf() {
		gateway := v.gateways[id]
		switch {
		case v.lacksResolver(p, gateway):
			out = append(out, refused("Invalid", "the processor takes a DNS resolver in the NginxProxy"))
		case need != nil && len(gateway.proxy.found) > 0 && gateway.proxy.uncertain == "" && !need.has(&gateway.proxy):
			out = append(out, refused("NginxProxyConfigNotSet",
				fmt.Sprintf("%s is not configured in a NginxProxy of %s", need.what, v.g.Node(id).Ref)))
		}
	}
	return out
}

// lacksResolver reports whether a Gateway has no DNS resolver that a processor takes.
func (v *controllerView) lacksResolver(p *policy.Policy, gateway *gatewayView) bool {
	return v.needsResolver(p) && !gateway.proxy.has("dnsResolver") && gateway.proxy.uncertain == ""
}

// needsResolver reports whether a processor sends to a Service that stands for a name elsewhere.
func (v *controllerView) needsResolver(p *policy.Policy) bool {
	if p.Kind.GroupKind.Kind != "PayloadProcessor" {
		return false
	}
	found := false
	eachBackend(p.Object.Body.Field("spec"), func(ref model.Body) {
		o := v.in.Get(backendOf(p.Object, ref))
		found = found || o != nil && o.Text("spec", "type") == "ExternalName"
	})
	return found
}

// gatewaysUsing lists the Gateways that a route names which sends to a Service, whether or not they
// take it (internal/controller/state/graph/service.go @ e55bfe339).
func (v *controllerView) gatewaysUsing(service model.Ref) []topology.NodeID {
	return v.findUsers()[service]
}

// listUsers lists the Gateways of all routes by the Services that these send to.
func (v *controllerView) listUsers() map[model.Ref][]topology.NodeID {
	out := map[model.Ref][]topology.NodeID{}
	for _, id := range v.g.Order(topology.Traffic) {
		if n := v.g.Node(id); n.Role == topology.Route && n.Object != nil && n.Hop == 0 {
			v.addUsers(out, id, n)
		}
	}
	return out
}

// mayUse reports whether a route sends to a Service that the controller knows, or may know: its
// Gateways are not in the input.
func (v *controllerView) mayUse(service model.Ref) bool {
	if len(v.gatewaysUsing(service)) > 0 {
		return true
	}
	for _, id := range v.g.Order(topology.Traffic) {
		n := v.g.Node(id)
		if n.Role != topology.Route || n.Object == nil || v.routes[id] != nil {
			continue
		}
		if above, open := findGateways(v.g, id, []string{controller}); len(above) == 0 && open && v.sendsTo(n, service) {
			return true
		}
	}
	return false
}

// sendsTo reports whether a rule of a route names a Service.
func (v *controllerView) sendsTo(n *topology.Node, service model.Ref) bool {
	for _, rule := range n.Object.Body.At("spec", "rules").Items {
		for _, ref := range rule.Field("backendRefs").Items {
			if backendOf(n.Object, ref) == service {
				return true
			}
		}
	}
	return false
}

// addUsers notes the Gateways of a route for the Services that it sends to.
func (v *controllerView) addUsers(to map[model.Ref][]topology.NodeID, id topology.NodeID, n *topology.Node) {
	add := func(service model.Ref, ids []topology.NodeID) {
		for _, gateway := range ids {
			if !slices.Contains(to[service], gateway) && v.gateways[gateway] != nil {
				to[service] = append(to[service], gateway)
			}
		}
	}
	if r := v.routes[id]; r != nil {
		v.eachBackend(r, n, func(ref model.Body, service model.Ref) {
			if v.namesService(n.Ref, ref, service) {
				add(service, r.gatewaysOf())
			}
		})
		return
	}
	if !slices.Contains([]string{"TLSRoute", "TCPRoute", "UDPRoute"}, n.Ref.Kind) {
		return
	}
	above, _ := findGateways(v.g, id, []string{controller})
	for _, rule := range n.Object.Body.At("spec", "rules").Items {
		for _, ref := range rule.Field("backendRefs").Items {
			add(backendOf(n.Object, ref), above)
		}
	}
}

// namesService reports whether a reference counts as one to a Service, which need not be there.
func (v *controllerView) namesService(route model.Ref, ref model.Body, to model.Ref) bool {
	reason, _ := v.judgeBackend(route, ref, to)
	return reason != "InvalidKind" && reason != "RefNotPermitted" && ref.Field("filters").Len() == 0 &&
		!ref.Field("port").IsNull()
}

// backendOf is what a reference of an object to a backend refers to.
func backendOf(o *model.Object, ref model.Body) model.Ref {
	to := model.Ref{Group: ref.Text("group"), Kind: cmp.Or(ref.Text("kind"), "Service"),
		Namespace: cmp.Or(ref.Text("namespace"), o.Ref.Namespace), Name: ref.Text("name")}
	if to.Group == "core" {
		to.Group = ""
	}
	return to
}

// affectedConditions are the conditions by which the controller tells the owners of Gateways and
// routes that policies target them, whatever becomes of these.
func affectedConditions(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	if !hasMark(k.GroupKind.Kind) {
		return nil
	}
	v := viewOf(r.Graph, r.Snapshot)
	var out []status.Mark
	seen := map[model.Ref]bool{}
	for _, p := range k.Policies {
		for _, ref := range listTargets(p) {
			if p.Refused || seen[ref] || ref.Group != gatewayGroup {
				continue
			}
			m := status.Mark{Object: ref, Condition: affectedCondition(k.GroupKind.Kind)}
			if ref.Kind != "Gateway" {
				m.Controller, m.Own = controller, true
				if !slices.ContainsFunc(v.g.Lookup(ref), func(id topology.NodeID) bool { return v.routes[id] != nil }) {
					continue
				}
			} else if v.findOwnGateway(ref) == nil {
				continue
			}
			seen[ref] = true
			out = append(out, m)
		}
	}
	return out
}

// markTypes are the types of marks that are not called after their kind
// (internal/controller/state/conditions/conditions.go:182-254 @ e55bfe339).
var markTypes = map[string]string{
	"WAFPolicy":        group + "/WAFPolicyAffected",
	"PayloadProcessor": "PayloadProcessorPolicyAffected",
}

// affectedCondition is the condition of a kind.
func affectedCondition(kind string) status.Condition {
	return status.Condition{Type: cmp.Or(markTypes[kind], kind+"Affected"), Status: "True", Reason: "PolicyAffected",
		Message: "the object is affected by a " + kind}
}

// hasMark reports whether the controller marks what policies of a kind target.
func hasMark(kind string) bool {
	return kind != "UpstreamSettingsPolicy" && kind != "ExternalLoadBalancer"
}
