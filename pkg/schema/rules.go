package schema

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ruleTree is the validation rules of a schema by the parts that they are about. The rules of a
// part are compiled when the first object has it, because compiling all of them takes longer than a
// small input otherwise does; and values that met them are remembered, because large inputs repeat
// themselves. Only an object that breaks a rule is shown to the library as a whole, for what it
// says.
type ruleTree struct {
	schema *schema.Structural
	isRoot bool
	fields map[string]*ruleTree
	other  *ruleTree // the values of objects at keys that are no properties
	items  *ruleTree
	hasOwn bool // the part itself has rules

	compile sync.Once
	own     *ownRules // of the part itself

	lock sync.RWMutex
	met  map[string]int64 // the cost of values that met the rules, by their JSON
}

// How many values a part remembers, and how long they may be.
const (
	mostRemembered  = 4096
	longestRemember = 1024
)

// newRuleTree returns the rules of a schema; nil: it has none.
func newRuleTree(s *schema.Structural, isRoot bool) *ruleTree {
	if s == nil {
		return nil
	}
	t := &ruleTree{schema: s, isRoot: isRoot || s.XEmbeddedResource}
	t.hasOwn = len(s.XValidations) > 0 // allOf and its like have none in a structural schema
	t.items = newRuleTree(s.Items, false)
	if s.AdditionalProperties != nil {
		t.other = newRuleTree(s.AdditionalProperties.Structural, false)
	}
	for key := range s.Properties {
		property := s.Properties[key]
		if inner := newRuleTree(&property, false); inner != nil {
			if t.fields == nil {
				t.fields = map[string]*ruleTree{}
			}
			t.fields[key] = inner
		}
	}
	if !t.hasOwn && t.items == nil && t.other == nil && t.fields == nil {
		return nil
	}
	return t
}

// ruleRun is the evaluation of the rules for one object.
type ruleRun struct {
	ctx    context.Context //nolint:containedctx // of the one call
	budget int64           // of the API server's cost
	steps  *expression.Steps
	broken int // parts with rules that are not met
}

// isOver reports whether nothing that follows matters.
func (r *ruleRun) isOver() bool {
	return r.steps.Err() != nil || r.ctx.Err() != nil || r.broken > maxBroken
}

// judgeValue evaluates the rules for a value and all that is in it.
func (t *ruleTree) judgeValue(v any, run *ruleRun) {
	if t == nil || v == nil || run.isOver() {
		return
	}
	if t.hasOwn && !t.meetsOwn(v, run) {
		run.broken++
	}
	switch part := v.(type) {
	case map[string]any:
		for key, inner := range part {
			next := t.fields[key]
			if _, isProperty := t.schema.Properties[key]; !isProperty {
				next = t.other
			}
			next.judgeValue(inner, run)
		}
	case []any:
		for _, inner := range part {
			t.items.judgeValue(inner, run)
		}
	}
}

// meetsOwn reports whether a value meets the rules of the part itself.
func (t *ruleTree) meetsOwn(v any, run *ruleRun) bool {
	key := string(model.AppendJSON(nil, v))
	t.lock.RLock()
	cost, known := t.met[key]
	t.lock.RUnlock()
	if !known {
		t.compile.Do(func() { t.own = compileOwnRules(t.schema, t.isRoot) })
		var met bool
		if met, cost = t.own.areMet(run.ctx, v, run.steps); !met {
			return false
		}
		t.rememberMet(key, cost)
	}
	run.budget -= cost
	return run.budget > 0 // with nothing left, the library says whether it was enough
}

func (t *ruleTree) rememberMet(key string, cost int64) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if len(key) <= longestRemember && len(t.met) < mostRemembered {
		if t.met == nil {
			t.met = map[string]int64{}
		}
		t.met[key] = cost
	}
}

// Limits of the rules of one object: how many steps they may take, for how long at most, because
// that depends on the machine, and how many parts that break them are listed.
const (
	maxRuleSteps = 5_000_000
	ruleTime     = 10 * time.Second
	maxBroken    = 1_000
)

// longestList is how many entries the longest list or object in a value has.
func longestList(v any) int {
	longest := 0
	switch t := v.(type) {
	case map[string]any:
		longest = len(t)
		for _, inner := range t {
			longest = max(longest, longestList(inner))
		}
	case []any:
		longest = len(t)
		for _, inner := range t {
			longest = max(longest, longestList(inner))
		}
	}
	return longest
}

// hasRulesOfInput reports whether there are rules that whoever wrote the input may have written.
func (v *version) hasRulesOfInput() bool { return v.rules != nil && v.definition.release == nil }

// brokenRules returns what the API server says of the rules of a version that an object breaks, and
// how many steps that took. The error is why they cannot be judged.
func (v *version) brokenRules(content map[string]any) (errs apifield.ErrorList, steps int, failure error) {
	ctx, cancel := context.WithTimeout(context.Background(), ruleTime)
	defer cancel()
	run := &ruleRun{ctx: ctx, budget: celconfig.RuntimeCELCostBudget,
		steps: expression.NewTrackedSteps(maxRuleSteps, longestList(content))}
	v.rules.judgeValue(content, run)
	switch steps = run.steps.Taken(); {
	case run.steps.Err() != nil:
		return nil, steps, fmt.Errorf("evaluating them %w", run.steps.Err())
	case run.broken == 0 || ctx.Err() != nil:
		return nil, steps, ctx.Err()
	case run.broken > maxBroken:
		return apifield.ErrorList{apifield.Invalid(nil, apifield.OmitValueType{},
			fmt.Sprintf("more than %d of its values break validation rules: none is listed", maxBroken))}, steps, nil
	}
	v.compileAll.Do(func() { v.allRules = cel.NewValidator(v.structural, true, celconfig.PerCallLimit) })
	errs, left := v.allRules.Validate(ctx, nil, v.structural, content, nil, celconfig.RuntimeCELCostBudget)
	if left < 0 { // which other rules were evaluated before is random
		errs = apifield.ErrorList{apifield.Invalid(nil, apifield.OmitValueType{},
			"validation failed due to running out of cost budget, no further validation rules will be run")}
	}
	return errs, steps, ctx.Err()
}
