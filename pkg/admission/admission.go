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
	rules    []Rule
	compiled *expression.Rules
	fits     []Fit
	tree     fitTree // the same, by path
}

// Rule is a validation rule of the API.
type Rule struct {
	Rule    string // CEL over self
	Checked string // the same by expression.CheckAhead, or ""
	Message string // the API server's
	Refuses bool   // an object that breaks it cannot exist
}

// New makes a validation.
func New(rules []Rule, fits []Fit) *Validation {
	v := &Validation{rules: rules, fits: fits}
	var expressions []expression.Rule
	for _, r := range rules {
		expressions = append(expressions, expression.Rule{Text: r.Rule, Checked: r.Checked})
	}
	v.compiled = expression.NewRules(expressions...)
	for _, f := range fits {
		for _, path := range f.At {
			v.tree.add(path, f)
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
	var j judge
	j.all(&v.tree, few[:0], body)
	for _, i := range conditions.Broken(v.compiled, body, extent) {
		j.faults = append(j.faults, Fault{Message: refuses + v.rules[i].Message, Refuses: v.rules[i].Refuses, Rule: true})
	}
	return j.faults
}

// Drops reports whether the API server drops fields that it does not know of the object at a path.
func (v *Validation) Drops(at []string) bool {
	return v != nil && slices.ContainsFunc(v.fits, func(f Fit) bool {
		return f.Fields != nil && slices.ContainsFunc(f.At, func(p []string) bool { return slices.Equal(p, at) })
	})
}

const refuses = "the API server refuses it: "

// judge collects what is wrong with the fields of one object.
type judge struct{ faults []Fault }

// all judges v, which stands at a path, and what is in it.
func (j *judge) all(t *fitTree, at []string, v model.Body) {
	for i := range t.here {
		if !j.fit(&t.here[i], at, v) {
			return // what is in a value of another type is not what the schema speaks of
		}
	}
	if t.any == nil && t.below == nil {
		return
	}
	for key, inner := range v.Fields {
		if next := t.below[key]; next != nil {
			j.all(next, append(at, key), inner)
		}
		if t.any != nil {
			j.all(t.any, append(at, key), inner)
		}
	}
	if t.any == nil {
		return
	}
	for i, inner := range v.Items {
		j.all(t.any, append(at, fmt.Sprintf("[%d]", i)), inner)
	}
}

// fit judges the value at one path. It reports whether the value has the right type.
func (j *judge) fit(f *Fit, at []string, v model.Body) bool {
	switch {
	case f.Fields != nil:
		j.drops(f, at, v)
	case f.Required != nil && v.IsObject():
		for _, key := range f.Required {
			if v.Field(key).IsNull() {
				j.misfit(f, at, "%s.%s: Required value", pathText(at), key)
			}
		}
	case f.Values != nil && v.IsText() && !slices.Contains(f.Values, v.Text()):
		j.misfit(f, at, "%s: Unsupported value: %q: supported values: \"%s\"", pathText(at), v.Text(), strings.Join(f.Values, `", "`))
	case f.Pattern != nil && v.IsText() && !f.Pattern.MatchString(v.Text()):
		j.misfit(f, at, "%s: Invalid value: %q: %s in body should match '%s'", pathText(at), v.Text(), pathText(at), f.Pattern)
	case f.Type != "":
		if is := typeOf(v); is != f.Type && (f.Type != "number" || is != "integer") {
			path := pathText(at)
			j.misfit(f, at, "%s: Invalid value: %q: %s in body must be of type %s: %q", path, is, path, f.Type, is)
			return false
		}
	}
	return true
}

// misfit notes what the API server says of a value that it does not take.
func (j *judge) misfit(f *Fit, at []string, format string, args ...any) {
	j.faults = append(j.faults, Fault{At: slices.Clone(at), Message: fmt.Sprintf(refuses+format, args...), Refuses: f.Refuses})
}

// drops notes the fields of an object that the API does not have.
func (j *judge) drops(f *Fit, at []string, v model.Body) {
	for key := range v.Fields {
		if !slices.Contains(f.Fields, key) {
			message := fmt.Sprintf("the API server drops %s.%s, which it does not know", pathText(at), key)
			j.faults = append(j.faults, Fault{At: append(slices.Clone(at), key), Message: message, Drops: true})
		}
	}
}

// pathText is a path as the API server writes it: entries of lists in brackets.
func pathText(at []string) string { return strings.ReplaceAll(strings.Join(at, "."), ".[", "[") }

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
