package collect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Problems returns the problems of the input and of every fold. Kinds nil means every policy
// kind; problems of the input are not narrowed. They are not sorted, and some come twice.
func Problems(r *resolve.Resolution, kinds []model.GroupKind) []model.Problem {
	a := New(r, view.Query{Kinds: kinds})
	out := append(slices.Clone(r.Problems), unread.Summarize(unread.Inputs(r))...)
	for _, k := range a.selectKinds() {
		for _, p := range k.Policies {
			out = append(out, k.Guesses().Of(p)...)
		}
		k.FoldAll()
		for _, s := range k.Stacks() {
			out = append(out, k.Verdict(s).Problems...)
		}
		out = append(out, findForeignReferences(r, k)...)
	}
	return out
}

// findForeignReferences finds the foreign references in the results of a kind: for each result, one
// of every namespace where it holds.
func findForeignReferences(r *resolve.Resolution, k *resolve.Kind) []model.Problem {
	if k.Scope != nil || k.NamespacedRefs == nil {
		return nil
	}
	refers := map[resolve.StackID]*view.EffectivePolicy{}
	for _, s := range k.Stacks() {
		o := k.Verdict(s)
		if slices.ContainsFunc(o.Result.Rules, func(rule merge.Rule) bool { return hasBareReference(rule.Value) }) {
			refers[s] = &newStackAnswer(r, k, o).policy
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
		out = append(out, reportForeignReferences(r.Snapshot, k, &item)...)
	})
	return out
}
