package attach

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// ProblemsOf returns the problems of what is uncertain.
func ProblemsOf(doubts []policy.Uncertainty) []model.Problem {
	var out []model.Problem
	for _, d := range doubts {
		out = append(out, d.Problem)
	}
	return out
}
