package status

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// resolvedRefsCondition is the condition ResolvedRefs, given what could not be resolved:
// Unknown where the input does not tell, because a reference to what is only not at hand must
// not be called broken (G58).
func resolvedRefsCondition(u reference.Unresolved) Condition {
	switch {
	case u.Reason != "":
		return Condition{typeResolvedRefs, "False", u.Reason, u.Message}
	case u.Message != "":
		return Condition{typeResolvedRefs, "Unknown", "NotEvaluated", u.Message}
	}
	return Condition{typeResolvedRefs, "True", string(gatewayv1.RouteReasonResolvedRefs), "all references are resolved"}
}
