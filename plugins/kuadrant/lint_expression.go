package kuadrant

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

var invalidExpression = model.Rule{ID: "InvalidExpression", Severities: []model.Severity{model.Error},
	Summary: "an expression that is evaluated for each request does not parse, for which the implementation does not enforce the policy",
	Fix:     "fix the expression"}

// findInvalidExpressions reports expressions about requests that are no CEL, for which the operator
// enforces nothing of a policy (InvalidCelExpression). What an expression may name is known where
// requests are, so that nothing but its form is judged.
func findInvalidExpressions(r *resolve.Resolution) []model.Problem {
	f := expressionChecker{faults: map[string]*common.Error{}}
	for _, k := range r.Kinds {
		if k.GroupKind.Group != vendorGroup ||
			!slices.Contains([]string{"AuthPolicy", "RateLimitPolicy", tokenRateLimitPolicy}, k.GroupKind.Kind) {
			continue
		}
		for _, owner := range k.Policies {
			f.owner = owner
			owner.Object.Body.Field("spec").Walk([]string{"spec"}, f.visitField)
		}
	}
	return f.found
}

// expressionChecker looks for the expressions of one policy after the other.
type expressionChecker struct {
	faults map[string]*common.Error // of those that were parsed: many policies say the same; nil: it has none
	owner  *policy.Policy
	found  []model.Problem
}

// visitField looks at the value at a path.
func (f *expressionChecker) visitField(key string, v model.Body, at []string) bool {
	if v.IsText() && (key == "predicate" || key == "expression") {
		f.checkExpression(v.Text(), at)
	}
	return key != "value" // which is data of the user's
}

func (f *expressionChecker) checkExpression(text string, at []string) {
	first := f.findFault(text)
	if first == nil {
		return
	}
	f.found = append(f.found,
		invalidExpression.NewProblem(
			"%s of %s is no CEL, which the operator reports as InvalidCelExpression: %q, column %d: %s",
			strings.Join(at, "."), f.owner.Ref(), text, first.Location.Column()+
				1, first.Message).At(f.owner.Object, at...))
}

// findFault is the first reason for which a text does not parse, nil if it does.
func (f *expressionChecker) findFault(text string) *common.Error {
	fault, known := f.faults[text]
	if !known {
		fault = expression.CheckSyntax(text)
		f.faults[text] = fault
	}
	return fault
}
