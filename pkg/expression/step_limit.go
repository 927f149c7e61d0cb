package expression

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// The library's own cost does not tell what evaluating takes: two lists become one for nothing, a list
// in a list counts as one entry, a call is charged for when it is over, and counting takes longer the
// more was counted. So steps are counted here: one for what an expression looks up, and what a call
// takes at most, before it begins.

// Steps are how many steps are left. They are for one goroutine.
type Steps struct {
	left, most int
	tracked    bool // the library counts its cost, too
	longest    int  // of the lists that it may have gone through

	interrupt func() // ends the evaluation: loops go on after an error
}

// NewSteps returns steps of which none is taken.
func NewSteps(most int) *Steps { return &Steps{left: most, most: most} }

// NewTrackedSteps is NewSteps for programs whose cost the library counts: it goes through what it has
// counted in a loop for all that it evaluates there. Longest is the longest list that they see.
func NewTrackedSteps(most, longest int) *Steps {
	return &Steps{left: most, most: most, tracked: true, longest: longest}
}

// Taken is how many steps are taken: more than there were if they did not suffice.
func (s *Steps) Taken() int { return s.most - s.left }

// Err says that the steps did not suffice, or is nil.
func (s *Steps) Err() error {
	if s.left < 0 {
		return fmt.Errorf("takes more than %d steps", s.most)
	}
	return nil
}

// trackedPerStep is how many values of a loop the library goes through in the time of one step.
const trackedPerStep = 256

// takeSteps takes steps, and reports whether there were as many.
func (s *Steps) takeSteps(n int) bool {
	if s.tracked {
		s.longest = max(s.longest, min(n, s.most))
		n += s.longest / trackedPerStep
	}
	s.left = max(s.left-n, -1)
	if s.left < 0 && s.interrupt != nil {
		s.interrupt()
	}
	return s.left >= 0
}

// stepsName is the name by which the parts of a program find the steps: no expression can write it.
const stepsName = "#steps"

// countedVars are the variables of an evaluation, and its steps.
type countedVars struct {
	cel.Activation
	steps *Steps
}

// ResolveName implements cel.Activation.
func (v countedVars) ResolveName(name string) (any, bool) {
	if name == stepsName {
		return v.steps, true
	}
	return v.Activation.ResolveName(name)
}

// stepsOf returns the steps of an evaluation.
func stepsOf(frame *interpreter.ExecutionFrame) *Steps {
	if found, _ := frame.ResolveName(stepsName); found != nil {
		if steps, ok := found.(*Steps); ok {
			return steps
		}
	}
	return NewSteps(maxSteps)
}

// Evaluate evaluates a program that was made with LimitSteps. Vars are a map by name, or a
// cel.Activation.
func Evaluate(ctx context.Context, program cel.Program, vars any, steps *Steps) (ref.Val, *cel.EvalDetails, error) {
	bound, err := cel.NewActivation(vars)
	if err != nil {
		return nil, nil, err
	}
	value, details, err := program.ContextEval(ctx, countedVars{bound, steps})
	if tooMany := steps.Err(); tooMany != nil { // which || true hides in the value
		return nil, details, tooMany
	}
	return value, details, err
}

// NewProgram makes a program of an expression, for EvaluateWithin.
func NewProgram(env *cel.Env, tree *cel.Ast) (cel.Program, error) {
	return env.Program(tree, cel.InterruptCheckFrequency(100), LimitSteps(env))
}

// EvaluateWithin evaluates a program of NewProgram within the limit of one evaluation, and returns
// how many steps that took, too.
func EvaluateWithin(ctx context.Context, program cel.Program, vars any) (ref.Val, int, error) {
	steps := NewSteps(maxSteps)
	ctx, steps.interrupt = context.WithCancel(ctx)
	defer steps.interrupt()
	value, _, err := Evaluate(ctx, program, vars, steps)
	return value, steps.Taken(), err
}
