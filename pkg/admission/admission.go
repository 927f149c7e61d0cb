package admission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Validation is the validation of one API.
type Validation struct {
	rules       []Rule
	compiled    *expression.Rules
	schemaRules []SchemaRule
	byPath      schemaTree // the same, by path
}

// Rule is a validation rule of the API.
type Rule struct {
	Rule    string // CEL over self
	Checked string // the same by expression.CheckAhead, or ""
	Message string // the API server's
	Refuses bool   // an object that breaks it cannot exist
}

// New makes a validation.
func New(rules []Rule, fits []SchemaRule) *Validation {
	v := &Validation{rules: rules, schemaRules: fits}
	var expressions []expression.Rule
	for _, r := range rules {
		expressions = append(expressions, expression.Rule{Text: r.Rule, Checked: r.Checked})
	}
	v.compiled = expression.NewRules(expressions...)
	for _, f := range fits {
		for _, path := range f.At {
			v.byPath.addRule(path, f)
		}
	}
	return v
}

// Fault is something that the API server does not take as it is.
type Fault struct {
	At      []string // from the object's root; nil: the object as a whole
	Message string
	Refuses bool // the object cannot exist
	Drops   bool // the field is dropped, and all else is taken
	Rule    bool // it breaks a Rule
}

// Judge lists what is wrong with an object of the given extent, which has no nulls.
func (v *Validation) Judge(body model.Body, extent model.Extent, conditions *expression.Conditions) []Fault {
	var few [8]string
	var j judgement
	j.judgeAll(&v.byPath, few[:0], body)
	for _, i := range conditions.BrokenRules(v.compiled, body, extent) {
		j.faults = append(j.faults, Fault{Message: refusedPrefix + v.rules[i].Message, Refuses: v.rules[i].Refuses,
			Rule: true})
	}
	return j.faults
}

// DropsUnknownFields reports whether the API server drops fields that it does not know of the
// object at a path.
func (v *Validation) DropsUnknownFields(at []string) bool {
	return v != nil && slices.ContainsFunc(v.schemaRules, func(f SchemaRule) bool {
		return f.Fields != nil && slices.ContainsFunc(f.At, func(p []string) bool { return slices.Equal(p, at) })
	})
}

const refusedPrefix = "the API server refuses it: "

// judgement collects what is wrong with the fields of one object.
type judgement struct{ faults []Fault }

// judgeAll judges v, which stands at a path, and what is in it.
func (j *judgement) judgeAll(t *schemaTree, at []string, v model.Body) {
	for i := range t.rules {
		if !j.judgeValue(&t.rules[i], at, v) {
			return // what is in a value of another type is not what the schema speaks of
		}
	}
	if t.anyKey == nil && t.byKey == nil {
		return
	}
	for key, inner := range v.Fields {
		if next := t.byKey[key]; next != nil {
			j.judgeAll(next, append(at, key), inner)
		}
		if t.anyKey != nil {
			j.judgeAll(t.anyKey, append(at, key), inner)
		}
	}
	if t.anyKey == nil {
		return
	}
	for i, inner := range v.Items {
		j.judgeAll(t.anyKey, append(at, fmt.Sprintf("[%d]", i)), inner)
	}
}

// judgeValue judges the value at one path. It reports whether the value has the right type.
func (j *judgement) judgeValue(f *SchemaRule, at []string, v model.Body) bool {
	switch {
	case f.Fields != nil:
		j.addDropped(f, at, v)
	case f.Required != nil && v.IsObject():
		for _, key := range f.Required {
			if v.Field(key).IsNull() {
				j.addMisfit(f, at, "%s.%s: Required value", formatPath(at), key)
			}
		}
	case f.Values != nil && v.IsText() && !slices.Contains(f.Values, v.Text()):
		j.addMisfit(f, at, "%s: Unsupported value: %q: supported values: \"%s\"", formatPath(at), v.Text(),
			strings.Join(f.Values, `", "`))
	case f.Pattern != nil && v.IsText() && !f.Pattern.MatchString(v.Text()):
		j.addMisfit(f, at, "%s: Invalid value: %q: %s in body should match '%s'", formatPath(at), v.Text(),
			formatPath(at), f.Pattern)
	case f.Type != "":
		if is := typeOf(v); is != f.Type && (f.Type != "number" || is != "integer") {
			path := formatPath(at)
			j.addMisfit(f, at, "%s: Invalid value: %q: %s in body must be of type %s: %q", path, is, path, f.Type, is)
			return false
		}
	}
	return true
}

// addMisfit notes what the API server says of a value that it does not take.
func (j *judgement) addMisfit(f *SchemaRule, at []string, format string, args ...any) {
	j.faults = append(j.faults, Fault{At: slices.Clone(at), Message: fmt.Sprintf(refusedPrefix+format, args...),
		Refuses: f.Refuses})
}

// addDropped notes the fields of an object that the API does not have.
func (j *judgement) addDropped(f *SchemaRule, at []string, v model.Body) {
	for key := range v.Fields {
		if !slices.Contains(f.Fields, key) {
			message := fmt.Sprintf("the API server drops %s.%s, which it does not know", formatPath(at), key)
			j.faults = append(j.faults, Fault{At: append(slices.Clone(at), key), Message: message, Drops: true})
		}
	}
}

// formatPath returns a path as the API server writes it: entries of lists in brackets.
func formatPath(at []string) string { return strings.ReplaceAll(strings.Join(at, "."), ".[", "[") }

// typeOf is the JSON type of a value.
func typeOf(b model.Body) string {
	switch {
	case b.IsObject():
		return "object"
	case b.IsList():
		return "array"
	}
	switch b.Value().(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	}
	return "null"
}
