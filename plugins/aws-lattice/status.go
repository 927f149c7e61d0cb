package awslattice

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// policyConditions is the one condition that the controller writes about a policy, which is the
// policy's own. It writes none about a VpcAssociationPolicy that ends an association.
func policyConditions(in status.Input) []status.Ancestor {
	p := in.Outcome.Policy
	kind := p.Kind.GroupKind.Kind
	if kind == vpcAssociation && p.Object.Get("spec", "associateWithVpc") == false {
		return nil
	}
	if len(p.Refs) == 0 {
		return acceptedCondition("False", "Invalid", "the policy has no targetRef")
	}
	ref := p.Refs[0].Ref
	conflict := ""
	if by := in.Outcome.RejectedBy; len(by) > 0 {
		conflict = fmt.Sprintf("targetRef has conflict, policy=%s", by[0].FullName())
	}
	switch log := kind == accessLogPolicy; {
	case !p.Kind.AllowsTarget(ref):
		return acceptedCondition("False", "Invalid", fmt.Sprintf("targetRef's kind %q of group %q is not supported",
			ref.Kind, ref.Group))
	case log && ref.Namespace != p.Ref().Namespace:
		return acceptedCondition("False", "Invalid",
			fmt.Sprintf("the target is sought in namespace %s, which is not the policy's", ref.Namespace))
	case len(in.Outcome.Targets) == 0:
		return acceptedCondition("False", "TargetNotFound", fmt.Sprintf("%s is not found", ref))
	case p.Fault != "" && (log || conflict == ""):
		return acceptedCondition("False", "Invalid", p.Fault)
	case conflict != "":
		return acceptedCondition("False", "Conflicted", conflict)
	}
	return acceptedCondition("True", "Accepted", "the policy is accepted")
}

func acceptedCondition(state, reason, message string) []status.Ancestor {
	return []status.Ancestor{{Controller: "", Conditions: []status.Condition{{Type: "Accepted", Status: state,
		Reason: reason, Message: message}}}}
}
