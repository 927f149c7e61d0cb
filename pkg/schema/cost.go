package schema

import (
	"fmt"
	"regexp/syntax"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// DefaultSteps is how much the schemas of one run may cost where the API server has no limit: a pattern costs its length, as a program, for each byte of a
// text, and unique items cost the square of their number. It stands for some seconds.
const DefaultSteps = 200_000_000

// meter adds up what judging costs, before anything is judged.
type meter struct {
	most     int            // for all objects
	spent    int            // on all objects that are judged
	cost     int            // of the object at hand, capped where it is too much in any case
	patterns map[string]int // what each costs for one byte
	sizes    map[string]int // of patterns that were charged for compiling
}

// affords reports whether an object can be judged within the budget; if so, it is charged for.
func (m *meter) affords(v *version, o *model.Object) bool {
	if v != nil && v.dear {
		return false
	}
	if v == nil || v.structural == nil {
		return true
	}
	m.cost = 0
	m.value(v.structural, o.Body.Value())
	if m.spent+m.cost > m.most {
		return false
	}
	m.spent += m.cost
	return true
}

func (m *meter) charge(steps int) { m.cost = min(m.cost+steps, m.most+1) }

// value charges for judging a value.
func (m *meter) value(s *schema.Structural, v any) {
	if s == nil {
		return
	}
	if s.ValueValidation != nil {
		m.validation(s.ValueValidation, v)
	}
	switch t := v.(type) {
	case map[string]any:
		m.crowd(len(t))
		for key, inner := range t {
			if p, ok := s.Properties[key]; ok {
				m.value(&p, inner)
			} else if s.AdditionalProperties != nil {
				m.value(s.AdditionalProperties.Structural, inner)
			}
		}
	case []any:
		m.crowd(len(t))
		for _, inner := range t {
			m.value(s.Items, inner)
		}
	}
}

// crowd charges for many values side by side: the library compares every mistake with those before it, and each of them may be one.
func (m *meter) crowd(n int) {
	const many = 1 << 13
	if n > many {
		n = min(n, 1<<20)
		m.charge(n * n / 4)
	}
}

func (m *meter) validation(s *schema.ValueValidation, v any) {
	switch t := v.(type) {
	case string:
		m.charge(len(t) * m.pattern(s.Pattern))
	case []any:
		if n := min(len(t), 1<<20); s.UniqueItems {
			m.charge(n * n)
		}
	}
	for _, list := range [][]schema.NestedValueValidation{s.AllOf, s.OneOf, s.AnyOf} {
		for i := range list {
			m.nested(&list[i], v)
		}
	}
	m.nested(s.Not, v)
}

func (m *meter) nested(s *schema.NestedValueValidation, v any) {
	if s == nil {
		return
	}
	m.validation(&s.ValueValidation, v)
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range t {
			if p, ok := s.Properties[key]; ok {
				m.nested(&p, inner)
			} else {
				m.nested(s.AdditionalProperties, inner)
			}
		}
	case []any:
		for _, inner := range t {
			m.nested(s.Items, inner)
		}
	}
}

// pattern is what a pattern costs for one byte: the length of its program.
func (m *meter) pattern(text string) int {
	if text == "" {
		return 0
	}
	if cost, ok := m.patterns[text]; ok {
		return cost
	}
	cost := 0
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			cost = len(program.Inst)
		}
	}
	if m.patterns == nil {
		m.patterns = map[string]int{}
	}
	m.patterns[text] = cost
	return cost
}

// unaffordable is the problem of objects that are not judged.
func unaffordable(all []*model.Object, most int) []model.Problem {
	if len(all) == 0 {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf("%s, this one first, %s not judged by the schema: patterns and lists of unique items would take more than %d steps", objects(len(all)), are(len(all)), most),
		Hint:    "check fewer objects at once, raise --max-steps, or apply them with --dry-run=server"}.At(all[0])}
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
