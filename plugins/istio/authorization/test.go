package authorization

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// noteTests notes what a rule tells requests apart by: paths, methods and headers.
func (j *ruleEvaluator) noteTests(rule map[string]any) {
	add := func(t request.Test) {
		if !slices.Contains(j.Tests, t) {
			j.Tests = append(j.Tests, t)
		}
	}
	to, _ := rule["to"].([]any)
	for _, e := range to {
		for _, field := range []string{"paths", "notPaths"} {
			for _, text := range model.Texts(e, "operation", field) {
				if !strings.Contains(text, "{") {
					add(newTest(request.Test{Aspect: request.AspectPath}, text))
				}
			}
		}
		for _, field := range []string{"methods", "notMethods"} {
			for _, text := range model.Texts(e, "operation", field) {
				add(newTest(request.Test{Aspect: request.AspectMethod}, text))
			}
		}
	}
	when, _ := rule["when"].([]any)
	for _, c := range when {
		name, ok := strings.CutPrefix(model.Text(c, "key"), "request.headers[")
		if !ok {
			continue
		}
		for _, field := range []string{"values", "notValues"} {
			for _, text := range model.Texts(c, field) {
				add(newTest(request.Test{Aspect: request.AspectHeader, Name: strings.ToLower(strings.TrimSuffix(name, "]"))}, text))
			}
		}
	}
}

// newTest makes the test of a value: exact, by a prefix (x*), by a suffix (*x), or being there (*).
func newTest(t request.Test, text string) request.Test {
	switch {
	case text == "*":
		t.Form, t.Value = request.Expression, "^(?:(?s:.+))$"
	case strings.HasPrefix(text, "*"):
		t.Form, t.Value = request.Expression, "^(?:(?s:.*)"+regexp.QuoteMeta(text[1:])+")$"
	case strings.HasSuffix(text, "*"):
		t.Form, t.Value = request.Expression, "^(?:"+regexp.QuoteMeta(strings.TrimSuffix(text, "*"))+"(?s:.*))$"
	default:
		t.Value = text
	}
	return t
}
