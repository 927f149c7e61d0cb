package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// isUnread reports whether it is not known whether a target is there: it was not read, or what may
// make it.
func (in Input) isUnread(t policy.TargetRef) bool {
	if t.Selection != nil {
		return in.Resolution.Snapshot.IsUnread(t.Ref.GroupKind(), t.Ref.Namespace)
	}
	return in.Resolution.Snapshot.FindExistence(t.Ref).Presence == model.NotKnown
}

// explainUnread says why it is not known whether a target is there.
func (in Input) explainUnread(t policy.TargetRef) string {
	if gk := t.Ref.GroupKind(); t.Selection != nil {
		return in.Resolution.Snapshot.ExplainUnread("the objects that the selector asks for", gk, t.Ref.Namespace)
	}
	return in.Resolution.Snapshot.FindExistence(t.Ref).Why
}

// predictWithGaps returns the status that write predicts, less what a cluster did not let us read
// enough for: a condition that depends on it is Unknown.
func predictWithGaps(in Input, write Writer) []Ancestor {
	if i := slices.IndexFunc(in.Outcome.Missed, in.isUnread); i >= 0 && len(in.Outcome.Targets) == 0 {
		return []Ancestor{{Conditions: []Condition{{typeAccepted, "Unknown", "NotEvaluated",
			in.explainUnread(in.Outcome.Missed[i])}}}}
	}
	if hasUnknownTargets(in) {
		return []Ancestor{{Conditions: []Condition{{typeAccepted, "Unknown", "NotEvaluated",
			"what the policy targets is unknown without a descriptor of " + in.Kind.Name()}}}}
	}
	if by, gap := hasUnreadNamers(in); gap && len(in.Outcome.Targets) == 0 {
		return []Ancestor{{Conditions: []Condition{{typeAccepted, "Unknown", "NotEvaluated", "cannot tell whether " + by +
			" names it: they are forbidden"}}}}
	}
	out := write(in)
	gaps := in.Kind.Gaps().Of(in.Outcome.Policy)
	if len(gaps) == 0 {
		return out
	}
	looked := func(p model.Problem) bool {
		return p.Code == model.NotEvaluated && p.Severity == model.Warning && p.Ref != nil &&
			*p.Ref == in.Outcome.Policy.Ref()
	}
	open := slices.ContainsFunc(gaps, func(g resolve.Gap) bool { return slices.Contains(in.Kind.Reads, g.Kind) }) &&
		slices.ContainsFunc(in.Resolution.Problems, looked) || slices.ContainsFunc(gaps, func(g resolve.Gap) bool {
		return in.Kind.Gaps().DecidesOwner(g.Kind) || in.Kind.Gaps().DecidesAcceptance(g.Kind)
	}) ||
		slices.ContainsFunc(in.Outcome.Policy.Refs, in.isUnread)
	for _, a := range out {
		for i, c := range a.Conditions {
			if c.Type != typeAccepted || open || a.Dependent {
				a.Conditions[i] = withholdCondition(in.Resolution, gaps, c)
			} else {
				a.Conditions[i].Message = strings.TrimSuffix(c.Message, noPath)
			}
		}
	}
	return out
}

// hasUnreadNamers reports whether objects that may name the policy may not be read, and what they
// are.
func hasUnreadNamers(in Input) (kinds string, unread bool) {
	for _, form := range in.Kind.Refs {
		for _, by := range form.NamedBy {
			if c := in.Resolution.Snapshot.Cluster; c != nil && c.HasUnread(by.Kind) {
				return "a " + by.Kind.Kind, true
			}
		}
	}
	return "", false
}

// hasUnknownTargets reports whether the policy is attached nowhere and has references that are not
// understood.
func hasUnknownTargets(in Input) bool {
	p := in.Outcome.Policy
	return len(in.Outcome.Targets) == 0 && (len(p.UnknownRefFields) > 0 ||
		slices.ContainsFunc(p.Refs, func(t policy.TargetRef) bool { return len(t.Uncertain) > 0 }))
}

// withholdCondition returns a condition that the gaps may change as Unknown.
func withholdCondition(r *resolve.Resolution, gaps []resolve.Gap, c Condition) Condition {
	message := "depends on what is forbidden: " + describeGapsShortly(r, gaps)
	return Condition{c.Type, "Unknown", "NotEvaluated", message + "; without it " + c.Type + "=" + c.Status + " (" +
		c.Message + ")"}
}

// describeGapsShortly names what could not be read: of several kinds in one namespace the number.
func describeGapsShortly(r *resolve.Resolution, gaps []resolve.Gap) string {
	in := map[string][]string{} // by namespace
	for i, text := range r.DescribeGaps(gaps) {
		if namespace := gaps[i].Namespace; !slices.Contains(in[namespace], text) {
			in[namespace] = append(in[namespace], text)
		}
	}
	var out []string
	for _, namespace := range slices.Sorted(maps.Keys(in)) {
		switch texts := in[namespace]; {
		case len(texts) == 1:
			out = append(out, texts[0])
		case namespace == "":
			out = append(out, fmt.Sprintf("%d kinds", len(texts)))
		default:
			out = append(out, fmt.Sprintf("%d kinds in %s", len(texts), namespace))
		}
	}
	return strings.Join(out, ", ")
}

// withholdMark returns a mark of a kind, withheld if a cluster did not let us read all that it may
// depend on.
func withholdMark(r *resolve.Resolution, k *resolve.Kind, m Mark) Mark {
	for _, id := range r.Graph.Lookup(m.Object) {
		if gaps := k.Gaps().Below(id); len(gaps) > 0 {
			m.Condition = withholdCondition(r, gaps, m.Condition)
		}
	}
	return m
}
