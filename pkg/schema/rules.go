package schema

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// ruleSet is the validation rules of a version, compiled for the parts of the schema that objects
// have: compiling all of them takes longer than a small input otherwise does.
type ruleSet struct {
	lock      sync.Mutex
	parts     *schemaParts // that the validator has the rules of
	validator *cel.Validator
}

// rulesFor returns the validator with the rules of the given parts; nil: there are none.
func (v *version) rulesFor(parts *schemaParts) *cel.Validator {
	r := &v.rules
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.parts == nil || !r.parts.hasAll(parts) {
		if r.parts == nil {
			r.parts = &schemaParts{}
		}
		r.parts.addAll(parts)
		reduced := v.structural.DeepCopy()
		keepRules(reduced, r.parts)
		r.validator = cel.NewValidator(reduced, true, celconfig.PerCallLimit)
	}
	return r.validator
}

// schemaParts is parts of a schema, as a tree.
type schemaParts struct {
	fields map[string]*schemaParts
	other  *schemaParts // the entries of lists, and of objects at keys that are no properties
}

// addValue adds the parts of a schema that a value has.
func (p *schemaParts) addValue(s *schema.Structural, v any) {
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range t {
			if property, ok := s.Properties[key]; ok {
				p.field(key).addValue(&property, inner)
			} else if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
				p.others().addValue(s.AdditionalProperties.Structural, inner)
			}
		}
	case []any:
		if s.Items == nil {
			return
		}
		for _, inner := range t {
			p.others().addValue(s.Items, inner)
		}
	}
}

func (p *schemaParts) field(key string) *schemaParts {
	if p.fields == nil {
		p.fields = map[string]*schemaParts{}
	}
	if p.fields[key] == nil {
		p.fields[key] = &schemaParts{}
	}
	return p.fields[key]
}

func (p *schemaParts) others() *schemaParts {
	if p.other == nil {
		p.other = &schemaParts{}
	}
	return p.other
}

func (p *schemaParts) addAll(more *schemaParts) {
	for key, inner := range more.fields {
		p.field(key).addAll(inner)
	}
	if more.other != nil {
		p.others().addAll(more.other)
	}
}

// hasAll reports whether all other parts are among these.
func (p *schemaParts) hasAll(other *schemaParts) bool {
	if other == nil {
		return true
	}
	if p == nil {
		return false
	}
	for key, inner := range other.fields {
		if !p.fields[key].hasAll(inner) {
			return false
		}
	}
	return p.other.hasAll(other.other)
}

// keepRules removes the rules of all other parts from a schema.
func keepRules(s *schema.Structural, parts *schemaParts) {
	if s == nil {
		return
	}
	var none schemaParts
	if parts == nil {
		s.XValidations, parts = nil, &none
	}
	keepRules(s.Items, parts.other)
	if s.AdditionalProperties != nil {
		keepRules(s.AdditionalProperties.Structural, parts.other)
	}
	for key, property := range s.Properties {
		keepRules(&property, parts.fields[key])
		s.Properties[key] = property
	}
}

// hasRules reports whether a schema has rules anywhere.
func hasRules(s *schema.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || hasRules(s.Items) ||
		s.AdditionalProperties != nil && hasRules(s.AdditionalProperties.Structural) {
		return true
	}
	for _, property := range s.Properties {
		if hasRules(&property) {
			return true
		}
	}
	return false
}
