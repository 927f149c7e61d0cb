package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Judges are what vendors know about requests beside the policies in force: who decides about them,
// and what policies keep out.
type Judges struct {
	Evaluators evaluate.Evaluators
	Points     point.Vendors
	Gates      protect.Functions
	Assume     protect.Assumptions
	Effects    []ingress.EffectReader // what policies and filters do to requests
	// Equivalents are what implementations, by name, have for features of other proxies.
	Equivalents map[string]ingress.Equivalents
}

// NewJudge returns what judges how the requests of an input are protected.
func (j Judges) NewJudge(r *resolve.Resolution) *protect.Judge {
	return protect.NewJudge(r, j.Gates, j.Assume)
}

// Input is one side of a comparison.
type Input struct {
	Resolution *resolve.Resolution
	Matcher    *request.Matcher // that tells requests apart
	Judges     Judges
}
