package requirement

import (
	"errors"
	"sync/atomic"
)

// How many steps evaluations may take, so that they end: those of one requirement, and all of a run
// together, which may be many.
const (
	maxTotalSteps    = 2_000_000
	maxSharedSteps   = 3_000_000
	stepsPerQuestion = 1000 // which both have on top: more than expressions take that look at a few fields
)

var errTooCostly = errors.New("it costs too much")

// budget is the steps that evaluations may take together. It may be used by several goroutines.
type budget struct {
	taken atomic.Int64
	most  int64
}

// isSpent reports whether more were taken than there are.
func (b *budget) isSpent() bool { return b.taken.Load() > b.most }

// budgets are those that a requirement draws on.
type budgets struct {
	own    budget
	shared *budget // of all requirements
}

// addQuestions adds what evaluations may take that look at a few fields.
func (b *budget) addQuestions(n int) { b.most += stepsPerQuestion * int64(n) }

func newBudgets(shared *budget) *budgets {
	return &budgets{own: budget{most: maxTotalSteps}, shared: shared}
}

// areSpent reports whether more were taken than there are. It does not depend on the order of the
// evaluations: what is not evaluated any more does not make the sum smaller than the limit.
func (b *budgets) areSpent() bool { return b.own.isSpent() || b.shared.isSpent() }

// takeSteps takes steps off both.
func (b *budgets) takeSteps(steps int) {
	b.own.taken.Add(int64(steps))
	b.shared.taken.Add(int64(steps))
}
