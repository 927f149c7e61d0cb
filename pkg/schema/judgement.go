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

// objectJudgement is one object on its way through what the API server does when it is created.
type objectJudgement struct {
	*version
	object         *model.Object
	content        map[string]any
	objectProblems []model.Problem
}

// judgeObject takes an object the way of a request that creates it: fields that the schema does not
// have are dropped, then defaults are set, and what has become of it is validated.
func (v *version) judgeObject(o *model.Object) []model.Problem {
	whole, ok := normalizeNumbers(o.Body.Value()).(map[string]any)
	if !v.usable || !ok {
		return nil
	}
	j := &objectJudgement{version: v, object: o, content: whole}
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(whole,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		j.addViolation(apifield.Invalid(apifield.NewPath("metadata"), apifield.OmitValueType{}, err.Error()), "")
		return j.objectProblems
	}
	unknown = append(unknown, pruning.PruneWithOptions(whole, v.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(whole, v.structural)
	wrong, more := objectmeta.CoerceWithOptions(nil, whole, v.structural, false,
		objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	for _, path := range append(unknown, more...) {
		j.addUnknownField(path)
	}
	if wrong != nil {
		j.addViolation(wrong, "")
		return j.objectProblems
	}
	if err := objectmeta.SetObjectMeta(whole, meta); err != nil {
		return j.objectProblems
	}
	defaulting.Default(whole, v.structural)
	if v.dropsStatus { // only now, as in the API server: it has no default when it is validated
		delete(whole, "status")
	}
	meta.Namespace = ""
	if v.definition.namespaced {
		meta.Namespace = "default"
		if o.Ref.Namespace != "" {
			meta.Namespace = o.Ref.Namespace
		}
	}
	j.validateContent(apivalidation.ValidateObjectMetaAccessor(meta, v.definition.namespaced,
		apivalidation.NameIsDNSSubdomain, apifield.NewPath("metadata")))
	return j.objectProblems
}

// validateContent validates by the schema, and by its rules if nothing is wrong that keeps the API
// server from it. Before are the errors in the object's metadata.
func (j *objectJudgement) validateContent(before apifield.ErrorList) {
	errs := append(before, validation.ValidateCustomResource(nil, j.content, j.validator)...)
	errs = append(errs, objectmeta.Validate(nil, j.content, j.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.structural, j.content)...)
	all := slices.Clone(errs)
	errs = slices.DeleteFunc(errs, func(e *apifield.Error) bool { return isRepetition(e, all) })
	hint := ""
	if j.rules != nil && slices.ContainsFunc(errs, blocksRules) {
		hint = "validation rules are evaluated when this is mended; "
	}
	for _, e := range errs {
		j.addViolation(e, hint)
	}
	if j.rules == nil || hint != "" {
		return
	}
	errs, left := j.rules.Validate(context.Background(), nil, j.structural, j.content, nil,
		celconfig.RuntimeCELCostBudget)
	if left < 0 { // which other rules were evaluated before is random
		errs = apifield.ErrorList{apifield.Invalid(nil, apifield.OmitValueType{},
			"validation failed due to running out of cost budget, no further validation rules will be run")}
	}
	for _, e := range errs {
		j.addRuleError(e)
	}
}

// isRepetition reports whether an error says of a number, and of no place, what another says of its
// type.
func isRepetition(e *apifield.Error, all apifield.ErrorList) bool {
	return e.Field == "<nil>" && strings.HasPrefix(e.Detail, "Checked value must be of type ") &&
		slices.ContainsFunc(all, func(other *apifield.Error) bool {
			return other.Type == apifield.ErrorTypeTypeInvalid && strings.HasSuffix(e.Detail, " in "+other.Field)
		})
}

// blocksRules reports whether the API server evaluates no rules beside an error.
func blocksRules(e *apifield.Error) bool {
	switch e.Type {
	case apifield.ErrorTypeNotSupported, apifield.ErrorTypeRequired, apifield.ErrorTypeTooLong,
		apifield.ErrorTypeTooMany, apifield.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// addRuleError notes what a validation rule finds, or that it cannot be evaluated.
func (j *objectJudgement) addRuleError(e *apifield.Error) {
	for _, broken := range []string{"rule compile error: ", "rule compiler initialization error: "} {
		if strings.HasPrefix(e.Detail, broken) {
			j.addBrokenRule(e)
			return
		}
	}
	j.addViolation(e, "")
}

// addBrokenRule notes a rule of the definition that does not compile: it says nothing about the
// object.
func (j *objectJudgement) addBrokenRule(e *apifield.Error) {
	message, _, _ := strings.Cut(e.Detail, "\n") // the lines below it point at the place
	if e.Field != "<nil>" {
		message = withoutIndexes(e.Field) + ": " + message
	}
	j.objectProblems = append(j.objectProblems,
		j.newProblem(message, "the rule is not evaluated; the API server refuses the definition"))
}

// withoutIndexes returns a path without the numbers and keys of the entries on it.
func withoutIndexes(path string) string {
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

func (j *objectJudgement) addViolation(e *apifield.Error, hint string) {
	path, message := e.Field, e.Error()
	if path == "<nil>" {
		path, message = "", e.ErrorBody()
	}
	p := model.Problem{Severity: model.Error, Code: model.SchemaViolation, Message: message,
		Hint: hint + "by version " + j.name + " of " + j.definition.displayName()}.At(j.object)
	*p.Origin = j.object.OriginOf(splitFieldPath(j.object.Body, path)...)
	j.objectProblems = append(j.objectProblems, p)
}

func (j *objectJudgement) addUnknownField(path string) {
	steps := splitFieldPath(j.object.Body, path)
	p := model.Problem{Severity: model.Warning, Code: model.UnknownField, Message: "unknown field \"" + path +
		"\": the API server drops it", Hint: j.suggestField(steps)}.At(j.object)
	*p.Origin = j.object.OriginOf(steps...)
	j.objectProblems = append(j.objectProblems, p)
}

// normalizeNumbers gives numbers the types that they have when JSON is read: what is whole is an
// integer.
func normalizeNumbers(v any) any {
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range t {
			t[key] = normalizeNumbers(inner)
		}
	case []any:
		for i, inner := range t {
			t[i] = normalizeNumbers(inner)
		}
	case float64:
		if t == math.Trunc(t) && t >= math.MinInt64 && t < math.MaxInt64 {
			return int64(t)
		}
	}
	return v
}
