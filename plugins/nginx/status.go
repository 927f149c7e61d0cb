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

// conditions are those that the controller writes about a policy: towards every target that it knows, of a Service towards the Gateways that use it.
// A policy without a known target has no status.
func conditions(in status.Input) []status.Ancestor {
	var out []status.Ancestor
	for _, id := range in.Fate.Targets {
		n := in.Resolution.Node(id)
		switch n.Role {
		case topology.Gateway:
			if in.Kind.Manages(id) {
				out = append(out, towards(in, n.Ref, invalid(n)))
			}
		case topology.Route:
			out = append(out, towardsRoute(in, id)...)
		case topology.Backend:
			out = append(out, towardsGateways(in, n.Ref, out)...)
		}
	}
	slices.SortFunc(out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	return out
}

// towardsRoute is the entry for a route. One that names none of the controller's Gateways is not known to it.
func towardsRoute(in status.Input, route topology.NodeID) []status.Ancestor {
	g := in.Resolution.Graph
	n := g.Node(route)
	if n.Hop > 0 || n.Object == nil {
		return nil
	}
	above, open := gatewaysOf(g, route, in.Kind.Controllers)
	switch {
	case len(above) == 0 && !open:
		return nil
	case len(above) == 0:
		ref := n.Ref
		return []status.Ancestor{{Ref: &ref, Controller: controller, Tentative: true, Conditions: []status.Condition{{Type: "Accepted", Status: "Unknown", Reason: "NotEvaluated",
			Message: "the parents of " + n.Ref.String() + " are not in the input"}}}}
	}
	e := towards(in, n.Ref, invalid(n))
	for _, gateway := range above {
		if fault := in.Fate.Policy.Faults[g.Node(gateway).Ref]; fault != "" && e.Conditions[0].Status == "True" {
			e.Conditions = verdict(in, refused("NginxProxyConfigNotSet", "%s", fault))
		}
	}
	return []status.Ancestor{e}
}

// towardsGateways has an entry for every Gateway that uses a Service, those that others of the policy's Services have given one aside.
func towardsGateways(in status.Input, service model.Ref, have []status.Ancestor) []status.Ancestor {
	g := in.Resolution.Graph
	var out []status.Ancestor
	for _, ref := range g.GatewaysAbove(service) {
		id, known := gatewayOf(g, ref)
		said := slices.ContainsFunc(have, func(a status.Ancestor) bool { return *a.Ref == ref })
		if !known || said || !in.Kind.Manages(id) || slices.Contains(in.Kind.OverLimit(in.Fate.Policy), ref) {
			continue
		}
		out = append(out, towards(in, ref, invalid(g.Node(id))))
	}
	return out
}

// towards is the entry for one ancestor; why is what is wrong with that itself.
func towards(in status.Input, ref model.Ref, why string) status.Ancestor {
	accepted := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted", Message: "the policy is accepted"}
	if why != "" {
		accepted = refused("TargetNotFound", "%s is invalid: %s", ref, why)
	} else if fault := in.Fate.Policy.Faults[ref]; fault != "" {
		accepted = refused("NginxProxyConfigNotSet", "%s", fault)
	}
	return status.Ancestor{Ref: &ref, Controller: controller, Conditions: verdict(in, accepted)}
}

func refused(reason, format string, args ...any) status.Condition {
	return status.Condition{Type: "Accepted", Status: "False", Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// verdict is the conditions of an entry: what is wrong with the policy as a whole is said towards every ancestor.
func verdict(in status.Input, accepted status.Condition) []status.Condition {
	p := in.Fate.Policy
	if by := in.Fate.RejectedBy; len(by) > 0 {
		names := make([]string, len(by))
		for i, ref := range by {
			names[i] = ref.FullName()
		}
		accepted = refused("Conflicted", "conflicts with %s", strings.Join(names, ", "))
	}
	if p.Fault != "" {
		accepted = refused(cmp.Or(p.Reason, "Invalid"), "%s", p.Fault)
	}
	out := []status.Condition{accepted}
	if !programmed(p.Kind) {
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

// programmed reports whether policies of a kind have a second condition.
func programmed(k *policy.Kind) bool {
	return k.GroupKind.Kind != "PayloadProcessor" && k.GroupKind.Kind != "ExternalLoadBalancer"
}

// marks are the conditions by which the controller tells the owners of Gateways and routes that policies target them, whatever becomes of these.
func marks(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	var out []status.Mark
	seen := map[model.Ref]bool{}
	for _, p := range k.Policies {
		for _, id := range k.TargetsOf(p) {
			n := r.Node(id)
			if seen[n.Ref] || n.Object == nil || n.Hop > 0 {
				continue
			}
			m := status.Mark{Object: n.Ref, Condition: affected(k.GroupKind.Kind)}
			switch n.Role {
			case topology.Gateway:
				if !k.Manages(id) {
					continue
				}
			case topology.Route:
				if above, _ := gatewaysOf(r.Graph, id, k.Controllers); len(above) == 0 {
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

// affected is the mark of a kind. Of firewalls it has further reasons, which depend on what they have fetched.
func affected(kind string) status.Condition {
	c := status.Condition{Type: group + "/" + kind + "Affected", Status: "True", Reason: "PolicyAffected", Message: "the object is affected by a " + kind}
	if kind == "WAFPolicy" {
		c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", "which reason the mark has depends on what the firewall has fetched"
	}
	return c
}
