package envoygateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// statusWriter collects the conditions of one policy, by ancestor.
type statusWriter struct {
	controller string
	ancestors  []status.Ancestor
}

// entryOf is the entry of an ancestor, a new one if there is none.
func (l *statusWriter) entryOf(ref model.Ref) *status.Ancestor {
	for i := range l.ancestors {
		if *l.ancestors[i].Ref == ref {
			return &l.ancestors[i]
		}
	}
	l.ancestors = append(l.ancestors, status.Ancestor{Ref: &ref, Controller: l.controller})
	return &l.ancestors[len(l.ancestors)-1]
}

// setCondition writes a condition at each ancestor, over an earlier one of its type.
func (l *statusWriter) setCondition(refs []model.Ref, c status.Condition) {
	for _, ref := range refs {
		a := l.entryOf(ref)
		if i := slices.IndexFunc(a.Conditions,
			func(have status.Condition) bool { return have.Type == c.Type }); i >= 0 {
			a.Conditions[i] = c
		} else {
			a.Conditions = append(a.Conditions, c)
		}
	}
}

// setRefused writes Accepted=False.
func (l *statusWriter) setRefused(refs []model.Ref, reason, format string, args ...any) {
	l.setCondition(refs, status.Condition{Type: "Accepted", Status: "False", Reason: reason,
		Message: fmt.Sprintf(format, args...)})
}

// setTrue writes a condition that is True, with its type for a reason.
func (l *statusWriter) setTrue(refs []model.Ref, kind, format string, args ...any) {
	l.setCondition(refs, status.Condition{Type: kind, Status: "True", Reason: kind,
		Message: fmt.Sprintf(format, args...)})
}

// setAccepted writes Accepted=True where Accepted is not written yet.
func (l *statusWriter) setAccepted(refs []model.Ref) {
	for _, ref := range refs {
		if !slices.ContainsFunc(l.entryOf(ref).Conditions,
			func(c status.Condition) bool { return c.Type == "Accepted" }) {
			l.setTrue([]model.Ref{ref}, "Accepted", "Policy has been accepted.")
		}
	}
}

// setDeprecated writes which deprecated fields a policy uses.
func (l *statusWriter) setDeprecated(refs []model.Ref, p *policy.Policy) {
	if fields := listDeprecatedFields(p); len(fields) > 0 {
		l.setCondition(refs, status.Condition{Type: "Warning", Status: "True", Reason: "DeprecatedField",
			Message: strings.Join(fields, "; ")})
	}
}

// setPort notes the port of the parentRef that an ancestor is. The controller does not compare
// ports: the first one stays.
func (l *statusWriter) setPort(ref model.Ref, port int32) {
	if a := l.entryOf(ref); len(a.Conditions) == 0 {
		a.Port = port
	}
}

func listOne(ref model.Ref) []model.Ref { return []model.Ref{ref} }

// buildAncestors is the status: no more entries than the API allows, those that matter most.
func (l *statusWriter) buildAncestors() []status.Ancestor {
	out := l.ancestors
	if len(out) > status.MaxAncestors {
		out = slices.SortedStableFunc(slices.Values(out), func(a, b status.Ancestor) int {
			return cmp.Or(cmp.Compare(rankAncestor(a), rankAncestor(b)), cmp.Compare(a.Ref.Namespace, b.Ref.Namespace),
				cmp.Compare(a.Ref.Name, b.Ref.Name))
		})[:status.MaxAncestors]
		last := &out[status.MaxAncestors-1]
		last.Conditions = append(last.Conditions, status.Condition{Type: "Aggregated", Status: "True",
			Reason:  "Aggregated",
			Message: "Ancestors have been aggregated because the number of policy ancestors exceeds 16."})
	}
	for i := range out {
		slices.SortStableFunc(out[i].Conditions,
			func(a, b status.Condition) int { return cmp.Compare(conditionOrder(a.Type), conditionOrder(b.Type)) })
	}
	slices.SortStableFunc(out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	return out
}

// rankAncestor puts entries that are not accepted first, then those that are overridden.
func rankAncestor(a status.Ancestor) int {
	overridden := false
	for _, c := range a.Conditions {
		if c.Type == "Accepted" && c.Status == "False" {
			return 0
		}
		overridden = overridden || c.Type == "Overridden"
	}
	if overridden {
		return 1
	}
	return 2
}

func conditionOrder(kind string) int {
	return slices.Index([]string{"Accepted", "ResolvedRefs", "Programmed", "Merged", "Overridden", "Warning",
		"Aggregated"}, kind)
}

// controllerName is the controller in whose name statuses are written.
func controllerName(r *resolve.Resolution) string {
	return r.Settings.Text("envoygateway.controllerName")
}
