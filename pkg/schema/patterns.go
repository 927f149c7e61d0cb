package schema

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// compileSteps is what compiling one instruction of a pattern costs, in steps of matching.
const compileSteps = 50

// canCompile charges for compiling the patterns of a version's schema, each text once, but for
// those in alternatives, which the library compiles one by one; it reports false if that is too
// much.
func (m *costMeter) canCompile(v *version) bool {
	m.cost = 0
	m.chargePatterns(v.body.At("schema", "openAPIV3Schema"), false)
	if m.spent+m.cost > m.maxSteps {
		return false
	}
	m.spent += m.cost
	return true
}

func (m *costMeter) chargePatterns(s model.Body, alternative bool) {
	if m.cost > m.maxSteps {
		return
	}
	for _, inner := range s.Items {
		m.chargePatterns(inner, alternative)
	}
	for key, inner := range s.Fields {
		if key != "pattern" || !inner.IsText() {
			m.chargePatterns(inner, alternative || key == "allOf" || key == "anyOf" || key == "oneOf" || key == "not")
			continue
		}
		text := inner.Text()
		if _, known := m.patternSizes[text]; known && !alternative {
			continue
		}
		if m.patternSizes == nil {
			m.patternSizes = map[string]int{}
		}
		if _, known := m.patternSizes[text]; !known {
			m.patternSizes[text] = model.PatternSize(text)
		}
		m.charge(compileSteps * m.patternSizes[text])
	}
}

// withUniquePatterns has a schema validated. The library compiles every pattern that it meets:
// equal ones are shown to it once.
func withUniquePatterns(s *schema.Structural, validate func()) {
	seen, taken := map[string]bool{}, map[*schema.ValueValidation]string{}
	hideRepeatedPatterns(s, seen, taken)
	validate()
	for v, text := range taken {
		v.Pattern = text
	}
}

func hideRepeatedPatterns(s *schema.Structural, seen map[string]bool, taken map[*schema.ValueValidation]string) {
	if s == nil {
		return
	}
	if v := s.ValueValidation; v != nil && v.Pattern != "" {
		if seen[v.Pattern] {
			taken[v], v.Pattern = v.Pattern, ""
		} else {
			seen[v.Pattern] = true
		}
	}
	hideRepeatedPatterns(s.Items, seen, taken)
	if s.AdditionalProperties != nil {
		hideRepeatedPatterns(s.AdditionalProperties.Structural, seen, taken)
	}
	for key := range s.Properties {
		p := s.Properties[key]
		hideRepeatedPatterns(&p, seen, taken)
	}
}
