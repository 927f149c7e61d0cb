package check

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// lintRules are the findings about policies that have no effect.
var lintRules []Rule

// Lint looks for policies that have no effect.
func Lint(*resolve.Resolution) []model.Problem { return nil }
