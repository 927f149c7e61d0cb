package schema

import (
	"fmt"
	"reflect"
	"regexp/syntax"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// DefaultSteps is how much the schemas of one run may cost where the API server has no limit: a
// pattern costs its length, as a program, for each byte of a text, and unique items cost the square
// of their number. It stands for some seconds.
const DefaultSteps = 200_000_000

// ruleStepCost is how many of these steps one of a rule is.
const ruleStepCost = 16

// costMeter adds up what judging costs, before anything is judged.
type costMeter struct {
	maxSteps     int                          // for all objects
	spent        int                          // on all objects that are judged
	cost         int                          // of the object at hand, capped where it is too much in any case
	patternCosts map[string]int               // what each costs for one byte
	patternSizes map[string]int               // of patterns that were charged for compiling
	enums        map[*schema.JSON]*enumValues // by the first value: schemas are copied, lists are not
	defaults     int                          // keys and values that defaults add
	path         int                          // bytes of the path to the value at hand
	mistakes     int                          // values of the object at hand that may be mistakes
}

// refusal is why an object is not judged.
type refusal int

const (
	affordable refusal = iota
	tooManySteps
	tooManyDefaults
)

// chargeObject says whether an object can be judged within the budget; if so, it is charged for.
func (m *costMeter) chargeObject(v *version, o *model.Object) refusal {
	if v != nil && v.tooCostly {
		return tooManySteps
	}
	if v == nil || v.structural == nil {
		return affordable
	}
	if e := o.Body.Extent(); v.definition.release != nil && e.Entries <= manySiblings && e.Text <= 1<<20 && e.Key <= longPath {
		return affordable // the patterns of the catalogue are short
	}
	content := o.Body.Value()
	if v.definition.release == nil {
		added, ok := m.countDefaults(v, content)
		if !ok {
			return tooManyDefaults
		}
		if added > 0 {
			defaulting.Default(content, v.structural)
		}
	}
	m.cost, m.path, m.mistakes = 0, 0, 0
	m.chargeValue(v.structural, content)
	m.chargeSiblings(m.mistakes)
	if m.spent+m.cost > m.maxSteps {
		return tooManySteps
	}
	m.spent += m.cost
	return affordable
}

func (m *costMeter) charge(steps int) { m.cost = min(m.cost+steps, m.maxSteps+1) }

// chargeValue charges for judging a value.
func (m *costMeter) chargeValue(s *schema.Structural, v any) {
	if s == nil || m.cost > m.maxSteps {
		return
	}
	if mayBeMistake(s, v) {
		m.mistakes++
	}
	if s.ValueValidation != nil {
		m.chargeValidation(s.ValueValidation, v)
	}
	switch t := v.(type) {
	case map[string]any:
		m.chargeSiblings(len(t))
		before := m.path
		defer func() { m.path = before }()
		for key, inner := range t {
			if m.path = before + len(key); m.path > longPath { // any of the values may have it in a message
				m.charge(messageCost * m.path)
			}
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

// longPath is up to which length paths cost nothing worth counting, in bytes.
const longPath = 1 << 10

// mayBeMistake reports whether a value is not what a schema asks for, as far as that is seen at once: it
// is of another type, lacks something, or has to be looked at more closely.
func mayBeMistake(s *schema.Structural, v any) bool {
	if rest := s.ValueValidation; rest != nil {
		looks := *rest
		looks.Enum, looks.Required = nil, nil
		if !reflect.DeepEqual(looks, schema.ValueValidation{}) {
			return true
		}
		object, _ := v.(map[string]any)
		for _, name := range rest.Required {
			if _, found := object[name]; !found {
				return true
			}
		}
	}
	switch v.(type) {
	case nil:
		return !s.Nullable
	case string:
		return s.Type != "string" && s.Type != "" && !s.XIntOrString
	case bool:
		return s.Type != "boolean" && s.Type != ""
	case []any:
		return s.Type != "array" && s.Type != ""
	case map[string]any:
		return s.Type != "object" && s.Type != ""
	}
	return s.Type != "integer" && s.Type != "number" && s.Type != "" && !s.XIntOrString
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
	if len(s.Enum) > 0 {
		m.chargeEnum(s, v)
	}
	switch t := v.(type) {
	case string:
		m.charge(len(t)*m.patternCost(s.Pattern) + messageCost*len(s.Pattern))
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

// What messages cost for each byte of the schema in them, and looking a value up in a list for each of
// those in there.
const (
	messageCost = 4
	enumCost    = 4
)

// enumValues are the values of a list, by their JSON, and how long they are together.
type enumValues struct {
	known map[string]bool
	size  int
}

func (m *costMeter) readEnum(s *schema.ValueValidation) *enumValues {
	if out := m.enums[&s.Enum[0]]; out != nil {
		return out
	}
	out := &enumValues{known: make(map[string]bool, len(s.Enum))}
	for _, one := range s.Enum {
		text := model.AppendJSON(nil, one.Object)
		out.known[string(text)] = true
		out.size += len(text) + len(", ")
	}
	if m.enums == nil {
		m.enums = map[*schema.JSON]*enumValues{}
	}
	m.enums[&s.Enum[0]] = out
	return out
}

// chargeEnum charges for looking a value up in a list, and for a message that has all of the list where
// it is not in there.
func (m *costMeter) chargeEnum(s *schema.ValueValidation, v any) {
	m.charge(enumCost * len(s.Enum))
	if values := m.readEnum(s); !values.known[string(model.AppendJSON(nil, v))] {
		m.charge(messageCost * values.size)
	}
}

func (m *costMeter) chargeNested(s *schema.NestedValueValidation, v any) {
	if s == nil || m.cost > m.maxSteps {
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
