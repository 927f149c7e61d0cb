package schema

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// How many keys and values the defaults of a schema may add to one object, and to all of a run. Long
// texts count as several.
const (
	maxDefaults    = 100_000
	maxAllDefaults = 2_000_000
	textOfOneValue = 64 // bytes
)

// defaultCounter counts what the defaults of a schema add to a value, up to a limit: one default may
// have further ones in it, in each entry of a list.
type defaultCounter struct{ added, most int }

func (c *defaultCounter) isFull() bool { return c.added > c.most }

// addDefault counts a default, and what is added to it in turn.
func (c *defaultCounter) addDefault(s *schema.Structural) {
	c.countValue(s.Default.Object)
	c.visitValue(s, s.Default.Object)
}

func (c *defaultCounter) countValue(v any) {
	if c.isFull() {
		return
	}
	c.added++
	switch t := v.(type) {
	case string:
		c.added += len(t) / textOfOneValue
	case map[string]any:
		for key, inner := range t {
			c.added += 1 + len(key)/textOfOneValue
			c.countValue(inner)
		}
	case []any:
		for _, inner := range t {
			c.countValue(inner)
		}
	}
}

// visitValue counts what is added to a value.
func (c *defaultCounter) visitValue(s *schema.Structural, v any) {
	if s == nil || c.isFull() {
		return
	}
	switch t := v.(type) {
	case map[string]any:
		for key := range s.Properties {
			property := s.Properties[key]
			if inner, found := t[key]; found && !takesDefault(inner, &property) {
				c.visitValue(&property, inner)
			} else if property.Default.Object != nil {
				c.added += 1 + len(key)/textOfOneValue
				c.addDefault(&property)
			}
		}
		if s.AdditionalProperties != nil {
			for key, inner := range t {
				if _, isProperty := s.Properties[key]; !isProperty {
					c.visitEntry(s.AdditionalProperties.Structural, inner)
				}
			}
		}
	case []any:
		for _, inner := range t {
			c.visitEntry(s.Items, inner)
		}
	}
}

// visitEntry counts what is added to an entry of a list or a map, or in its place.
func (c *defaultCounter) visitEntry(s *schema.Structural, v any) {
	if s != nil && takesDefault(v, s) {
		c.addDefault(s)
		return
	}
	c.visitValue(s, v)
}

// takesDefault reports whether a null is replaced by the default.
func takesDefault(v any, s *schema.Structural) bool {
	return v == nil && s != nil && !s.Nullable && s.Default.Object != nil
}

// countDefaults counts what defaults add to an object, and reports whether that is within the limits.
func (m *costMeter) countDefaults(v *version, content any) (added int, ok bool) {
	c := defaultCounter{most: min(maxDefaults, maxAllDefaults-m.defaults)}
	c.visitValue(v.structural, content)
	if c.isFull() {
		return 0, false
	}
	m.defaults += c.added
	return c.added, true
}

// tooManyDefaultsProblems returns the problem of objects that are not judged because of what is added
// to them.
func tooManyDefaultsProblems(all []*model.Object) []model.Problem {
	if len(all) == 0 {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf("%s, this one first, %s not judged by the schema: its defaults would add more than "+
			"%d keys and values to one, or %d to all", formatObjectCount(len(all)), isOrAre(len(all)), maxDefaults,
			maxAllDefaults),
		Hint: "make the defaults of the definition smaller, or check fewer objects at once"}.At(all[0])}
}
