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

// policyConditions are those that the controller writes about a policy: towards every target that
// it knows, of a Service towards the Gateways that use it. A policy without a known target has no
// status.
func policyConditions(in status.Input) []status.Ancestor {
	var out []status.Ancestor
	for _, id := range in.Outcome.Targets {
		n := in.Resolution.Node(id)
		if isHandedOn(in.Kind.Kind, n) {
			continue
		}
		switch n.Role {
		case topology.Gateway:
			if in.Kind.ManagesGateway(id) {
				out = append(out, newAncestor(in, n.Ref, explainInvalid(n)))
			}
		case topology.Route:
			out = append(out, routeAncestors(in, id)...)
		case topology.Backend:
			out = append(out, gatewayAncestors(in, n.Ref, out)...)
		}
	}
	slices.SortFunc(out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	return out
}

// routeAncestors is the entry for a route. One that names none of the controller's Gateways is not
// known to it.
func routeAncestors(in status.Input, route topology.NodeID) []status.Ancestor {
	g := in.Resolution.Graph
	n := g.Node(route)
	if n.Hop > 0 || n.Object == nil {
		return nil
	}
	above, open := findGateways(g, route, in.Kind.Controllers)
	switch {
	case len(above) == 0 && !open:
		return nil
	case len(above) == 0:
		ref := n.Ref
		return []status.Ancestor{{Ref: &ref, Controller: controller, Tentative: true,
			Conditions: []status.Condition{{Type: "Accepted", Status: "Unknown", Reason: "NotEvaluated",
				Message: "the parents of " + n.Ref.String() + " are not in the input"}}}}
	}
	e := newAncestor(in, n.Ref, explainInvalid(n))
	for _, gateway := range above {
		if fault := in.Outcome.Policy.Faults[g.Node(gateway).Ref]; fault != "" && e.Conditions[0].Status == "True" {
			e.Conditions = entryConditions(in, refusedCondition("NginxProxyConfigNotSet", "%s", fault))
		}
	}
	return []status.Ancestor{e}
}

// gatewayAncestors has an entry for every Gateway that uses a Service, those that others of the
// policy's Services have given one aside.
func gatewayAncestors(in status.Input, service model.Ref, have []status.Ancestor) []status.Ancestor {
	g := in.Resolution.Graph
	var out []status.Ancestor
	for _, ref := range g.GatewaysAbove(service) {
		id, known := findGateway(g, ref)
		said := slices.ContainsFunc(have, func(a status.Ancestor) bool { return *a.Ref == ref })
		if !known || said || !in.Kind.ManagesGateway(id) ||
			slices.Contains(in.Kind.RefusedAncestors(in.Outcome.Policy), ref) {
			continue
		}
		out = append(out, newAncestor(in, ref, explainInvalid(g.Node(id))))
	}
	return out
}

// newAncestor is the entry for one ancestor; why is what is wrong with that itself.
func newAncestor(in status.Input, ref model.Ref, why string) status.Ancestor {
	accepted := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted",
		Message: "the policy is accepted"}
	if why != "" {
		accepted = refusedCondition("TargetNotFound", "%s is invalid: %s", ref, why)
	} else if fault := in.Outcome.Policy.Faults[ref]; fault != "" {
		accepted = refusedCondition("NginxProxyConfigNotSet", "%s", fault)
	}
	return status.Ancestor{Ref: &ref, Controller: controller, Conditions: entryConditions(in, accepted)}
}

func refusedCondition(reason, format string, args ...any) status.Condition {
	return status.Condition{Type: "Accepted", Status: "False", Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// entryConditions is the conditions of an entry: what is wrong with the policy as a whole is said
// towards every ancestor.
func entryConditions(in status.Input, accepted status.Condition) []status.Condition {
	p := in.Outcome.Policy
	if by := in.Outcome.RejectedBy; len(by) > 0 {
		names := make([]string, len(by))
		for i, ref := range by {
			names[i] = ref.FullName()
		}
		accepted = refusedCondition("Conflicted", "conflicts with %s", strings.Join(names, ", "))
	}
	if p.Fault != "" {
		accepted = refusedCondition(cmp.Or(p.Reason, "Invalid"), "%s", p.Fault)
	}
	out := []status.Condition{accepted}
	if !hasProgrammed(p.Kind) {
		return out
	}
	c := status.Condition{Type: "Programmed", Status: "True", Reason: "Programmed", Message: "the policy is programmed"}
	switch {
	case accepted.Status == "True":
	case accepted.Reason == "Conflicted":
		c.Status, c.Reason, c.Message = "False", "Overridden", accepted.Message
	default:
		c.Status, c.Reason, c.Message = "False", "Reconciling", "the policy is not accepted: "+accepted.Message
	}
	return append(out, c)
}

// hasProgrammed reports whether policies of a kind have a second condition.
func hasProgrammed(k *policy.Kind) bool {
	return k.GroupKind.Kind != "ExternalLoadBalancer"
}

// affectedConditions are the conditions by which the controller tells the owners of Gateways and
// routes that policies target them, whatever becomes of these.
func affectedConditions(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	var out []status.Mark
	seen := map[model.Ref]bool{}
	if !hasMark(k.GroupKind.Kind) {
		return nil
	}
	for _, p := range k.Policies {
		for _, id := range k.TargetsOf(p) {
			n := r.Node(id)
			if seen[n.Ref] || n.Object == nil || n.Hop > 0 || isHandedOn(k.Kind, n) {
				continue
			}
			m := status.Mark{Object: n.Ref, Condition: affectedCondition(k.GroupKind.Kind)}
			switch n.Role {
			case topology.Gateway:
				if !k.ManagesGateway(id) {
					continue
				}
			case topology.Route:
				if above, _ := findGateways(r.Graph, id, k.Controllers); len(above) == 0 {
					continue
				}
				m.Controller, m.Own = controller, true
			default:
				continue
			}
			seen[n.Ref] = true
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

// isHandedOn reports whether a kind's policies come to a node without naming it.
func isHandedOn(k *policy.Kind, n *topology.Node) bool {
	return k.GroupKind.Kind == "SnippetsPolicy" && n.Role == topology.Route
}
