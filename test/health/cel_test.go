package health

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// expressions is an entry of spec.healthCheckExprs of a Flux Kustomization.
type expressions struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

// environment is that of Flux (github.com/fluxcd/pkg/runtime/cel, NewExpression): expressions are
// parsed and not checked.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders())
})

var programs sync.Map // by text

func compileExpression(text string) (cel.Program, error) {
	if have, ok := programs.Load(text); ok {
		return have.(cel.Program), nil
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	parsed, issues := env.Parse(text)
	if issues != nil {
		return nil, issues.Err()
	}
	out, err := env.Program(parsed, cel.EvalOptions(cel.OptOptimize), cel.InterruptCheckFrequency(100))
	if err == nil {
		programs.Store(text, out)
	}
	return out, err
}

// runCEL asks the expressions in the order of Flux (StatusEvaluator.Evaluate): a status about another
// generation is in progress; else the first expression that is true counts, and none is in progress.
// An error means for Flux that the status is unknown, and it goes on waiting.
func runCEL(e expressions, object map[string]any) (string, error) {
	observed, ok, err := unstructured.NestedInt64(object, "status", "observedGeneration")
	if err == nil && ok {
		generation, ok, err := unstructured.NestedInt64(object, "metadata", "generation")
		if err == nil && ok && observed != generation {
			return progressing, nil
		}
	}
	for _, one := range []struct{ text, means string }{{e.InProgress, progressing}, {e.Failed, degraded},
		{e.Current, healthy}} {
		program, err := compileExpression(one.text)
		if err != nil {
			return "", fmt.Errorf("%w in\n%s", err, one.text)
		}
		value, _, err := program.Eval(object)
		if err != nil {
			return "", err
		}
		yes, ok := value.(types.Bool)
		if !ok {
			return "", fmt.Errorf("the expression is no boolean:\n%s", one.text)
		}
		if yes {
			return one.means, nil
		}
	}
	return progressing, nil
}
