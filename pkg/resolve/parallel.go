package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Stacks lists the stacks in force, each once, in a stable order.
func (k *Kind) Stacks() []StackID {
	var out []StackID
	k.EachStackInForce(func(s StackID) { out = append(out, s) })
	return out
}

// FoldAll folds every stack in force and keeps the verdicts: for questions about everything.
func (k *Kind) FoldAll() {
	stacks := k.Stacks()
	k.EachVerdict(stacks, func(i int, o *Verdict) { k.verdicts[stacks[i]] = o })
}

// EachVerdict folds stacks, as many at a time as there are processors, and calls see with the
// number of a stack and its verdict. They are not kept. Where conditions have a say, one stack is
// folded after the other: conditions draw on one budget, and which of them are judged must not
// depend on chance.
func (k *Kind) EachVerdict(stacks []StackID, see func(i int, o *Verdict)) {
	each := func(n int, do func(i int)) { model.Parallel(n, model.SmallBatch, do) }
	if HasConditions(k) {
		each = oneByOne
	}
	each(len(stacks), func(i int) {
		o := k.verdicts[stacks[i]]
		if o == nil {
			o = k.foldStack(stacks[i])
		}
		see(i, o)
	})
}

func oneByOne(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}

// HasConditions reports whether conditions have a say in what is in force.
func HasConditions(k *Kind) bool {
	if k.conditional == nil {
		found := slices.ContainsFunc(k.Policies, hasConditions)
		k.conditional = &found
	}
	return *k.conditional
}

// hasConditions reports whether a policy has conditions.
func hasConditions(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Blocks, func(b merge.Block) bool {
		return b.When != nil || slices.ContainsFunc(b.Units, func(u merge.Unit) bool { return u.When != nil })
	})
}
