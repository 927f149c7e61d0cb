package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// finders is what searches for the targets of a kind, by its reference forms, made when it is first asked for. There are no functions where a
// form is none that searches.
func (r *Resolution) finders(of *policy.Kind) []policy.Finder {
	if found, ok := r.found[of]; ok {
		return found
	}
	if r.found == nil {
		r.found = map[*policy.Kind][]policy.Finder{}
	}
	found := make([]policy.Finder, len(of.Refs))
	for i, form := range of.Refs {
		if form.Search != nil {
			found[i] = form.Search(r.Graph, r.Snapshot, of.Settings)
		}
	}
	r.found[of] = found
	return found
}

// Apart lists the targets to which a policy is not attached and about which the kind's vendor has a word, by target.
func (k *Kind) Apart(p *policy.Policy) []policy.Apart {
	var out []policy.Apart
	for _, f := range k.res.finders(p.Kind) {
		if f.Apart != nil {
			out = append(out, f.Apart(p)...)
		}
	}
	slices.SortFunc(out, func(a, b policy.Apart) int { return int(a.Node - b.Node) })
	return out
}
