package schema

import (
	"context"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// judging is one object on its way through what the API server does when it is created.
type judging struct {
	*version
	object *model.Object
	whole  map[string]any
	found  []model.Problem
}

// judge takes an object the way of a request that creates it: fields that the schema does not have are dropped, then defaults are set, and
// what has become of it is validated.
func (v *version) judge(o *model.Object) []model.Problem {
	whole, ok := asWritten(o.Body.Value()).(map[string]any)
	if !v.usable || !ok {
		return nil
	}
	j := &judging{version: v, object: o, whole: whole}
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(whole, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		j.violation(apifield.Invalid(apifield.NewPath("metadata"), apifield.OmitValueType{}, err.Error()), "")
		return j.found
	}
	unknown = append(unknown, pruning.PruneWithOptions(whole, v.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(whole, v.structural)
	wrong, more := objectmeta.CoerceWithOptions(nil, whole, v.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	for _, path := range append(unknown, more...) {
		j.unknown(path)
	}
	if wrong != nil {
		j.violation(wrong, "")
		return j.found
	}
	if err := objectmeta.SetObjectMeta(whole, meta); err != nil {
		return j.found
	}
	defaulting.Default(whole, v.structural)
	if v.status { // only now, as in the API server: it has no default when it is validated
		delete(whole, "status")
	}
	meta.Namespace = ""
	if v.of.namespaced {
		meta.Namespace = "default"
		if o.Ref.Namespace != "" {
			meta.Namespace = o.Ref.Namespace
		}
	}
	j.validate(apivalidation.ValidateObjectMetaAccessor(meta, v.of.namespaced, apivalidation.NameIsDNSSubdomain, apifield.NewPath("metadata")))
	return j.found
}

// validate validates by the schema, and by its rules if nothing is wrong that keeps the API server from it. Before are the errors in the
// object's metadata.
func (j *judging) validate(before apifield.ErrorList) {
	errs := append(before, validation.ValidateCustomResource(nil, j.whole, j.values)...)
	errs = append(errs, objectmeta.Validate(nil, j.whole, j.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.structural, j.whole)...)
	all := slices.Clone(errs)
	errs = slices.DeleteFunc(errs, func(e *apifield.Error) bool { return saidAgain(e, all) })
	hint := ""
	if j.rules != nil && slices.ContainsFunc(errs, blocksRules) {
		hint = "validation rules are evaluated when this is mended; "
	}
	for _, e := range errs {
		j.violation(e, hint)
	}
	if j.rules == nil || hint != "" {
		return
	}
	errs, left := j.rules.Validate(context.Background(), nil, j.structural, j.whole, nil, celconfig.RuntimeCELCostBudget)
	if left < 0 { // which of the others were evaluated before is left to chance
		errs = apifield.ErrorList{apifield.Invalid(nil, apifield.OmitValueType{}, "validation failed due to running out of cost budget, no further validation rules will be run")}
	}
	for _, e := range errs {
		j.rule(e)
	}
}

// saidAgain reports whether an error says of a number, and of no place, what another says of its type.
func saidAgain(e *apifield.Error, all apifield.ErrorList) bool {
	return e.Field == "<nil>" && strings.HasPrefix(e.Detail, "Checked value must be of type ") && slices.ContainsFunc(all, func(other *apifield.Error) bool {
		return other.Type == apifield.ErrorTypeTypeInvalid && strings.HasSuffix(e.Detail, " in "+other.Field)
	})
}

// blocksRules reports whether the API server evaluates no rules beside an error.
func blocksRules(e *apifield.Error) bool {
	switch e.Type {
	case apifield.ErrorTypeNotSupported, apifield.ErrorTypeRequired, apifield.ErrorTypeTooLong, apifield.ErrorTypeTooMany, apifield.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// rule notes what a validation rule finds, or that it cannot be evaluated.
func (j *judging) rule(e *apifield.Error) {
	for _, broken := range []string{"rule compile error: ", "rule compiler initialization error: "} {
		if strings.HasPrefix(e.Detail, broken) {
			j.broken(e)
			return
		}
	}
	j.violation(e, "")
}

// broken notes a rule of the definition that does not compile: it says nothing about the object.
func (j *judging) broken(e *apifield.Error) {
	message, _, _ := strings.Cut(e.Detail, "\n") // below it there is a drawing
	if e.Field != "<nil>" {
		message = everyEntry(e.Field) + ": " + message
	}
	j.found = append(j.found, j.trouble(message, "the rule is not evaluated; the API server refuses the definition"))
}

// everyEntry is a path without the numbers and keys of the entries on it.
func everyEntry(path string) string {
	var out strings.Builder
	for {
		before, inner, more := strings.Cut(path, "[")
		out.WriteString(before)
		if !more {
			return out.String()
		}
		out.WriteString("[*]")
		_, path, _ = strings.Cut(inner, "]")
	}
}

func (j *judging) violation(e *apifield.Error, hint string) {
	path, message := e.Field, e.Error()
	if path == "<nil>" {
		path, message = "", e.ErrorBody()
	}
	p := model.Problem{Severity: model.Error, Code: model.SchemaViolation, Message: message, Hint: hint + "by version " + j.name + " of " + j.of.names()}.At(j.object)
	*p.Origin = j.object.OriginOf(fieldPath(j.object.Body, path)...)
	j.found = append(j.found, p)
}

func (j *judging) unknown(path string) {
	steps := fieldPath(j.object.Body, path)
	p := model.Problem{Severity: model.Warning, Code: model.UnknownField, Message: "unknown field \"" + path + "\": the API server drops it", Hint: j.near(steps)}.At(j.object)
	*p.Origin = j.object.OriginOf(steps...)
	j.found = append(j.found, p)
}

// asWritten gives numbers the types that they have when JSON is read: what is whole is an integer.
func asWritten(v any) any {
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range t {
			t[key] = asWritten(inner)
		}
	case []any:
		for i, inner := range t {
			t[i] = asWritten(inner)
		}
	case float64:
		if t == math.Trunc(t) && t >= math.MinInt64 && t < math.MaxInt64 {
			return int64(t)
		}
	}
	return v
}
