package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findersOf is what searches for the targets of a kind, by its reference forms, made when it is first asked for: for the kind itself or a member.
// There are no functions where a form is none that searches.
func (k *Kind) findersOf(of *policy.Kind) []policy.Finder {
	if found, ok := k.finders[of]; ok {
		return found
	}
	if k.finders == nil {
		k.finders = map[*policy.Kind][]policy.Finder{}
	}
	found := make([]policy.Finder, len(of.Refs))
	for i, form := range of.Refs {
		if form.Search != nil {
			found[i] = form.Search(k.res.Graph, k.res.Snapshot, of.Settings)
		}
	}
	k.finders[of] = found
	return found
}

// Apart lists the targets to which a policy is not attached and about which the kind's vendor has a word, by target.
func (k *Kind) Apart(p *policy.Policy) []policy.Apart {
	if k.scoped != nil {
		return nil
	}
	var out []policy.Apart
	for _, f := range k.findersOf(p.Kind) {
		if f.Apart != nil {
			out = append(out, f.Apart(p)...)
		}
	}
	slices.SortFunc(out, func(a, b policy.Apart) int { return int(a.Node - b.Node) })
	return out
}

// Via are the ways by which a policy itself comes to a node, of those on which a stack holds there.
func (k *Kind) Via(p *policy.Policy, id topology.NodeID, ways []Path) []Path {
	if k.scoped != nil {
		return ways
	}
	at := k.attached[id].policies
	i := slices.IndexFunc(at, func(a policy.Attached) bool { return a.Policy == p })
	if i < 0 || at[i].Here == nil || at[i].Here.Via == nil {
		return ways
	}
	return slices.DeleteFunc(slices.Clone(ways), func(w Path) bool { return len(w) < 2 || !slices.Contains(at[i].Here.Via, w[len(w)-2]) })
}
