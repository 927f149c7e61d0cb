package policy

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// BlockReader adds to the policy what a block says that is written in a form of the vendor's own.
// It returns false for all others: these are read as the descriptor says.
type BlockReader func(b *BlockInput) bool

// BlockInput is a block of defaults or overrides that is being read.
type BlockInput struct {
	Policy     *Policy
	Block      merge.BlockKind
	At         []string   // the path of the block
	Raw        model.Body // the block as it is written
	Spec       model.Body // the settings root of the policy
	Containers []string   // the fields that hold named rules

	// Condition compiles the condition at a path. One that cannot be used is a problem of the
	// policy, and never holds.
	Condition func(text string, at []string) merge.Condition
}

// Problem adds a warning about the field at a path to the policy.
func (b *BlockInput) Problem(code model.Code, at []string, format string, args ...any) *model.Problem {
	p := model.Problem{Severity: model.Warning, Code: code, Message: fmt.Sprintf(format, args...)}.At(b.Policy.Object,
		at...)
	b.Policy.Problems = append(b.Policy.Problems, p)
	return &b.Policy.Problems[len(b.Policy.Problems)-1]
}
