package policy

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// ExpressionOptions are what the environment of every expression has: guards against large ones, and functions for texts, lists, sets and
// numbers.
func ExpressionOptions() []cel.EnvOption {
	return []cel.EnvOption{cel.CrossTypeNumericComparisons(true), cel.ParserRecursionLimit(maxDepth),
		ext.Strings(), ext.Lists(), ext.Sets(), ext.Math()}
}

// CompileExpression compiles an expression that is not too long. The error is one line, and begins with a verb.
func CompileExpression(env *cel.Env, text string) (*cel.Ast, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(text), maxExpression)
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("does not compile: %s", firstLine(issues.Err().Error()))
	}
	return compiled, nil
}

// ExpressionFault is what the library says of an expression that fails, on one line.
func ExpressionFault(err error) string { return firstLine(err.Error()) }

// Sizes are the longest list or map of a value, in entries, and its longest text, in bytes.
type Sizes struct{ of sizes }

// SizesOf measures a JSON value.
func SizesOf(v any) Sizes { return Sizes{sizesOf(v)} }

// With is the larger of two in each respect.
func (s Sizes) With(o Sizes) Sizes {
	return Sizes{sizes{max(s.of.entries, o.of.entries), max(s.of.text, o.of.text)}}
}

// Guard refuses values over the sizes up to which an expression is evaluated: the library charges nothing for what happens inside one
// call.
type Guard struct{ limits guard }

// GuardFor is the guard that the functions an expression calls ask for.
func GuardFor(expression string) Guard { return Guard{guardFor(expression)} }

// Check is an error if a value is over a limit.
func (g Guard) Check(s Sizes) error { return g.limits.check(s.of) }
