package status

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// The states in which policies are counted. One in error is refused by the API server or, towards
// some ancestor, not accepted by its controller.
const (
	inError       = "error"
	undecided     = "undecided"
	notInForce    = "not_in_force"
	partlyInForce = "partly_in_force"
	inForce       = "in_force"
	notApplicable = "not_applicable" // it is not in force at targets, but deploys to clusters
)

// CountPolicies counts the policies of the list by namespace, kind and state.
func (l *StatusList) CountPolicies() []metric.Family {
	c := metric.NewCounter("policies", "Policies by what becomes of them; error: refused by the API server or not"+
		" accepted by the controller, undecided: it cannot be known.", metric.Namespace, metric.Kind, "state")
	addStates := func(namespace, kind string) {
		for _, state := range []string{inError, undecided, notInForce, partlyInForce, inForce, notApplicable} {
			c.Add(0, namespace, kind, state)
		}
	}
	addStates("", "") // so that a sum is never of nothing
	for i := range l.Items {
		item := &l.Items[i]
		if !item.isPolicy {
			continue
		}
		namespace, kind := item.Object.Namespace, item.Object.GroupKind().String()
		addStates(namespace, kind)
		c.Add(1, namespace, kind, item.countedState())
	}
	return metric.Join([]metric.Family{c.Family()}, l.CountCompleteness("status"))
}

// countedState returns the state in which a policy is counted.
func (s *ObjectStatus) countedState() string {
	if s.refused {
		return inError
	}
	for _, a := range s.Ancestors {
		for _, c := range a.Conditions {
			if c.Type == string(gatewayv1.PolicyConditionAccepted) && c.Status == "False" {
				return inError
			}
		}
	}
	if s.InForce == nil {
		return notApplicable
	}
	switch status.InForceState(s.InForce.State) {
	case status.Everywhere:
		return inForce
	case status.Partly:
		return partlyInForce
	case status.Nowhere:
		return notInForce
	}
	return undecided
}
