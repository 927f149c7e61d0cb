package expression

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// countAttribute counts a variable or a field. Every loop has one, or a call. What has(…) asks for is
// another attribute than what it asks it of: the library must know it again, for its cost.
func countAttribute(a interpreter.InterpretableAttribute) interpreter.InterpretableV2 {
	if a.ID() != a.Attr().ID() {
		return a
	}
	return countedAttribute{a}
}

// countedAttribute is a variable or a field of one.
type countedAttribute struct {
	interpreter.InterpretableAttribute
}

// AddQualifier implements interpreter.Attribute.
func (a countedAttribute) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	_, err := a.InterpretableAttribute.AddQualifier(q)
	return a, err
}

// Eval implements interpreter.Interpretable.
func (a countedAttribute) Eval(vars interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (a countedAttribute) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return countOne(frame, a.InterpretableAttribute)
}

// countedCall is a call that takes no longer for large arguments.
type countedCall struct {
	interpreter.InterpretableCall
}

// Eval implements interpreter.Interpretable.
func (c countedCall) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (c countedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return countOne(frame, c.InterpretableCall)
}

func countOne(frame *interpreter.ExecutionFrame, node interpreter.InterpretableV2) ref.Val {
	if !stepsOf(frame).takeSteps(1) {
		return types.WrapErr(errSteps)
	}
	return node.Exec(frame)
}
