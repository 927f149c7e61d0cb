package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Problems are all that answers about everything tell: the problems of the input and of every fold. Kinds nil means every policy kind; the
// problems of the input are not narrowed. They are as they come: not sorted, and some twice.
func Problems(r *resolve.Resolution, kinds []model.GroupKind) []model.Problem {
	a := collector{res: r, query: Query{Kinds: kinds}}
	out := append(slices.Clone(r.Problems), resolve.Tell(r.BlindSpots())...)
	for _, k := range a.chosen() {
		for _, p := range k.Policies {
			out = append(out, k.Guesses().Of(p)...)
		}
		k.Fold()
		for _, s := range k.Stacks() {
			out = append(out, k.Verdict(s).Problems...)
		}
		out = append(out, foreignReferencesOf(r, k)...)
	}
	return out
}

// foreignReferencesOf are the foreign references in the results of a kind: for each result one of every namespace where it holds.
func foreignReferencesOf(r *resolve.Resolution, k *resolve.Kind) []model.Problem {
	if k.Scope != nil {
		return nil
	}
	refers := map[resolve.StackID]*EffectivePolicy{}
	for _, s := range k.Stacks() {
		o := k.Verdict(s)
		if slices.ContainsFunc(o.Result.Rules, func(rule merge.Rule) bool { return refersBarely(rule.Value) }) {
			refers[s] = &newAnswer(r, k, o).policy
		}
	}
	if len(refers) == 0 {
		return nil
	}
	type place struct {
		stack     resolve.StackID
		namespace string
	}
	var out []model.Problem
	seen := map[place]bool{}
	k.EachContext(func(id topology.NodeID, s resolve.StackID) {
		answer, at := refers[s], place{s, r.Node(id).Ref.Namespace}
		if answer == nil || seen[at] {
			return
		}
		seen[at] = true
		item := *answer
		item.Target = r.Node(id).Ref
		out = append(out, foreignReferences(&item)...)
	})
	return out
}

// NamesOf writes one name per object, sorted for reading, as kubectl names objects (kind.group/name).
func NamesOf(refs []*model.Ref) []string {
	return namesOf(refs, func(r **model.Ref) *model.Ref { return *r })
}
