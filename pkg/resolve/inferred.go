package resolve

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// inferredProblems marks the answers about a kind whose ways are inferred in part.
func inferredProblems(k *Kind) []model.Problem {
	if k.Inferred == "" || len(k.Policies) == 0 {
		return nil
	}
	return []model.Problem{{Severity: model.Info, Code: model.Inferred, Ref: k.AllPoliciesRef(),
		Message: fmt.Sprintf("%s: inferred: %s", k.Name(), k.Inferred)}}
}
