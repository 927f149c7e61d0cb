package status

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// withheld reports whether the cluster did not let us read whether a target is there.
func (in Input) withheld(t policy.TargetRef) bool {
	return in.Resolution.Snapshot.Cluster.MissesRef(t.Ref) && in.Resolution.Snapshot.Get(t.Ref) == nil
}

// unsure is the status that write predicts, less what a cluster did not let us read enough for: a condition that depends on it is Unknown.
func unsure(in Input, write Writer) []Ancestor {
	if i := slices.IndexFunc(in.Fate.Missed, in.withheld); i >= 0 && len(in.Fate.Targets) == 0 {
		return []Ancestor{{Conditions: []Condition{{typeAccepted, "Unknown", "NotEvaluated", describe(in.Fate.Missed[i].Ref) + " may not be read"}}}}
	}
	if lost(in) {
		return []Ancestor{{Conditions: []Condition{{typeAccepted, "Unknown", "NotEvaluated", "what the policy targets is unknown without a descriptor of " + in.Kind.Name()}}}}
	}
	if by, gap := unreadNaming(in); gap && len(in.Fate.Targets) == 0 {
		return []Ancestor{{Conditions: []Condition{{typeAccepted, "Unknown", "NotEvaluated", "whether " + by + " names it is not known: they may not be read"}}}}
	}
	out := write(in)
	gaps := in.Kind.Gaps().Of(in.Fate.Policy)
	if len(gaps) == 0 {
		return out
	}
	looked := func(p model.Problem) bool {
		return p.Code == model.NotEvaluated && p.Severity == model.Warning && p.Ref != nil && *p.Ref == in.Fate.Policy.Ref()
	}
	open := slices.ContainsFunc(gaps, func(g resolve.Gap) bool { return slices.Contains(in.Kind.Reads, g.Kind) }) &&
		slices.ContainsFunc(in.Resolution.Problems, looked) || slices.ContainsFunc(gaps, func(g resolve.Gap) bool { return in.Kind.Gaps().Decides(g.Kind) || in.Kind.Gaps().Contests(g.Kind) }) ||
		slices.ContainsFunc(in.Fate.Policy.Refs, in.withheld)
	for _, a := range out {
		for i, c := range a.Conditions {
			if c.Type != typeAccepted || open || a.Dependent {
				a.Conditions[i] = withhold(in.Resolution, gaps, c)
			} else {
				a.Conditions[i].Message = strings.TrimSuffix(c.Message, noPath)
			}
		}
	}
	return out
}

// unreadNaming reports whether objects that may name the policy may not be read, and what they are.
func unreadNaming(in Input) (kinds string, unread bool) {
	for _, form := range in.Kind.Refs {
		for _, by := range form.By {
			if c := in.Resolution.Snapshot.Cluster; c != nil && c.MissesAny(by.Kind) {
				return "a " + by.Kind.Kind, true
			}
		}
	}
	return "", false
}

// lost reports whether the policy is attached nowhere and has references that are not understood.
func lost(in Input) bool {
	p := in.Fate.Policy
	return len(in.Fate.Targets) == 0 && (len(p.Astray) > 0 || slices.ContainsFunc(p.Refs, func(t policy.TargetRef) bool { return len(t.Uncertain) > 0 }))
}

// withhold is a condition that the gaps may change.
func withhold(r *resolve.Resolution, gaps []resolve.Gap, c Condition) Condition {
	message := "depends on what may not be read: " + strings.Join(slices.Sorted(slices.Values(r.Unread(gaps))), ", ")
	return Condition{c.Type, "Unknown", "NotEvaluated", message + "; without it " + c.Type + "=" + c.Status + " (" + c.Message + ")"}
}

// unsureMark is a mark of a kind, withheld if a cluster did not let us read all that it may depend on.
func unsureMark(r *resolve.Resolution, k *resolve.Kind, m Mark) Mark {
	for _, id := range r.Graph.Lookup(m.Object) {
		if gaps := k.Gaps().Below(id); len(gaps) > 0 {
			m.Condition = withhold(r, gaps, m.Condition)
		}
	}
	return m
}
