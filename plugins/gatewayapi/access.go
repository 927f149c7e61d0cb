package gatewayapi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// maxAccessPolicies is how many XAccessPolicies a target takes
// (kube-agentic-networking c7e4194, pkg/constants/controller.go:42).
const maxAccessPolicies = 5

// The reasons for which an XAccessPolicy is not accepted.
const (
	limitPerTargetExceeded = "LimitPerTargetExceeded"
	invalidCEL             = "InvalidCEL"
)

// nameAccessPolicy puts the settings of an XAccessPolicy below the name of the policy: policies of a
// target add up, and none replaces a setting of another (conformance/tests/xaccesspolicy-evaluation-logic.go).
func nameAccessPolicy(o *model.Object, body any, _ model.Settings) any {
	root, _ := body.(map[string]any)
	spec, ok := root["spec"].(map[string]any)
	if !ok {
		return body
	}
	own, outer := map[string]any{}, map[string]any{}
	for key, value := range spec {
		if key == "targetRefs" {
			outer[key] = value
		} else {
			own[key] = value
		}
	}
	outer["policies"] = map[string]any{o.Ref.Name: own}
	out := map[string]any{}
	for key, value := range root {
		out[key] = value
	}
	out["spec"] = outer
	return out
}

// newAccessCheck makes the check of whether policies are accepted, which a policy is at all its targets or
// at none: too many policies are older, an older one asks an authorizer as well, or an expression is no CEL
// (pkg/controller/accesspolicy.go:203-385).
func newAccessCheck(k *policy.Kind, _ *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	byTarget := map[model.Ref][]*model.Object{} // the most senior first
	all := slices.Clone(in.OfKind(k.GroupKind))
	slices.SortStableFunc(all, compareSeniority)
	for _, o := range all {
		for _, target := range listAccessTargets(o) {
			byTarget[target] = append(byTarget[target], o)
		}
	}
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		for _, target := range listAccessTargets(p.Object) {
			if fault := findLimitFault(p.Object, byTarget[target]); fault != "" {
				return target.String() + " " + fault, nil
			}
		}
		return findExpressionFault(p.Object), nil
	}
}

// findLimitFault says why a target does not take a policy, given all that target it; "" if it does.
func findLimitFault(o *model.Object, all []*model.Object) string {
	for i, other := range all {
		switch {
		case i >= maxAccessPolicies:
			return fmt.Sprintf("has %d older XAccessPolicies, and takes no more", maxAccessPolicies)
		case other == o:
			return ""
		case o.Text("spec", "action") == "ExternalAuth" && other.Text("spec", "action") == "ExternalAuth":
			return "asks the authorizer of " + other.Ref.String() + ", which is older, and asks only one"
		}
	}
	return ""
}

// findExpressionFault says which expression of a policy is no CEL; "" if none is.
func findExpressionFault(o *model.Object) string {
	for _, rule := range o.Body.At("spec", "rules").Items {
		text := rule.Text("authorization", "cel", "expression")
		if rule.Text("authorization", "type") != "CEL" || text == "" {
			continue
		}
		if err := expression.CheckSyntax(text); err != nil {
			return fmt.Sprintf("the expression of rule %s is no CEL: %s", rule.Text("name"), err.Message)
		}
	}
	return ""
}

// listAccessTargets are the objects that a policy targets: sections do not count.
func listAccessTargets(o *model.Object) []model.Ref {
	var out []model.Ref
	for _, ref := range o.Body.At("spec", "targetRefs").Items {
		out = append(out, model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: o.Ref.Namespace,
			Name: ref.Text("name")})
	}
	return out
}

// compareSeniority puts the older policy first, then the first by name.
func compareSeniority(a, b *model.Object) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Ref.Name, b.Ref.Name))
}

// accessAncestors is what is written about an XAccessPolicy, for each of its targets.
func accessAncestors(in status.Input) []status.Ancestor {
	accepted := acceptedCondition
	if p := in.Outcome.Policy; p.Fault != "" {
		accepted.Status, accepted.Reason, accepted.Message = "False", limitPerTargetExceeded, p.Fault
		if p.Fault == findExpressionFault(p.Object) {
			accepted.Reason = invalidCEL
		}
	}
	none := func(status.Input, topology.NodeID) *status.Conflict { return nil } // they add up
	return listAncestors(in, none, []status.Condition{accepted})
}
