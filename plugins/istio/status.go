package istio

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// verdict is what a waypoint says about one reference of an AuthorizationPolicy.
type verdict struct {
	reason, message string
	unknown         bool // the input does not tell
}

func (v verdict) bound() bool { return v.reason == "Accepted" }

// waypointAccepted is the condition that Istio writes about AuthorizationPolicies with references (spec §14). Others have none of waypoints.
func waypointAccepted(r *resolve.Resolution, _ *resolve.Kind, fates []*status.Fate) map[*policy.Policy][]status.Ancestor {
	w := readWorld(r.Snapshot, r.Settings)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		refs := selectionOf(f.Policy.Object).refs
		if len(refs) == 0 {
			continue
		}
		var all []verdict
		for _, ref := range refs {
			all = append(all, w.judge(r.Snapshot, f.Policy.Ref().Namespace, ref))
		}
		out[f.Policy] = []status.Ancestor{{Conditions: []status.Condition{waypointCondition(refs, all)}}}
	}
	return out
}

// waypointCondition sums up: of one reference its own reason, of several whether any is bound.
func waypointCondition(refs []reference, all []verdict) status.Condition {
	c := status.Condition{Type: "WaypointAccepted", Status: "False", Reason: all[0].reason, Message: all[0].message}
	var good, bad []string
	for i, v := range all {
		if v.unknown {
			c.Status, c.Reason, c.Message = "Unknown", v.reason, v.message
			return c
		}
		if name := refs[i].kind + "/" + refs[i].name; v.bound() {
			good = append(good, name)
		} else {
			bad = append(bad, name+": "+v.reason)
		}
	}
	if len(good) > 0 {
		c.Status, c.Reason, c.Message = "True", "Accepted", "bound to "+strings.Join(good, ", ")
	}
	if len(good) > 0 && len(bad) > 0 {
		c.Reason, c.Message = "PartiallyInvalid", c.Message+"; not bound: "+strings.Join(bad, ", ")
	}
	return c
}

// judge is what a waypoint says about one reference.
func (w *world) judge(in *model.Snapshot, namespace string, r reference) verdict {
	no := func(reason, format string, args ...any) verdict {
		return verdict{reason: reason, message: fmt.Sprintf(format, args...)}
	}
	ref := model.Ref{Group: r.group, Kind: r.kind, Namespace: namespace, Name: r.name}
	if r.groupKind() == gatewayClassKind {
		ref.Namespace = ""
	}
	if in.Get(ref) == nil && in.Cluster.MissesRef(ref) {
		return verdict{"NotEvaluated", r.kind + " " + r.name + " may not be read", true}
	}
	switch gk := r.groupKind(); gk {
	case gatewayClassKind:
		switch class := in.Get(ref); {
		case namespace != w.root:
			return no("Invalid", "GatewayClass must be in the root namespace")
		case class == nil:
			return no("TargetNotFound", "GatewayClass %s not found", r.name)
		case class.Text("spec", "controllerName") != meshController:
			return no("Invalid", "GatewayClass must be of controller %s", meshController)
		}
	case gatewayKind:
		o := in.Get(ref)
		if o == nil {
			return no("TargetNotFound", "Gateway %s/%s not found", namespace, r.name)
		}
		if form, ok := gatewayForm(in, o); !ok || form != waypoint {
			return no("TargetNotFound", "Gateway %s/%s is no waypoint; Istio writes so of ingress Gateways, where the policy holds all the same", namespace, r.name)
		}
	case serviceKind, serviceEntryKind:
		o := in.Get(ref)
		if o == nil {
			return no("TargetNotFound", "%s %s/%s not found", r.kind, namespace, r.name)
		}
		if at, known := waypointOf(in, o); at.Name == "" && known {
			return no("AncestorNotBound", "%s %s/%s is not bound to a waypoint", r.kind, namespace, r.name)
		} else if !known {
			return verdict{"NotEvaluated", fmt.Sprintf("%s %s/%s names no waypoint, and its Namespace, which may, is not in the input", r.kind, namespace, r.name), true}
		}
	default:
		return no("Invalid", "%s of group %q is no target", r.kind, r.group)
	}
	return verdict{reason: "Accepted", message: "bound to " + r.kind + "/" + r.name}
}
