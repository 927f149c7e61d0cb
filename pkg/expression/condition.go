package expression

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
)

// ErrMissingField is the error of a condition that reads a field which is not there: it does not
// match.
var ErrMissingField = errors.New("a field it reads is not there")

// ErrRedacted is the error of a condition where the values it would read were taken out: the block
// is taken not to apply.
var ErrRedacted = errors.New("cannot be evaluated, because values are left out (redacted)")

// Conditions compiles and evaluates the D/O conditions of one run. The zero value is ready; it is
// safe for concurrent use.
type Conditions struct {
	once      sync.Once
	env       *cel.Env
	envErr    error
	mu        sync.Mutex
	compiled  map[string]*Condition
	taken     int  // steps
	unlimited bool // their steps do not count

	// Redacted says that settings have no values: nothing can be judged by them.
	Redacted bool

	rules          map[*Rules]*compiledRules
	ruleConditions *Conditions // compiles rules
}

// Condition is a compiled `when`. One that does not compile never holds; its error says why.
type Condition struct {
	Text    string
	limits  Guard
	err     error
	program cel.Program
	isCheap bool // its steps need not be counted
	owner   *Conditions
}

// Err says why the condition can never be judged, or is nil.
func (c *Condition) Err() error { return c.err }

// Compile reads an expression. Equal expressions are compiled once.
func (c *Conditions) Compile(text string) *Condition { return c.compileAhead(text, nil) }

// compileAhead is Compile of a text that was checked ahead, if ahead is not nil.
func (c *Conditions) compileAhead(text string, ahead *cel.Ast) *Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.compiled[text]; ok {
		return known
	}
	cond := &Condition{Text: text, owner: c, limits: GuardFor(text)}
	if c.Redacted {
		cond.err = ErrRedacted
	} else {
		cond.program, cond.isCheap, cond.err = c.compileProgram(text, ahead)
	}
	if c.compiled == nil {
		c.compiled = map[string]*Condition{}
	}
	c.compiled[text] = cond
	return cond
}

func (c *Conditions) compileProgram(text string, ahead *cel.Ast) (p cel.Program, free bool, err error) {
	if text == "" {
		return nil, false, errors.New("is empty")
	}
	if len(text) > maxExpression {
		return nil, false, fmt.Errorf("the expression has %d bytes, more than %d", len(text), maxExpression)
	}
	c.once.Do(func() { c.env, c.envErr = newEnvironment() })
	if c.envErr != nil {
		return nil, false, c.envErr
	}
	compiled := ahead
	if compiled == nil {
		if compiled, err = Compile(c.env, text); err != nil {
			return nil, false, err
		}
	}
	if t := compiled.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, false, fmt.Errorf("is of type %s, not boolean", t)
	}
	if c.unlimited && isCheapExpr(compiled.NativeRep().Expr()) {
		p, err = c.env.Program(compiled, cel.EvalOptions(cel.OptOptimize))
		return p, true, err
	}
	p, err = NewProgram(c.env, compiled)
	return p, false, err
}

// isCheapExpr reports whether an expression has no loops and calls nothing that makes texts or
// lists: evaluating it takes no longer than the expression times the document, and its steps
// need not be counted.
func isCheapExpr(e ast.Expr) bool {
	calm := true
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			calm = calm && slices.Contains(cheapFunctions, e.AsCall().FunctionName())
		case ast.ComprehensionKind:
			calm = false
		}
	}))
	return calm
}

// cheapFunctions are the functions of cheap expressions.
var cheapFunctions = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.Equals,
	operators.NotEquals, operators.Less,
	operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In, operators.Index, "size",
	"startsWith", "endsWith", "contains",
}

// Holds implements merge.Condition: the document's fields are bound at the top level and, all
// together, as self.
func (c *Condition) Holds(doc any) (bool, error) {
	if c.err != nil {
		return false, c.err
	}
	if err := c.limits.Check(SizesOf(doc)); err != nil {
		return false, err
	}
	vars := map[string]any{"self": doc}
	fields, _ := doc.(map[string]any)
	for key, value := range fields {
		vars[key] = value
	}
	return c.evaluate(vars)
}

// evaluate is Holds for what a document within the limits binds: a map by name, or a
// cel.Activation.
func (c *Condition) evaluate(vars any) (bool, error) {
	if !c.owner.hasBudget() {
		return false, errors.New("is not evaluated: the conditions of this run have cost too much already")
	}
	value, steps, err := c.runProgram(vars)
	c.owner.addSteps(steps)
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "no such key"):
		return false, fmt.Errorf("%w: %s", ErrMissingField, ErrorLine(err))
	case err != nil:
		return false, fmt.Errorf("fails: %s", ErrorLine(err))
	}
	holds, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("gives %s, not a boolean", value.Type().TypeName())
	}
	return holds, nil
}

func (c *Condition) runProgram(vars any) (ref.Val, int, error) {
	if c.isCheap {
		value, _, err := c.program.Eval(vars)
		return value, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), evaluationTime)
	defer cancel()
	return EvaluateWithin(ctx, c.program, vars)
}

func (c *Conditions) hasBudget() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unlimited || c.taken < maxTotalSteps
}

func (c *Conditions) addSteps(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken += n
}
