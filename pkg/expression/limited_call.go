package expression

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxPattern is how many instructions a regular expression may have.
const maxPattern = 50_000

var errSteps = errors.New("takes too many steps")

// LimitSteps has every call, list and map of a program counted before it is evaluated. It does not
// change the library's cost.
func LimitSteps(env *cel.Env) cel.ProgramOption {
	known := env.Functions()
	find := func(call interpreter.InterpretableCall) (*functions.Overload, error) {
		declared := known[call.Function()]
		if declared == nil {
			return nil, nil
		}
		bound, err := declared.Bindings()
		if err != nil {
			return nil, err
		}
		for _, name := range []string{call.OverloadID(), call.Function()} {
			if i := slices.IndexFunc(bound, func(o *functions.Overload) bool { return o.Operator == name }); i >= 0 {
				return bound[i], nil
			}
		}
		return nil, nil
	}
	return cel.CustomDecoratorV2(func(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		switch n := node.(type) {
		case interpreter.InterpretableAttribute:
			return countAttribute(n), nil
		case interpreter.InterpretableCall:
			return limitCall(n, find)
		case interpreter.InterpretableConstructor:
			if !slices.ContainsFunc(n.InitVals(), func(v interpreter.InterpretableV2) bool { return !isConstant(v) }) {
				return n, nil // which the library may make once
			}
			return limitedConstructor{n}, nil
		}
		return node, nil
	})
}

func isConstant(node interpreter.InterpretableV2) bool {
	_, ok := node.(interpreter.InterpretableConst)
	return ok
}

// freeFunctions take no longer for large arguments than for small ones.
var freeFunctions = []string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Index,
	operators.OptIndex, operators.OptSelect, "size", "type", "dyn", "hasValue", "value", "optional.of", "first", "last"}

// limitCall returns a call that is counted before it is evaluated.
func limitCall(call interpreter.InterpretableCall,
	find func(interpreter.InterpretableCall) (*functions.Overload, error)) (interpreter.InterpretableV2, error) {
	if slices.Contains(freeFunctions, call.Function()) {
		return countedCall{call}, nil
	}
	out := &limitedCall{InterpretableCall: call}
	switch call.Function() {
	case operators.Equals:
		out.do = func(args []ref.Val) ref.Val { return types.Equal(args[0], args[1]) }
		return out, nil
	case operators.NotEquals:
		out.do = func(args []ref.Val) ref.Val { return types.Bool(types.Equal(args[0], args[1]) != types.True) }
		return out, nil
	}
	overload, err := find(call)
	if err != nil || overload == nil || overload.NonStrict {
		return countedCall{call}, err
	}
	out.do = func(args []ref.Val) ref.Val { return invokeOverload(call, overload, args) }
	if call.Function() == operators.Add {
		out.do = func(args []ref.Val) ref.Val { return flattenList(invokeOverload(call, overload, args)) }
	}
	if isPatternCall(call.Function()) {
		out.compilePattern()
	}
	return out, nil
}

// limitedCall is a call that is counted before it is evaluated.
type limitedCall struct {
	interpreter.InterpretableCall
	do          func([]ref.Val) ref.Val
	patternSize int // of the regular expression, if it is the same in every call; 0: it is not
}

// compilePattern compiles the pattern of a call, if it is the same in every call and no error.
func (c *limitedCall) compilePattern() {
	args := c.InterpretableCall.Args()
	if len(args) < 2 {
		return
	}
	constant, ok := args[1].(interpreter.InterpretableConst)
	if !ok {
		return
	}
	text, _ := constant.Value().(types.String)
	c.patternSize = model.PatternSize(string(text))
	if c.patternSize > maxPattern || c.Function() != "matches" {
		return
	}
	pattern, err := regexp.Compile(string(text))
	if err != nil {
		return
	}
	c.do = func(args []ref.Val) ref.Val {
		if s, ok := args[0].(types.String); ok {
			return types.Bool(pattern.MatchString(string(s)))
		}
		return types.MaybeNoSuchOverloadErr(args[0])
	}
}

// sizeOfPattern is how many instructions the regular expression of a call has; 0: it has none.
func (c *limitedCall) sizeOfPattern(args []ref.Val) int {
	if c.patternSize > 0 || !isPatternCall(c.Function()) || len(args) < 2 {
		return c.patternSize
	}
	text, _ := args[1].(types.String)
	return model.PatternSize(string(text))
}

// Args implements interpreter.InterpretableCall. The library must not see a pattern and match by
// itself.
func (c *limitedCall) Args() []interpreter.InterpretableV2 {
	args := slices.Clone(c.InterpretableCall.Args())
	if isPatternCall(c.Function()) && len(args) > 1 {
		args[1] = struct{ interpreter.InterpretableV2 }{args[1]}
	}
	return args
}

// Eval implements interpreter.Interpretable.
func (c *limitedCall) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (c *limitedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	nodes := c.InterpretableCall.Args()
	args := make([]ref.Val, len(nodes))
	var unknown *types.Unknown
	for i, node := range nodes {
		args[i] = node.Exec(frame)
		if types.IsError(args[i]) {
			return args[i]
		}
		unknown, _ = types.MaybeMergeUnknowns(args[i], unknown)
	}
	if unknown != nil {
		return unknown
	}
	steps := stepsOf(frame)
	pattern := c.sizeOfPattern(args)
	if pattern > maxPattern {
		return types.NewErr("has a regular expression of %d instructions, more than %d", pattern, maxPattern)
	}
	if !steps.takeSteps(callSteps(c.Function(), args, steps.left) + patternSteps(args, pattern)) {
		return types.WrapErr(errSteps)
	}
	return types.LabelErrNode(c.ID(), c.do(args))
}

// invokeOverload calls a function as the library does.
func invokeOverload(call interpreter.InterpretableCall, f *functions.Overload, args []ref.Val) ref.Val {
	if len(args) > 0 && f.OperandTrait != 0 && !args[0].Type().HasTrait(f.OperandTrait) {
		if receiver, ok := args[0].(traits.Receiver); ok {
			return receiver.Receive(call.Function(), call.OverloadID(), args[1:])
		}
		return types.NewErr("no such overload: %s", call.Function())
	}
	switch {
	case len(args) == 1 && f.Unary != nil:
		return f.Unary(args[0])
	case len(args) == 2 && f.Binary != nil:
		return f.Binary(args[0], args[1])
	case f.Function != nil:
		return f.Function(args...)
	}
	return types.NewErr("no such overload: %s", call.Function())
}

// flattenList copies a list that the library made as two lists one behind the other, each of which may be
// such a list again: finding an entry in many of them takes long.
func flattenList(v ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok || reflect.TypeOf(v) != concatenatedType() {
		return v
	}
	n, _ := list.Size().(types.Int)
	entries := make([]ref.Val, 0, n)
	for i := range n {
		entries = append(entries, list.Get(i))
	}
	return types.NewRefValList(types.DefaultTypeAdapter, entries)
}

var concatenatedType = sync.OnceValue(func() reflect.Type {
	one := types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{types.True})
	return reflect.TypeOf(one.Add(one))
})

// limitedConstructor is a list or map whose size is counted when it is made: what is in it is there
// already, and a large value in it many times is a large value.
type limitedConstructor struct {
	interpreter.InterpretableConstructor
}

// Eval implements interpreter.Interpretable.
func (c limitedConstructor) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (c limitedConstructor) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := c.InterpretableConstructor.Exec(frame)
	if steps := stepsOf(frame); !types.IsUnknownOrError(value) && !steps.takeSteps(valueSteps(value, steps.left)) {
		return types.WrapErr(errSteps)
	}
	return value
}
