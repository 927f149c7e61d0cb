package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// rateLimit makes one list of the rules of a child and its parent, the child's first. A local rule without selectors is the
// bucket for everything else: the child's is it, or nothing is limited there; the parent's is gone.
func rateLimit(model.Settings) merge.Combine {
	return func(parent, child merge.Unit, _ merge.Side) (merge.Unit, []merge.Effect) {
		above, both := merge.Plain(parent.Value).([]any)
		below, ok := merge.Plain(child.Value).([]any)
		if !ok || !both {
			return merge.Unit{}, nil
		}
		if len(child.Path) > 1 && child.Path[1].Name == "local" {
			above = slices.DeleteFunc(slices.Clone(above), bucket)
		}
		out := merge.Unit{Path: child.Path, Value: slices.Concat(below, above), From: slices.Concat(parent.From, child.From)}
		kept := merge.Effect{Path: child.Path, Rule: child.Path.String(), Value: parent.Value, From: parent.From, Outcome: merge.Joined, Other: child.From}
		if len(above) == 0 {
			out.From, kept.Outcome, kept.Reason = child.From, merge.Dropped, merge.MoreSpecificWins
		}
		return out, []merge.Effect{kept, {Path: child.Path, Rule: child.Path.String(), Value: child.Value, From: child.From, Outcome: merge.Joined, Other: parent.From}}
	}
}

// bucket reports whether a local rule is for whatever no other rule selects.
func bucket(rule any) bool {
	fields, _ := rule.(map[string]any)
	selectors, _ := fields["clientSelectors"].([]any)
	return len(selectors) == 0
}
