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
	k.InForce(func(s StackID) { out = append(out, s) })
	return out
}

// Fold folds every stack in force and keeps the outcomes: for questions about everything.
func (k *Kind) Fold() {
	stacks := k.Stacks()
	k.Verdicts(stacks, func(i int, o *Verdict) { k.verdicts[stacks[i]] = o })
}

// Verdicts folds stacks, as many at a time as there are processors, and calls see with the number of a stack and its verdict. They are not
// kept. Where conditions have a say, one stack is folded after the other: conditions draw on one budget, and which of them are judged must
// not depend on chance.
func (k *Kind) Verdicts(stacks []StackID, see func(i int, o *Verdict)) {
	each := func(n int, do func(i int)) { model.SideBySide(n, model.Few, do) }
	if Conditional(k) {
		each = oneByOne
	}
	each(len(stacks), func(i int) {
		o := k.verdicts[stacks[i]]
		if o == nil {
			o = k.fold(stacks[i])
		}
		see(i, o)
	})
}

func oneByOne(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}

// Conditional reports whether conditions have a say in what is in force.
func Conditional(k *Kind) bool {
	if k.conditional == nil {
		found := slices.ContainsFunc(k.Policies, conditional)
		k.conditional = &found
	}
	return *k.conditional
}

// conditional reports whether a policy has conditions.
func conditional(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Blocks, func(b merge.Block) bool {
		return b.When != nil || slices.ContainsFunc(b.Units, func(u merge.Unit) bool { return u.When != nil })
	})
}
