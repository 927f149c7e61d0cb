package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// findersOf returns what searches for the targets of a kind, by its reference forms, made when it
// is first asked for. There are no functions where a form is none that searches.
func (r *Targets) findersOf(of *policy.Kind) []policy.Finder {
	if found, ok := r.findersByKind[of]; ok {
		return found
	}
	if r.findersByKind == nil {
		r.findersByKind = map[*policy.Kind][]policy.Finder{}
	}
	found := make([]policy.Finder, len(of.Refs))
	for i, form := range of.Refs {
		if form.Search != nil {
			found[i] = form.Search(r.Graph, r.Snapshot, of.Settings)
		}
	}
	r.findersByKind[of] = found
	return found
}

// UnattachedTargets lists the targets to which a policy is not attached and about which the kind's
// vendor has a word, by target.
func (k *Kind) UnattachedTargets(p *policy.Policy) []policy.UnattachedTarget {
	var out []policy.UnattachedTarget
	for _, f := range k.res.findersOf(p.Kind) {
		if f.FindUnattached != nil {
			out = append(out, f.FindUnattached(p)...)
		}
	}
	slices.SortFunc(out, func(a, b policy.UnattachedTarget) int { return int(a.Node - b.Node) })
	return out
}
