package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// patchConditions are those that the controller writes about EnvoyPatchPolicies: they target a
// Gateway, or its class where the Gateways of the class are merged. Whether a patch can be applied
// (Programmed) is not known.
func patchConditions(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	out := map[*policy.Policy][]status.Ancestor{}
	state := readPatchState(r)
	for _, f := range fates {
		if f.Policy.Refused {
			continue
		}
		book := &statusWriter{controller: controllerName(r)}
		writePatchStatus(r, k, f.Policy.Object, state, book)
		if len(book.ancestors) > 0 {
			out[f.Policy] = book.buildAncestors()
		}
	}
	return out
}

func writePatchStatus(r *resolve.Resolution, k *resolve.Kind, o *model.Object, state patchState,
	book *statusWriter) {
	target := o.Body.At("spec", "targetRef")
	gateway := model.Ref{Group: gatewayGroup, Kind: "Gateway", Namespace: o.Ref.Namespace, Name: target.Text("name")}
	class := model.Ref{Group: gatewayGroup, Kind: "GatewayClass", Name: target.Text("name")}
	merged, apart := listClasses(r, k)
	kind, ancestor, known := gateway.Kind, gateway, false
	switch to := r.Snapshot.Get(gateway); {
	case slices.Contains(merged, class.Name), len(apart) == 0 && len(merged) > 0:
		kind, ancestor, known = class.Kind, class, slices.Contains(merged, class.Name)
	case to == nil:
		return // the controller writes no status for a target that is missing
	case slices.Contains(merged, to.Text("spec", "gatewayClassName")):
		kind, ancestor = class.Kind, class
	case !slices.ContainsFunc(r.Graph.Lookup(gateway), k.ManagesGateway):
		return
	default:
		known = true
	}
	switch {
	case state == patchesUnknown:
		const why = "cannot tell whether EnvoyPatchPolicies are turned on: " +
			"the controller's configuration is not in the input"
		book.setCondition(listOne(ancestor), status.Condition{Type: "Accepted", Status: "Unknown",
			Reason: "NotEvaluated", Message: why})
	case state == patchesOff:
		book.setRefused(listOne(ancestor), "Disabled", "EnvoyPatchPolicy is disabled in the EnvoyGateway configuration")
	case target.Text("group") != gatewayGroup || target.Text("kind") != kind:
		book.setRefused(listOne(ancestor), "Invalid",
			"TargetRef.Group:%s TargetRef.Kind:%s, only TargetRef.Group:%s and TargetRef.Kind:%s is supported.",
			target.Text("group"), target.Text("kind"), gatewayGroup, kind)
	case !known:
		book.setRefused(listOne(ancestor), "Invalid", "%s %s is not one of the controller's", kind, ancestor.Name)
	default:
		book.setAccepted(listOne(ancestor))
	}
}

// listClasses are the names of the managed GatewayClasses whose Gateways are merged, and of the
// others.
func listClasses(r *resolve.Resolution, k *resolve.Kind) (merged, apart []string) {
	for _, o := range r.Snapshot.OfKind(model.GroupKind{Group: gatewayGroup, Kind: "GatewayClass"}) {
		switch {
		case o.Text("spec", "controllerName") != controllerName(r):
		case isMerged(r.Snapshot, o.Ref.Name):
			merged = append(merged, o.Ref.Name)
		default:
			apart = append(apart, o.Ref.Name)
		}
	}
	return merged, apart
}
