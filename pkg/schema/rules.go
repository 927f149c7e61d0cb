package schema

import (
	"context"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

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

	compile   sync.Once
	validator *cel.Validator // of the part itself

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

// compileOwnRules returns the validator of the part itself, without what is in it.
func (t *ruleTree) compileOwnRules() *cel.Validator {
	t.compile.Do(func() {
		s := t.schema.DeepCopy()
		removeRules(s.Items)
		if s.AdditionalProperties != nil {
			removeRules(s.AdditionalProperties.Structural)
		}
		removeRulesOfProperties(s)
		t.validator = cel.NewValidator(s, t.isRoot, celconfig.PerCallLimit)
	})
	return t.validator
}

// removeRules removes all rules of a schema.
func removeRules(s *schema.Structural) {
	if s == nil {
		return
	}
	s.XValidations = nil
	removeRules(s.Items)
	if s.AdditionalProperties != nil {
		removeRules(s.AdditionalProperties.Structural)
	}
	removeRulesOfProperties(s)
}

func removeRulesOfProperties(s *schema.Structural) {
	for key, property := range s.Properties {
		removeRules(&property)
		s.Properties[key] = property
	}
}

// isMet reports whether a value meets all rules, at a cost that is taken off the budget.
func (t *ruleTree) isMet(v any, budget *int64) bool {
	if t == nil || v == nil {
		return true
	}
	if t.hasOwn && !t.meetsOwn(v, budget) {
		return false
	}
	switch part := v.(type) {
	case map[string]any:
		for key, inner := range part {
			next := t.fields[key]
			if _, isProperty := t.schema.Properties[key]; !isProperty {
				next = t.other
			}
			if !next.isMet(inner, budget) {
				return false
			}
		}
	case []any:
		for _, inner := range part {
			if !t.items.isMet(inner, budget) {
				return false
			}
		}
	}
	return true
}

// meetsOwn reports whether a value meets the rules of the part itself.
func (t *ruleTree) meetsOwn(v any, budget *int64) bool {
	key := string(model.AppendJSON(nil, v))
	t.lock.RLock()
	cost, known := t.met[key]
	t.lock.RUnlock()
	if !known {
		errs, left := t.compileOwnRules().Validate(context.Background(), nil, t.schema, v, nil,
			celconfig.RuntimeCELCostBudget)
		if len(errs) > 0 || left < 0 {
			return false
		}
		cost = celconfig.RuntimeCELCostBudget - left
		t.rememberMet(key, cost)
	}
	*budget -= cost
	return *budget > 0 // with nothing left, the library says whether it was enough
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

// brokenRules returns what the API server says of the rules of a version that an object breaks.
func (v *version) brokenRules(content map[string]any) apifield.ErrorList {
	budget := int64(celconfig.RuntimeCELCostBudget)
	if v.rules.isMet(content, &budget) {
		return nil
	}
	v.compileAll.Do(func() { v.allRules = cel.NewValidator(v.structural, true, celconfig.PerCallLimit) })
	errs, left := v.allRules.Validate(context.Background(), nil, v.structural, content, nil,
		celconfig.RuntimeCELCostBudget)
	if left < 0 { // which other rules were evaluated before is random
		errs = apifield.ErrorList{apifield.Invalid(nil, apifield.OmitValueType{},
			"validation failed due to running out of cost budget, no further validation rules will be run")}
	}
	return errs
}
