package status

import "github.com/dopolicy/kubectl-dopolicy/pkg/topology"

// resolvedRefsCondition is the condition ResolvedRefs, given what could not be resolved:
// Unknown where the input does not tell, because a reference to what is only not at hand must
// not be called broken (G58).
func resolvedRefsCondition(u topology.Unresolved) Condition {
	switch {
	case u.Reason != "":
		return Condition{"ResolvedRefs", "False", u.Reason, u.Message}
	case u.Message != "":
		return Condition{"ResolvedRefs", "Unknown", "NotEvaluated", u.Message}
	}
	return Condition{"ResolvedRefs", "True", "ResolvedRefs", "all references are resolved"}
}
