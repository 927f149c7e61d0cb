package istio

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// referenceVerdict is what a waypoint says about one reference of an AuthorizationPolicy.
type referenceVerdict struct {
	reason, message string
	unknown         bool // the input does not tell
}

func (v referenceVerdict) isBound() bool { return v.reason == "Accepted" }

// waypointAncestors is the condition that Istio writes about AuthorizationPolicies with references.
// Others have none of waypoints.
func waypointAncestors(r *resolve.Resolution, _ *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	w := buildProxyIndex(r.Snapshot, r.Settings)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		refs := readPolicyTargets(f.Policy.Object).refs
		if len(refs) == 0 {
			continue
		}
		var all []referenceVerdict
		for _, ref := range refs {
			all = append(all, w.judgeReference(r.Snapshot, f.Policy.Ref().Namespace, ref))
		}
		out[f.Policy] = []status.Ancestor{{Conditions: []status.Condition{summarizeVerdicts(f.Policy.Ref().Namespace,
			refs, all)}}}
	}
	return out
}

// summarizeVerdicts sums up: of one reference its own reason, of several whether any is bound.
func summarizeVerdicts(namespace string, refs []targetRef, all []referenceVerdict) status.Condition {
	c := status.Condition{Type: "WaypointAccepted", Status: "False", Reason: all[0].reason, Message: all[0].message}
	bound := 0
	var bad []string
	for i, v := range all {
		switch {
		case v.unknown:
			c.Status, c.Reason, c.Message = "Unknown", v.reason, v.message
			return c
		case v.isBound():
			bound++
		default:
			bad = append(bad, fmt.Sprintf("%s.%s:%s/%s", refs[i].kind, cmp.Or(refs[i].group, "core"), namespace,
				refs[i].name))
		}
	}
	if bound > 0 {
		c.Status = "True"
	}
	if len(all) == 1 {
		return c
	}
	switch {
	case bound == 0:
		c.Reason = "Invalid"
	case len(bad) > 0:
		c.Reason = "PartiallyInvalid"
	default:
		c.Reason, c.Message = "Accepted", "" // Istio names only what is not bound
	}
	if len(bad) > 0 {
		c.Message = "Invalid targetRefs: " + strings.Join(bad, ", ")
	}
	return c
}

// judgeReference is what a waypoint says about one reference.
func (w *proxyIndex) judgeReference(in *model.Snapshot, namespace string, r targetRef) referenceVerdict {
	say := func(reason, format string, args ...any) referenceVerdict {
		return referenceVerdict{reason: reason, message: fmt.Sprintf(format, args...)}
	}
	ref := model.Ref{Group: r.group, Kind: r.kind, Namespace: namespace, Name: r.name}
	if r.groupKind() == gatewayClassKind {
		ref.Namespace = ""
	}
	o := in.Get(ref)
	if o == nil && in.Cluster.IsUnreadRef(ref) {
		return referenceVerdict{"NotEvaluated", r.kind + " " + r.name + " is forbidden", true}
	}
	name := namespace + "/" + r.name
	switch r.groupKind() {
	case gatewayClassKind:
		switch {
		case namespace != w.root:
			return say("Invalid",
				"AuthorizationPolicy must be in the root namespace `%s` when referencing a GatewayClass", w.root)
		case o == nil:
			return say("TargetNotFound", "not bound")
		case o.Text("spec", "controllerName") != meshController:
			return say("Invalid", "GatewayClass must use controller name `%s` for waypoints", meshController)
		}
		return say("Accepted", "bound to %s", r.name)
	case gatewayKind: // any with an address is one to Istio
		if o == nil || hasNoAddress(o) {
			return say("TargetNotFound", "not bound")
		}
		return say("Accepted", "bound to %s", name)
	case serviceKind, serviceEntryKind:
		if o == nil {
			return say("TargetNotFound", "%s %s was not found", r.kind, name)
		}
		switch b := findWaypoint(in, o); {
		case b.unknown != "":
			return referenceVerdict{"NotEvaluated", fmt.Sprintf("cannot tell whether a waypoint serves %s %s: %s",
				r.kind, name, b.unknown), true}
		case b.gateway == nil || b.denied:
			return say("AncestorNotBound", "%s %s is not bound to a waypoint", r.kind, name)
		default:
			return say("Accepted", "bound to %s", b.gateway.Ref.FullName())
		}
	}
	return say("unknown", "not bound")
}
