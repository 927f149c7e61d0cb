package schema

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// splitFieldPath splits a path as the API server writes it (spec.rules[0].name, spec.labels[a.b])
// into steps into a body, as far as the body has it. Keys with dots in them are written as they
// are, so that the body has to tell where one ends: the longest that fits counts.
func splitFieldPath(b model.Body, path string) []string {
	var steps []string
	for path != "" {
		step, rest := cutStep(b, strings.TrimLeft(path, "."))
		if step == "" {
			break
		}
		steps, path = append(steps, step), rest
		b = b.At(step)
	}
	return steps
}

func cutStep(b model.Body, path string) (step, rest string) {
	if b.IsList() {
		number, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(number); err != nil || i < 0 || i >= b.Len() {
			return "", ""
		}
		return number, rest
	}
	for end := len(path); end > 0; end-- { // the body finds a key faster than it lists all
		plain := end == len(path) || path[end] == '.' || path[end] == '['
		if plain && b.Has(path[:end]) {
			return path[:end], path[end:]
		}
		if path[0] == '[' && path[end-1] == ']' && end > 2 && b.Has(path[1:end-1]) {
			return path[1 : end-1], path[end:]
		}
	}
	return "", ""
}

// suggestField proposes what the author of an unknown field may have meant: a field of another name
// at the same place, else the place where the schema has a field of that name.
func (v *version) suggestField(steps []string) string {
	if len(steps) == 0 {
		return ""
	}
	if v.goType != nil {
		return suggestBuiltInField(v.goType, steps)
	}
	at := v.structural
	for _, step := range steps[:len(steps)-1] {
		if at = schemaAt(at, step); at == nil {
			return ""
		}
	}
	name := steps[len(steps)-1]
	if near := form.Nearest(name, slices.Sorted(maps.Keys(at.Properties))); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	if places := findFields(v.structural, name, ""); len(places) > 0 && len(places) <= 2 {
		return "its place is " + strings.Join(places, " or ")
	}
	return ""
}

// schemaAt is the schema of the entry of a value at a key or an index, or nil.
func schemaAt(s *schema.Structural, step string) *schema.Structural {
	switch property, ok := s.Properties[step]; {
	case ok:
		return &property
	case s.Items != nil:
		return s.Items
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Structural
	}
	return nil
}

// findFields lists the places below a path where a schema has a field of the given name, those with
// the shortest paths only. What a status may have is no place.
func findFields(s *schema.Structural, name, path string) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		property, at := s.Properties[key], strings.TrimPrefix(path+"."+key, ".")
		switch {
		case at == "status" || at == "metadata":
		case key == name:
			out = append(out, at)
		default:
			out = append(out, findFields(&property, name, at)...)
		}
	}
	out = append(out, findFields(s.Items, name, path+"[]")...)
	if s.AdditionalProperties != nil {
		out = append(out, findFields(s.AdditionalProperties.Structural, name, path+".*")...)
	}
	least := math.MaxInt
	for _, at := range out {
		least = min(least, strings.Count(at, "."))
	}
	return slices.DeleteFunc(out, func(at string) bool { return strings.Count(at, ".") > least })
}

// suggestValue proposes the value that the author of one that is not supported may have meant, or
// returns "".
func suggestValue(e *apifield.Error) string {
	value, isText := e.BadValue.(string)
	if e.Type != apifield.ErrorTypeNotSupported || !isText {
		return ""
	}
	var known []string
	for rest := e.Detail; ; {
		_, after, found := strings.Cut(rest, "\"")
		text, next, closed := strings.Cut(after, "\"")
		if !found || !closed {
			break
		}
		known, rest = append(known, text), next
	}
	if near := form.Nearest(value, known); len(near) > 0 {
		return near[0]
	}
	return ""
}
