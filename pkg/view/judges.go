package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Judges are what vendors know about requests beside the policies in force: who decides about them, and what policies keep out.
type Judges struct {
	Evaluators request.Evaluators
	Gates      protect.Functions
	Assume     protect.Assumptions
}

// protection makes what tells what requests of an input are protected by.
func (j Judges) protection(r *resolve.Resolution) *protect.Judge {
	return protect.NewJudge(r, j.Gates, j.Assume)
}
