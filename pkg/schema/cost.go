package schema

import (
	"fmt"
	"regexp/syntax"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// DefaultSteps is how much the schemas of one run may cost where the API server has no limit: a
// pattern costs its length, as a program, for each byte of a text, and unique items cost the square
// of their number. It stands for some seconds.
const DefaultSteps = 200_000_000

// ruleStepCost is how many of these steps one of a rule is.
const ruleStepCost = 10

// costMeter adds up what judging costs, before anything is judged.
type costMeter struct {
	maxSteps     int            // for all objects
	spent        int            // on all objects that are judged
	cost         int            // of the object at hand, capped where it is too much in any case
	patternCosts map[string]int // what each costs for one byte
	patternSizes map[string]int // of patterns that were charged for compiling
}

// canAfford reports whether an object can be judged within the budget; if so, it is charged for.
func (m *costMeter) canAfford(v *version, o *model.Object) bool {
	if v != nil && v.tooCostly {
		return false
	}
	if v == nil || v.structural == nil {
		return true
	}
	if e := o.Body.Extent(); v.definition.release != nil && e.Entries <= manySiblings && e.Text <= 1<<20 {
		return true // the patterns of the catalogue are short
	}
	m.cost = 0
	m.chargeValue(v.structural, o.Body.Value())
	if m.spent+m.cost > m.maxSteps {
		return false
	}
	m.spent += m.cost
	return true
}

func (m *costMeter) charge(steps int) { m.cost = min(m.cost+steps, m.maxSteps+1) }

// chargeValue charges for judging a value.
func (m *costMeter) chargeValue(s *schema.Structural, v any) {
	if s == nil {
		return
	}
	if s.ValueValidation != nil {
		m.chargeValidation(s.ValueValidation, v)
	}
	switch t := v.(type) {
	case map[string]any:
		m.chargeSiblings(len(t))
		for key, inner := range t {
			if p, ok := s.Properties[key]; ok {
				m.chargeValue(&p, inner)
			} else if s.AdditionalProperties != nil {
				m.chargeValue(s.AdditionalProperties.Structural, inner)
			}
		}
	case []any:
		m.chargeSiblings(len(t))
		for _, inner := range t {
			m.chargeValue(s.Items, inner)
		}
	}
}

// manySiblings is how many values next to each other cost nothing worth counting.
const manySiblings = 1 << 13

// chargeSiblings charges for many values next to each other: the library compares every mistake
// with those before it, and each of them may be one.
func (m *costMeter) chargeSiblings(n int) {
	if n > manySiblings {
		n = min(n, 1<<20)
		m.charge(n * n / 4)
	}
}

func (m *costMeter) chargeValidation(s *schema.ValueValidation, v any) {
	switch t := v.(type) {
	case string:
		m.charge(len(t) * m.patternCost(s.Pattern))
	case []any:
		if n := min(len(t), 1<<20); s.UniqueItems {
			m.charge(n * n)
		}
	}
	for _, list := range [][]schema.NestedValueValidation{s.AllOf, s.OneOf, s.AnyOf} {
		for i := range list {
			m.chargeNested(&list[i], v)
		}
	}
	m.chargeNested(s.Not, v)
}

func (m *costMeter) chargeNested(s *schema.NestedValueValidation, v any) {
	if s == nil {
		return
	}
	m.chargeValidation(&s.ValueValidation, v)
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range t {
			if p, ok := s.Properties[key]; ok {
				m.chargeNested(&p, inner)
			} else {
				m.chargeNested(s.AdditionalProperties, inner)
			}
		}
	case []any:
		for _, inner := range t {
			m.chargeNested(s.Items, inner)
		}
	}
}

// patternCost is what a pattern costs for one byte: the length of its program.
func (m *costMeter) patternCost(text string) int {
	if text == "" {
		return 0
	}
	if cost, ok := m.patternCosts[text]; ok {
		return cost
	}
	cost := 0
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			cost = len(program.Inst)
		}
	}
	if m.patternCosts == nil {
		m.patternCosts = map[string]int{}
	}
	m.patternCosts[text] = cost
	return cost
}

// notJudgedProblems returns the problem of objects that are not judged.
func notJudgedProblems(all []*model.Object, most int) []model.Problem {
	if len(all) == 0 {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf(
			"%s, this one first, %s not judged by the schema: patterns, lists of unique items and rules would take more than %d steps", formatObjectCount(len(all)), isOrAre(len(all)), most),
		Hint: "check fewer objects at once, raise --max-steps, or apply them with --dry-run=server"}.At(all[0])}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
