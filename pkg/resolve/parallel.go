package resolve

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// SideBySide calls do with every number below n, on all processors where that is worth it.
func SideBySide(n int, do func(i int)) {
	const few = 64 // numbers that one processor takes at a time
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(few))
			for i := end - few; i < min(end, n); i++ {
				do(i)
			}
			if end >= n {
				return
			}
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+few-1)/few) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}

// Fold folds every stack in force, as many at a time as there are processors: for questions about everything. Where conditions have a
// say, one after the other: they draw on one budget, and which of them are judged must not depend on chance.
func (k *Kind) Fold() {
	var stacks []StackID
	k.InForce(func(s StackID) {
		if k.outcomes[s] == nil {
			stacks = append(stacks, s)
		}
	})
	if slices.ContainsFunc(k.Policies, conditional) {
		for _, s := range stacks {
			k.Outcome(s)
		}
		return
	}
	SideBySide(len(stacks), func(i int) { k.Outcome(stacks[i]) })
}

// conditional reports whether a policy has conditions.
func conditional(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Blocks, func(b merge.Block) bool {
		return b.When != nil || slices.ContainsFunc(b.Units, func(u merge.Unit) bool { return u.When != nil })
	})
}
