package schema

import (
	"context"
	"math"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celmodel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiversion "k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	celgo "github.com/google/cel-go/cel"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
)

// ownRules are the rules of one part of a schema, without those of what is in it. They are the API
// server's, in its environment and at its cost, but for one thing: they are counted by steps, too,
// because the API server charges nothing for what some rules make.
type ownRules struct {
	schema   *schema.Structural // of the part, as rules see it
	compiled []cel.CompilationResult
	err      error
}

func compileOwnRules(s *schema.Structural, isRoot bool) *ownRules {
	out := &ownRules{schema: s}
	base, err := limitedEnvironment()
	if err != nil {
		return &ownRules{err: err}
	}
	out.compiled, out.err = cel.Compile(s, celmodel.SchemaDeclType(s, isRoot), celconfig.PerCallLimit, base,
		cel.StoredExpressionsEnvLoader())
	if isRoot {
		out.schema = celmodel.WithTypeAndObjectMeta(s)
	}
	return out
}

// limitedEnvironment is the API server's environment, with steps that are counted.
var limitedEnvironment = sync.OnceValues(func() (*environment.EnvSet, error) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	return base.Extend(environment.VersionedOptions{IntroducedVersion: apiversion.MajorMinor(1, 0),
		ProgramOptions: []celgo.ProgramOption{expression.LimitSteps(base.StoredExpressionsEnv())}})
})

// ruleVars are what rules of an object that is created see.
func ruleVars(self ref.Val, rule *schema.Structural, i int) map[string]any {
	vars := map[string]any{cel.ScopedVarName: self}
	if isOptional := rule.XValidations[i].OptionalOldSelf; isOptional != nil && *isOptional {
		vars[cel.OldScopedVarName] = types.OptionalNone
	}
	return vars
}

// areMet reports whether a value meets the rules, and what that costs the API server. What cannot be
// evaluated is not met. The messages of those that it does not meet are made, so that it is known
// that they can be.
func (r *ownRules) areMet(ctx context.Context, v any, steps *expression.Steps) (met bool, cost int64) {
	if r.err != nil {
		return false, 0
	}
	self := cel.UnstructuredToVal(v, r.schema)
	met = true
	for i, rule := range r.compiled {
		vars := ruleVars(self, r.schema, i)
		switch _, hasOld := vars[cel.OldScopedVarName]; {
		case rule.Error != nil:
			met = false
			continue
		case rule.Program == nil || rule.UsesOldSelf && !hasOld:
			continue
		}
		value, details, err := expression.Evaluate(ctx, rule.Program, vars, steps)
		cost += costOf(details)
		if err == nil && value == types.True {
			continue
		}
		met = false
		if err == nil && rule.MessageExpression != nil {
			_, _, _ = expression.Evaluate(ctx, rule.MessageExpression, vars, steps)
		}
	}
	return met, cost
}

func costOf(details *celgo.EvalDetails) int64 {
	if details == nil || details.ActualCost() == nil {
		return celconfig.RuntimeCELCostBudget
	}
	return int64(min(*details.ActualCost(), math.MaxInt32))
}
