package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

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

// suggestField proposes fields that the schema has in place of an unknown one.
func (v *version) suggestField(steps []string) string {
	if len(steps) == 0 {
		return ""
	}
	at := v.structural
	for _, step := range steps[:len(steps)-1] {
		switch inner, ok := at.Properties[step]; {
		case ok:
			at = &inner
		case at.Items != nil:
			at = at.Items
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			at = at.AdditionalProperties.Structural
		default:
			return ""
		}
	}
	if near := form.Nearest(steps[len(steps)-1], slices.Sorted(maps.Keys(at.Properties))); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}
