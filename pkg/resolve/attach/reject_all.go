package attach

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// rejectAll leaves none of several policies at a place in force: the implementation takes none, or
// it is not known which one it takes.
func (k targetContest) rejectAll() {
	for _, m := range k.listContests() {
		id, at := m.node, k.Table[m.node]
		var kept []policy.Attached
		for i, a := range at.Policies {
			rival := slices.IndexFunc(at.Policies, func(b policy.Attached) bool {
				return b.Policy != a.Policy &&
					b.IsAtSamePlace(a)
			})
			if rival < 0 {
				kept = append(kept, a)
				continue
			}
			by := at.Policies[rival].Policy
			v := Rejection{Attached: a, By: by, Silent: k.SameTarget == policy.Unstated}
			k.Rejected, k.RejectedAt[id] = append(k.Rejected, v), append(k.RejectedAt[id], v)
			if k.SameTarget == policy.Unstated && i > rival {
				k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Warning,
					Code: model.NotEvaluated, Message: fmt.Sprintf(
						"%s and %s are both for %s: which of them is in force, or whether they are merged, is documented nowhere", by.Ref(), a.Policy.Ref(), k.res.Node(id).Ref),
					Hint: "keep one of them"}.At(a.Policy.Object))
			}
		}
		at.Policies = kept
		k.Table[id] = at
	}
}
