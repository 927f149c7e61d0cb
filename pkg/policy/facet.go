package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// Facet is a part of policies that has results of its own: which settings, of which policies, and
// on which paths and at which targets they hold. A setting belongs to the first facet that fits;
// one that belongs to none holds everywhere.
type Facet struct {
	Settings merge.Shape // the settings
	Field    []string    // of the policy: only those that have one of the values in it; nil: all
	Values   []string
	Facts    Facts // as of plans

	Nowhere bool // the settings hold at no target
}

// hasSetting reports whether a setting of the policy belongs to the facet.
func (f *Facet) hasSetting(p *Policy, at merge.Path) bool {
	return f.Settings.Covers(at) && (f.Field == nil || slices.Contains(f.Values, p.Object.Body.At(f.Field...).Text()))
}

// HoldsOnPath reports whether a setting of the policy holds on a path with the given facts.
func (k *Kind) HoldsOnPath(p *Policy, at merge.Path, fact func(name string) string) bool {
	for i := range k.Facets {
		if f := &k.Facets[i]; f.hasSetting(p, at) {
			return !f.Nowhere && f.Facts.holdFor(fact)
		}
	}
	return true
}

// BlocksOnPath returns the blocks of a policy with only those settings that hold on a path with the
// given facts; nil if there are none.
func (k *Kind) BlocksOnPath(p *Policy, blocks []merge.Block, fact func(name string) string) []merge.Block {
	if k.Facets == nil {
		return blocks
	}
	var out []merge.Block
	for _, b := range blocks {
		b.Units = slices.DeleteFunc(slices.Clone(b.Units), func(u merge.Unit) bool {
			return !k.HoldsOnPath(p,
				u.Path, fact)
		})
		if len(b.Units) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// holdFor reports whether a path has one of the values of every fact.
func (f Facts) holdFor(fact func(name string) string) bool {
	for name, values := range f {
		if !slices.Contains(values, fact(name)) {
			return false
		}
	}
	return true
}
