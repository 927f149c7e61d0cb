package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// judgement is one object on its way through what the API server does when it is created: fields
// that the schema does not have are dropped, then defaults are set, and what has become of it is
// validated, by the structure of the schema and then by its rules.
type judgement struct {
	*version
	outcome
	admission *Admission
	budget    *atomic.Int64 // of rules of the input
	treatment Treatment
	written   *model.Object
	content   map[string]any // as it is now; nil: nothing can be said of it
	refused   bool
	pruned    bool   // a field was dropped
	blocked   bool   // the rules are not evaluated, because of what is wrong
	ruleHint  string // says so
	unlisted  int    // problems beyond those that are kept
}

func (j *judging) newJudgement(o *model.Object, v *version) *judgement {
	out := &judgement{version: v, outcome: outcome{by: v, object: o}, admission: j.Admission,
		budget: &j.ruleBudget, treatment: j.treatments[o.Ref.GroupKind()], written: o}
	if v.definition.release == nil { // it is what the server has, whatever dialect that is
		out.treatment.HasDialects = false
	}
	if r := v.definition.release; r != nil && r.channel != "" && r.channel == out.treatment.Dialect {
		out.treatment.HasDialects = false
	}
	return out
}

// judgeObject takes the object all the way.
func (j *judgement) judgeObject() *outcome {
	if j.goType != nil {
		j.decodeStrictly()
	} else {
		j.judgeStructure()
		j.judgeRules()
	}
	j.addUnlisted()
	j.decideOutcome()
	return &j.outcome
}

// judgeStructure does everything but the rules.
func (j *judgement) judgeStructure() {
	whole, ok := normalizeNumbers(j.written.Body.Value()).(map[string]any)
	if !j.usable || !ok {
		return
	}
	delete(whole, "sops") // what SOPS adds to encrypted manifests is taken off before they are applied
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(whole,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		j.addRefusal(model.SchemaViolation, err.Error(), []string{"metadata"}, "")
		return
	}
	unknown = append(unknown, pruning.PruneWithOptions(whole, j.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(whole, j.structural)
	wrong, more := objectmeta.CoerceWithOptions(nil, whole, j.structural, false,
		objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	for _, path := range append(unknown, more...) {
		j.addUnknownField(path)
	}
	if wrong != nil {
		j.addViolation(wrong)
		return
	}
	if meta.Name == "" && meta.GenerateName != "" { // the API server takes five letters at random
		meta.Name = meta.GenerateName[:min(len(meta.GenerateName), 58)] + "xxxxx"
	}
	if err := objectmeta.SetObjectMeta(whole, meta); err != nil {
		return
	}
	defaulting.Default(whole, j.structural)
	if j.dropsStatus { // only now, as in the API server: it has no default when it is validated
		delete(whole, "status")
	}
	meta.Namespace = ""
	if j.definition.namespaced {
		meta.Namespace = "default"
		if j.written.Ref.Namespace != "" {
			meta.Namespace = j.written.Ref.Namespace
		}
	}
	meta.Generation = 1
	j.content = whole
	j.validateStructure(apivalidation.ValidateObjectMetaAccessor(meta, j.definition.namespaced,
		apivalidation.NameIsDNSSubdomain, apifield.NewPath("metadata")))
}

// validateStructure validates by the structure of the schema. Before are the errors in the object's
// metadata.
func (j *judgement) validateStructure(before apifield.ErrorList) {
	errs := append(before, validation.ValidateCustomResource(nil, j.content, j.validator)...)
	errs = append(errs, j.scale.validateScale(j.content)...)
	errs = append(errs, objectmeta.Validate(nil, j.content, j.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.structural, j.content)...)
	if len(errs) == 0 {
		return
	}
	wrongTypes := map[string]bool{}
	for _, e := range errs {
		if e.Type == apifield.ErrorTypeTypeInvalid {
			wrongTypes[e.Field] = true
		}
	}
	errs = slices.DeleteFunc(errs, func(e *apifield.Error) bool { return isRepetition(e, wrongTypes) })
	j.blocked = slices.ContainsFunc(errs, blocksRules)
	if j.blocked && j.rules != nil {
		j.ruleHint = "validation rules are evaluated when this is mended; "
	}
	for _, e := range errs {
		j.addViolation(e)
	}
}

// judgeRules evaluates the rules, unless the API server would not.
func (j *judgement) judgeRules() {
	if j.content == nil || j.blocked || j.hasRulesOfInput() && j.budget.Load() < 0 {
		return
	}
	broken, steps, failure := j.brokenRules(j.content)
	if j.hasRulesOfInput() {
		j.budget.Add(-int64(steps))
	}
	if failure != nil {
		j.addProblem(model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf("its validation rules are not judged: %s", failure),
			Hint:    "apply it with --dry-run=server; " + j.describeSource()}, nil)
		return
	}
	for _, e := range broken {
		j.addRuleError(e)
	}
}

// decideOutcome makes the object that is kept, if one is.
func (j *judgement) decideOutcome() {
	switch {
	case j.admission.options.Off || j.content == nil && !j.refused:
		j.object = j.written
	case j.refused:
		j.object = nil
	case !j.treatment.AsWritten:
		j.object = j.keptObject()
	case j.pruned:
		j.content, _ = j.written.Body.Value().(map[string]any)
		pruning.Prune(j.content, j.structural, true)
		j.object = j.keptObject()
	}
	j.content = nil
}

// keptObject is the object as the API server would keep it, with the lines of what was written. Its
// metadata, and a status, stay as they are.
func (j *judgement) keptObject() *model.Object {
	for _, key := range []string{"metadata", "status"} {
		if part := j.written.Get(key); part != nil {
			j.content[key] = part
		}
	}
	out := *j.written
	out.Body, out.Written = model.Pack(j.content, j.written.Body.Line), &j.written.Body
	return &out
}

// isRepetition reports whether an error says of a number, and of no place, what another says of its
// type.
func isRepetition(e *apifield.Error, wrongTypes map[string]bool) bool {
	if e.Field != "<nil>" || !strings.HasPrefix(e.Detail, "Checked value must be of type ") {
		return false
	}
	for rest := e.Detail; ; {
		_, field, found := strings.Cut(rest, " in ")
		if !found || wrongTypes[field] {
			return found
		}
		rest = field
	}
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
func (j *judgement) addRuleError(e *apifield.Error) {
	for _, broken := range []string{"rule compile error: ", "rule compiler initialization error: "} {
		if strings.HasPrefix(e.Detail, broken) {
			j.addBrokenRule(e)
			return
		}
	}
	j.addViolationAs(j.ruleCode(), e)
}

// ruleCode is the code of what a validation rule refuses. Rules differ between releases more than fields
// do: where nobody says which release the cluster has, the code says that its rules are assumed.
func (j *judgement) ruleCode() model.Code {
	if r := j.version.definition.release; r != nil && j.admission.options.Releases[r.Vendor] == nil {
		return model.InvalidObject
	}
	return model.SchemaViolation
}

// addBrokenRule notes a rule of the definition that does not compile: it says nothing about the
// object.
func (j *judgement) addBrokenRule(e *apifield.Error) {
	message, _, _ := strings.Cut(e.Detail, "\n") // the lines below it point at the place
	if e.Field != "<nil>" {
		message = withoutIndexes(e.Field) + ": " + message
	}
	j.outcome.problems = append(j.outcome.problems,
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

// addViolation notes that the API server refuses the object. What depends on a variable that is not
// known is not known.
func (j *judgement) addViolation(e *apifield.Error) { j.addViolationAs(model.SchemaViolation, e) }

// addViolationAs is addViolation with a code.
func (j *judgement) addViolationAs(code model.Code, e *apifield.Error) {
	path, message := e.Field, e.Error()
	if path == "<nil>" {
		path, message = "", e.ErrorBody()
	}
	steps := splitFieldPath(j.written.Body, path)
	if hasVariable(j.written.Body.At(steps...)) {
		return
	}
	if j.isFull() {
		j.unlisted++
		j.refused = true
		return
	}
	advice := ""
	if near := suggestValue(e); near != "" {
		advice = "did you mean " + near + "?"
	}
	if e.Type == apifield.ErrorTypeNotSupported {
		advice = joinHints(j.admission.options.Catalogue.explainRelease(j.version, steps, takesValue(e.BadValue)),
			advice)
	}
	j.addRefusal(code, message, steps, advice)
}

// addRefusal notes that the API server refuses the object with a message about a place.
func (j *judgement) addRefusal(code model.Code, message string, steps []string, advice string) {
	j.refused = true
	p := model.Problem{Severity: model.Error, Code: code, Message: message,
		Hint: joinHints(advice, j.ruleHint+j.describeSource())}
	if j.treatment.HasDialects {
		own := j.dialectProblem(model.RefusedByOperator, "the API server refuses it: "+message)
		if own.Hint == "" {
			own.Hint = p.Hint
		}
		p = own
	}
	j.addProblem(p, steps)
}

// addUnknownField notes a field that the schema does not have.
func (j *judgement) addUnknownField(path string) {
	j.pruned = true
	if model.HasVariable(path) { // which field it is is not known
		return
	}
	if j.isFull() {
		j.unlisted++
		j.refused = j.refused || !j.admission.options.Lenient && !j.isReport()
		return
	}
	steps := splitFieldPath(j.written.Body, path)
	p := model.Problem{Severity: model.Error, Code: model.UnknownField,
		Message: "unknown field \"" + path + "\": the API server refuses the object"}
	switch drops := j.admission.options.Lenient || j.isReport(); {
	case j.treatment.HasDialects && drops:
		p = j.dialectProblem(model.PrunedByOperator, fmt.Sprintf("the API server drops %s, which it does not know",
			path))
	case j.treatment.HasDialects:
		p = j.dialectProblem(model.RefusedByOperator, "the API server refuses it: unknown field \""+path+"\"")
		j.refused = true
	case drops:
		p.Severity, p.Message = model.Warning, "unknown field \""+path+"\": the API server drops it"
	default:
		j.refused = true
	}
	hint := joinHints(j.admission.options.Catalogue.explainRelease(j.version, steps, isThere), j.suggestField(steps))
	if p.Hint == "" {
		p.Hint = j.describeSource()
	}
	p.Hint = joinHints(hint, p.Hint)
	j.addProblem(p, steps)
}

// isReport reports whether the object is read by another dialect, and this judgement only says what
// the operator's API server would do.
func (j *judgement) isReport() bool { return j.treatment.HasDialects && j.treatment.Dialect != "" }

// joinHints joins two hints, either of which may be empty.
func joinHints(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case strings.HasSuffix(a, "?"):
		return a + " " + b
	}
	return a + "; " + b
}

// What is kept of the problems of one object: so many, each with so many bytes of a message, which may
// have all the values that a schema allows.
const (
	maxProblems = 1_000
	maxMessage  = 8 << 10
)

func (j *judgement) isFull() bool { return len(j.outcome.problems) >= maxProblems }

func (j *judgement) addProblem(p model.Problem, steps []string) {
	if j.isFull() {
		j.unlisted++
		return
	}
	if left := len(p.Message) - maxMessage; left > 0 {
		p.Message = fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(p.Message[:maxMessage], ""), left)
	}
	p = p.At(j.written)
	*p.Origin = j.written.OriginOf(steps...)
	j.outcome.problems = append(j.outcome.problems, p)
}

// addUnlisted says how many problems are not kept.
func (j *judgement) addUnlisted() {
	if j.unlisted > 0 {
		j.outcome.problems = append(j.outcome.problems, model.Problem{Severity: model.Warning,
			Code:    model.InvalidObject,
			Message: fmt.Sprintf("%d more problems of the object are not listed", j.unlisted),
			Hint:    "mend those that are"}.At(j.written))
	}
}

// dialectProblem is what the operator's API server says to an object that may be of another
// dialect.
func (j *judgement) dialectProblem(code model.Code, message string) model.Problem {
	p := model.Problem{Severity: model.Warning, Code: code, Message: message}
	if j.treatment.Advice != nil {
		p.Hint = j.treatment.Advice(j.written)
	}
	return p
}

// hasVariable reports whether a text in a value has a variable whose value is not known.
func hasVariable(b model.Body) bool {
	if b.IsText() {
		return model.HasVariable(b.Text())
	}
	found := false
	b.Walk(nil, func(_ string, v model.Body, _ []string) bool {
		found = found || v.IsText() && model.HasVariable(v.Text())
		return !found
	})
	return found
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
