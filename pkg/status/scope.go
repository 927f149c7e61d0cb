package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// outcomesOf counts for every policy of a kind over all its scopes; nil for a scope whose kind has
// been counted.
func outcomesOf(r *resolve.Resolution, k *resolve.Kind) []*PolicyOutcome {
	if k.IsLaterScope() {
		return nil
	}
	scopes := slices.DeleteFunc(slices.Clone(r.ScopesOf(k)), func(scope *resolve.Kind) bool { return scope == k })
	if len(scopes) == 0 {
		return Outcomes(r, k)
	}
	out := countOutcomes(r, k)
	for _, scope := range scopes {
		for i, more := range Outcomes(r, scope) {
			out[i].addScope(more)
		}
	}
	return out
}

// addScope adds what became of the same policy in another scope.
func (f *PolicyOutcome) addScope(o *PolicyOutcome) {
	f.Targets = append(f.Targets, o.Targets...)
	slices.Sort(f.Targets)
	f.Targets = slices.Compact(f.Targets)
	f.Contexts, f.Paths, f.PathsInForce = f.Contexts+o.Contexts, f.Paths+o.Paths, f.PathsInForce+o.PathsInForce
	f.Sets, f.Holds = f.Sets+o.Sets, f.Holds+o.Holds
	f.Lost = append(f.Lost, o.Lost...)
	for ref, at := range o.heldAt {
		if f.heldAt == nil {
			f.heldAt = map[model.Ref]targetHold{}
		}
		at.holdState |= f.heldAt[ref].holdState
		f.heldAt[ref] = at
	}
	f.Conflicts, f.KeptTargets = append(f.Conflicts, o.Conflicts...), f.KeptTargets+o.KeptTargets
	for _, both := range []struct{ into, from *[]model.Ref }{{&f.LostTo, &o.LostTo}, {&f.Overriders, &o.Overriders},
		{&f.Holders, &o.Holders}, {&f.RejectedBy, &o.RejectedBy}, {&f.Affected, &o.Affected}} {
		*both.into = append(*both.into, *both.from...)
		slices.SortFunc(*both.into, model.Ref.Compare)
		*both.into = slices.Compact(*both.into)
	}
}
