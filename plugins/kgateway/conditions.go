package kgateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// writeConditions turns what was counted into conditions.
func (s *stateCounter) writeConditions(p *policy.Policy) []status.Ancestor {
	var out []status.Ancestor
	for ref, e := range s.entries[p] {
		out = append(out, status.Ancestor{Ref: &ref, Controller: controller,
			Conditions: []status.Condition{acceptedCondition(p), e.attachedCondition(p)}})
	}
	slices.SortFunc(out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	return out[:min(len(out), status.MaxAncestors)]
}

func acceptedCondition(p *policy.Policy) status.Condition {
	if p.Fault != "" {
		return status.Condition{Type: "Accepted", Status: "False", Reason: "Invalid", Message: p.Fault}
	}
	return status.Condition{Type: "Accepted", Status: "True", Reason: "Valid", Message: "the policy is valid"}
}

func (e *ancestorState) attachedCondition(p *policy.Policy) status.Condition {
	yes := func(value, reason, format string, args ...any) status.Condition {
		return status.Condition{Type: "Attached", Status: value, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	slices.Sort(e.lost)
	switch by := limitNames(e.lost); {
	case p.Fault != "":
		return yes("False", "Pending", "the policy is in error")
	case e.state == pending:
		return yes("False", "Pending", "nothing has made use of the policy")
	case e.state == overridden:
		return yes("False", "Overridden",
			"where it is merged with others it sets nothing in one merge at least; overridden by %s", by)
	case e.state == merged:
		return yes("True", "Merged", "merged with %s", by)
	}
	return yes("True", "Attached", "attached to all targets")
}

// limitNames names up to five policies, then counts.
func limitNames(names []string) string {
	const most = 5
	if rest := len(names) - most; rest > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(names, ", ")
}
