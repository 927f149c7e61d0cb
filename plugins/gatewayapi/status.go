package gatewayapi

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// acceptedCondition is what is written about a policy with nothing wrong.
var acceptedCondition = status.Condition{Type: string(gatewayv1.PolicyConditionAccepted), Status: "True",
	Reason: string(gatewayv1.PolicyReasonAccepted), Message: "the policy has been accepted"}

// directAncestors is what is written about a policy that has its target or has it not (gatewayapi
// G54).
func directAncestors(in status.Input) []status.Ancestor {
	return ancestorsPerGateway(in, acceptedCondition)
}

// ancestorsPerGateway has an entry for every Gateway that a policy targets, or with a route to a
// Service that it targets, whichever of the Service's ports it means (gatewayapi G53). Without any
// there is no one to write a status. The first condition is Accepted, which is false where another
// policy has the place.
func ancestorsPerGateway(in status.Input, conditions ...status.Condition) []status.Ancestor {
	return listAncestors(in, findConflict, conditions)
}

// listAncestors is ancestorsPerGateway with what says which policy has the place at a target.
func listAncestors(in status.Input, conflict func(status.Input, topology.NodeID) *status.Conflict,
	conditions []status.Condition) []status.Ancestor {
	if len(in.Outcome.Targets) == 0 {
		out := status.WriteUsual(in)
		out[0].Conditions = out[0].Conditions[:1] // there is nothing to be in force on
		out[0].Tentative = true
		return out
	}
	var all []status.Ancestor
	winners := map[model.Ref]*status.Conflict{} // by Gateway: who has the policy's places there; nil if it has one
	for _, id := range in.Outcome.Targets {
		winner := conflict(in, id)
		for _, a := range status.GatewaysAbove(in.Resolution, in.Resolution.Node(id).Ref.WithoutSection()) {
			if by, known := winners[*a.Ref]; !known {
				all = append(all, a)
				winners[*a.Ref] = winner
			} else if by != nil {
				winners[*a.Ref] = winner
			}
		}
	}
	slices.SortFunc(all, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	for i := range all {
		all[i].Conditions = slices.Clone(conditions)
		if by := winners[*all[i].Ref]; by != nil && conditions[0].Status == "True" {
			all[i].Conditions[0] = status.Condition{Type: string(gatewayv1.PolicyConditionAccepted), Status: "False",
				Reason: string(gatewayv1.PolicyReasonConflicted), Message: "conflicts with " + by.By.FullName() +
					", which " + explain.DescribeStanding(by.Decision)}
		}
	}
	return all
}

// findConflict is the policy that has the place of this one at a target, nil if it has it itself.
// Places are told apart by object and section: a policy for a port and one for the whole Service do
// not conflict, unless a dialect has them compete as a direct kind's.
func findConflict(in status.Input, id topology.NodeID) *status.Conflict {
	if first, how := in.Kind.PolicyBefore(in.Outcome.Policy, id); first != nil {
		return &status.Conflict{At: id, By: first.Ref(), Decision: how}
	}
	if by := in.Outcome.Conflicts; in.Kind.Direct && len(by) > 0 {
		return &by[0]
	}
	return nil
}
