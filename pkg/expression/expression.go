package expression

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// Options returns what the environment of every expression has: guards against large ones, and
// functions for texts, lists, sets and numbers.
func Options() []cel.EnvOption {
	return []cel.EnvOption{cel.CrossTypeNumericComparisons(true), cel.ParserRecursionLimit(maxDepth),
		ext.Strings(), ext.Lists(), ext.Sets(), ext.Math()}
}

// Compile compiles an expression that is not too long. The error is one line, and begins with a
// verb.
func Compile(env *cel.Env, text string) (*cel.Ast, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(text), maxExpression)
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("does not compile: %s", ErrorLine(issues.Err()))
	}
	return compiled, nil
}

// ErrorLine returns what the library says of an expression that fails, on one line.
func ErrorLine(err error) string {
	s := strings.TrimPrefix(err.Error(), "ERROR: <input>:")
	line, _, _ := strings.Cut(s, "\n")
	line, _, _ = strings.Cut(line, " expecting {") // the parser lists every token there is
	return line
}
