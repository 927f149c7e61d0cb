package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// fatesOf counts for every policy of a kind over all its scopes; nil for a scope whose kind has been counted.
func fatesOf(r *resolve.Resolution, k *resolve.Kind) []*Fate {
	if k.Again() {
		return nil
	}
	scopes := slices.DeleteFunc(slices.Clone(r.Scopes(k)), func(scope *resolve.Kind) bool { return scope == k })
	if len(scopes) == 0 {
		return Fates(r, k)
	}
	out := countFates(r, k)
	for _, scope := range scopes {
		for i, more := range Fates(r, scope) {
			out[i].join(more)
		}
	}
	return out
}

// join adds what became of the same policy in another scope.
func (f *Fate) join(o *Fate) {
	f.Targets = append(f.Targets, o.Targets...)
	slices.Sort(f.Targets)
	f.Targets = slices.Compact(f.Targets)
	f.Contexts, f.Paths, f.Reached = f.Contexts+o.Contexts, f.Paths+o.Paths, f.Reached+o.Reached
	f.Sets, f.Holds = f.Sets+o.Sets, f.Holds+o.Holds
	f.Lost = append(f.Lost, o.Lost...)
	for ref, at := range o.held {
		if f.held == nil {
			f.held = map[model.Ref]holdAt{}
		}
		at.hold |= f.held[ref].hold
		f.held[ref] = at
	}
	f.Conflicts, f.Kept = append(f.Conflicts, o.Conflicts...), f.Kept+o.Kept
	for _, both := range []struct{ into, from *[]model.Ref }{{&f.LostTo, &o.LostTo}, {&f.Overriders, &o.Overriders}, {&f.Holders, &o.Holders}, {&f.RejectedBy, &o.RejectedBy}, {&f.Affected, &o.Affected}} {
		*both.into = append(*both.into, *both.from...)
		slices.SortFunc(*both.into, model.Ref.Compare)
		*both.into = slices.Compact(*both.into)
	}
}
