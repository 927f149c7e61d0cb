package gitops

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// patchApplication returns an Application as the template of a patch changes it: fields of maps are
// merged, and everything else takes the place of what was there.
func (g appSetGenerator) patchApplication(app map[string]any, patch string,
	set templateValues) (map[string]any, error) {
	if !g.template.goTemplate {
		return nil, errors.New("it patches its template, which takes Go templates")
	}
	text, err := g.template.fillText(patch, set)
	if err != nil {
		return nil, err
	}
	docs, failed := document.ParseManifests([]byte(text), g.workspace.limits)
	switch {
	case failed != nil:
		return nil, errors.New("the patch of its template is no YAML: " + failed.Message)
	case strings.Contains(text, "$patch") || strings.Contains(text, "$deleteFromPrimitiveList") ||
		strings.Contains(text, "$setElementOrder") || strings.Contains(text, "$retainKeys"):
		return nil, errors.New("the patch of its template has directives")
	}
	for _, doc := range docs {
		if fields, isMap := doc.Value.(map[string]any); isMap {
			app = mergePatch(app, fields)
		}
	}
	return app, nil
}

// mergePatch returns a map with the fields of another one, as a merge patch has it.
func mergePatch(into, patch map[string]any) map[string]any {
	out := make(map[string]any, len(into))
	for key, v := range into {
		out[key] = v
	}
	for key, v := range patch {
		fields, isMap := v.(map[string]any)
		before, _ := out[key].(map[string]any)
		switch {
		case v == nil:
			delete(out, key)
		case isMap:
			out[key] = mergePatch(before, fields)
		default:
			out[key] = v
		}
	}
	return out
}

// selectSets returns the sets of values that a selector of labels selects: each value is a label,
// called by its full name.
func selectSets(sets []templateValues, selector any) ([]templateValues, error) {
	var out []templateValues
	for _, set := range sets {
		labels := map[string]string{}
		addLabels(labels, "", map[string]any(set))
		selected, err := matchesSelector(selector, labels)
		if err != nil {
			return nil, err
		}
		if selected {
			out = append(out, set)
		}
	}
	return out, nil
}

// addLabels adds the values of a tree by their full names.
func addLabels(to map[string]string, name string, v any) {
	inner := func(key string) string {
		if name == "" {
			return key
		}
		return name + "." + key
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			addLabels(to, inner(key), value)
		}
	case []any:
		for i, value := range v {
			addLabels(to, inner(fmt.Sprint(i)), value)
		}
	default:
		to[name] = fmt.Sprint(v)
	}
}

// matchesSelector reports whether a selector selects labels.
func matchesSelector(selector any, labels map[string]string) (bool, error) {
	for key, value := range textMapAt(selector, "matchLabels") {
		if got, there := labels[key]; !there || got != value {
			return false, nil
		}
	}
	list, _ := model.Get(selector, "matchExpressions").([]any)
	for _, e := range list {
		got, there := labels[model.Text(e, "key")]
		isListed := there && slices.Contains(model.Texts(e, "values"), got)
		matches := false
		switch operator := model.Text(e, "operator"); operator {
		case "In":
			matches = isListed
		case "NotIn":
			matches = !isListed
		case "Exists":
			matches = there
		case "DoesNotExist":
			matches = !there
		default:
			return false, errors.New("the selector of a generator has the operator " + operator)
		}
		if !matches {
			return false, nil
		}
	}
	return true, nil
}
