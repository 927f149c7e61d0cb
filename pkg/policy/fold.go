package policy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Folding is how the policies of a path become one result.
type Folding struct {
	Plans      []merge.Plan
	PlanFacts  []Facts         // by plan: the paths that it is for; nil: all
	AskedFacts []string        // the facts that plans and facets ask for, sorted
	HopSource  *StrategySource // the strategy that the object of a level states
	Scopes     []Scope         // nil: one family of paths
	Scope      *Scope          // of a kind as one of its scopes has it
	Result     Result          // of a kind with scopes they say it
}

// HopStrategy returns the strategy by which the policies of one hop are merged into what is below:
// read at the hop's object, nil if it states none.
func (k *Kind) HopStrategy(o *model.Object) *merge.Strategy {
	if k.HopSource == nil || o == nil {
		return nil
	}
	return k.HopSource.ParseStrategy(o.Annotations[k.HopSource.Name], k.Settings)
}

// Facts are the values that facts of a path may have, by fact.
type Facts map[string][]string

// PlansFor returns the plans for a path: those whose facts fit.
func (k *Folding) PlansFor(fact func(name string) string) []merge.Plan {
	if k.AskedFacts == nil {
		return k.Plans
	}
	var out []merge.Plan
	for i, p := range k.Plans {
		if k.PlanFacts == nil || k.PlanFacts[i].holdFor(fact) {
			out = append(out, p)
		}
	}
	return out
}
