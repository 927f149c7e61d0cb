package policy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Folding is how the policies of a path become one result.
type Folding struct {
	Plans  []merge.Plan
	Only   []Facts  // by plan: the paths that it is for; nil: all
	Asked  []string // the facts that plans and facets ask for, sorted
	Hop    *Reading // the strategy that the object of a level states
	Scopes []Scope  // nil: one family of paths
	Scope  *Scope   // of a kind as one of its scopes has it
	Result Result   // of a kind with scopes they say it
}

// HopStrategy is the strategy by which the policies of one hop are merged into what is below: read at the hop's object, nil if it says none.
func (k *Kind) HopStrategy(o *model.Object) *merge.Strategy {
	if k.Hop == nil || o == nil {
		return nil
	}
	return k.Hop.Choose(o.Annotations[k.Hop.Name], k.Settings)
}

// Facts are the values that facts of a path may have, by fact.
type Facts map[string][]string

// PlansFor are the plans for a path: those whose facts fit.
func (k *Folding) PlansFor(fact func(name string) string) []merge.Plan {
	if k.Asked == nil {
		return k.Plans
	}
	var out []merge.Plan
	for i, p := range k.Plans {
		if k.Only == nil || k.Only[i].hold(fact) {
			out = append(out, p)
		}
	}
	return out
}
