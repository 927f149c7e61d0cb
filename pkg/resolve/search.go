package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// finder is what searches for targets by the kind's i-th reference form, made when it is first asked for; it has no functions where that form
// is none that searches.
func (k *Kind) finder(i int) policy.Finder {
	if k.finders == nil {
		k.finders = make([]policy.Finder, len(k.Refs))
		for j, form := range k.Refs {
			if form.Search != nil {
				k.finders[j] = form.Search(k.res.Graph, k.res.Snapshot, k.Settings())
			}
		}
	}
	return k.finders[i]
}

// Apart lists the targets at which the kind's vendor knows why a policy is not in force, by target.
func (k *Kind) Apart(p *policy.Policy) []policy.Apart {
	var out []policy.Apart
	for i := range k.Refs {
		if apart := k.finder(i).Apart; apart != nil {
			out = append(out, apart(p)...)
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
