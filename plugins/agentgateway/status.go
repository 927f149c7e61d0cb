package agentgateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// summaryRef is the ancestor that speaks for everything that no Gateway does.
var summaryRef = model.Ref{Group: group, Name: "StatusSummary"}

// writeConditions writes the conditions of all policies: for every Gateway through which a target
// is reached, and in summary for what cannot be attached. What others take from a policy is not
// reported.
func writeConditions(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	out := make(map[*policy.Policy][]status.Ancestor, len(fates))
	reach := newGatewayReach(r, k)
	for _, f := range fates {
		if f.Policy.Refused {
			continue
		}
		c := inspectPolicy(r.Graph, r.Snapshot, f.Policy.Object, k.Settings)
		v := newPolicyVerdict(c, f.Policy)
		out[f.Policy] = v.listAncestors(controllerName(k), reach.resolveTargets(f.Policy))
		for i := range out[f.Policy] {
			out[f.Policy][i].Dependent = out[f.Policy][i].Dependent || reach.uncertain || c.unread
		}
	}
	return out
}

// controllerName is what the controller calls itself.
func controllerName(k *resolve.Kind) string {
	if name := k.Settings.Text("agentgateway.controllerName"); name != "" {
		return name
	}
	return controller
}

// policyVerdict is what the controller makes of a policy, whatever its targets are.
type policyVerdict struct {
	accepted status.Condition
	attached *status.Condition // nil: it writes none
}

func newPolicyVerdict(c *inspection, p *policy.Policy) policyVerdict {
	if len(c.faults) == 0 && c.unread {
		unknown := func(sort string) status.Condition {
			return status.Condition{Type: sort, Status: "Unknown", Reason: "NotEvaluated",
				Message: "depends on objects that may not be read"}
		}
		attached := unknown("Attached")
		return policyVerdict{unknown("Accepted"), &attached}
	}
	if len(c.faults) == 0 {
		return policyVerdict{status.Condition{Type: "Accepted", Status: "True", Reason: "Valid",
			Message: "Policy accepted"},
			&status.Condition{Type: "Attached", Status: "True", Reason: "Attached", Message: "Attached to all targets"}}
	}
	message := strings.Join(c.listMessages(), "\n")
	if setsAnything(p) {
		return policyVerdict{accepted: status.Condition{Type: "Accepted", Status: "True", Reason: "PartiallyValid",
			Message: message}}
	}
	return policyVerdict{status.Condition{Type: "Accepted", Status: "False", Reason: "Invalid", Message: message},
		&status.Condition{Type: "Attached", Status: "False", Reason: "Pending",
			Message: "Policy is not attached due to invalid status"}}
}

// maxAncestors is how many ancestors the controller writes beside the summary of the others.
const maxAncestors = 15

// listAncestors are the entries of a policy's status, sorted as the controller does.
func (v policyVerdict) listAncestors(name string, targets []policyTarget) []status.Ancestor {
	var refs []model.Ref
	var failures []string
	for _, t := range targets {
		if t.failure != "" {
			failures = append(failures, "Policy is not attached: "+t.failure)
			continue
		}
		refs = append(refs, t.gateways...)
	}
	slices.SortFunc(refs, func(a, b model.Ref) int { return strings.Compare(sortKey(a), sortKey(b)) })
	refs = slices.Compact(refs)
	var out []status.Ancestor
	if len(failures) > 0 {
		slices.Sort(failures)
		pending := status.Condition{Type: "Attached", Status: "False", Reason: "Pending",
			Message: strings.Join(slices.Compact(failures), "\n")}
		out = append(out, status.Ancestor{Ref: &summaryRef, Controller: name,
			Conditions: []status.Condition{v.accepted, pending}, Dependent: true})
	}
	for _, ref := range refs {
		conditions := []status.Condition{v.accepted}
		if v.attached != nil {
			conditions = append(conditions, *v.attached)
		}
		out = append(out, status.Ancestor{Ref: &ref, Controller: name, Conditions: conditions})
	}
	if len(out) <= policy.MaxAncestors {
		return out
	}
	cut := status.Condition{Type: "StatusSummarized", Status: "True", Reason: "StatusSummary",
		Message: fmt.Sprintf("%d AncestorRefs ignored due to max status size", len(out)-maxAncestors)}
	out = append(out[:maxAncestors:maxAncestors], status.Ancestor{Ref: &summaryRef, Controller: name,
		Conditions: []status.Condition{cut}})
	for i := range out { // more ancestors would push others out
		out[i].Dependent = true
	}
	return out
}

func sortKey(r model.Ref) string { return r.Group + "/" + r.Kind + "/" + r.Name + "/" + r.Namespace }
