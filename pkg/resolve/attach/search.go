package attach

import "github.com/dopolicy/kubectl-dopolicy/pkg/policy"

// FindersOf returns what searches for the targets of a kind, by its reference forms, made when it
// is first asked for. There are no functions where a form is none that searches.
func (r *Targets) FindersOf(of *policy.Kind) []policy.Finder {
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
