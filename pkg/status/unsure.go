package status

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// unsure is the status that write predicts, less what a cluster did not let us read enough for: a condition that depends on it is Unknown.
func unsure(in Input, write Writer) []Ancestor {
	withheld := func(t policy.TargetRef) bool {
		namespace := t.Ref.Namespace
		if t.Ref.Kind == "Namespace" {
			namespace = t.Ref.Name
		}
		return in.Resolution.Snapshot.Cluster.Misses(t.Ref.GroupKind(), namespace) && in.Resolution.Snapshot.Get(t.Ref) == nil
	}
	if i := slices.IndexFunc(in.Fate.Missed, withheld); i >= 0 && len(in.Fate.Targets) == 0 {
		return []Ancestor{{Conditions: []Condition{{"Accepted", "Unknown", "NotEvaluated", describe(in.Fate.Missed[i].Ref) + " may not be read"}}}}
	}
	out := write(in)
	var unread []string
	for _, id := range in.Fate.Targets {
		unread = append(unread, in.Resolution.Unread(in.Kind.Gaps(id))...)
	}
	if len(unread) == 0 {
		return out
	}
	slices.Sort(unread)
	message := "depends on what may not be read: " + strings.Join(slices.Compact(unread), ", ")
	for _, a := range out {
		for i, c := range a.Conditions {
			if c.Type != "Accepted" && c.Type != "ResolvedRefs" {
				a.Conditions[i] = Condition{c.Type, "Unknown", "NotEvaluated", message + "; without it " + c.Type + "=" + c.Status + " (" + c.Message + ")"}
			}
		}
	}
	return out
}
