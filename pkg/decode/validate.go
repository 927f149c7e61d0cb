package decode

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// validateBody repeats the API's validation. It is the last step: what is validated has no nulls.
func (d *decoder) validateBody() {
	k := d.kind
	if k.Admission == nil || d.conditions.Redacted {
		return
	}
	body, extent := d.body, d.extent
	if !k.Content.StripNulls { // else they are gone
		body, extent = stripNulls(body)
	}
	for _, f := range k.Admission.Judge(body, extent, d.conditions) {
		code, at := model.RefusedByOperator, f.At
		switch {
		case f.Drops && d.unknownFields[strings.Join(at, ".")]:
			continue
		case f.Drops:
			code = model.PrunedByOperator
		case f.Rule:
			code, at = d.refusalCode(), k.Content.At
		}
		d.addProblem(code, at, "%s", f.Message)
		d.policy.Refused = d.policy.Refused || f.Refuses && !k.Tolerant
	}
	d.addAdvice()
}

// refusalCode returns the code for what a rule of the API refuses: kinds with dialects say that it
// is the operator's API.
func (d *decoder) refusalCode() model.Code {
	if d.kind.Profile != "" {
		return model.RefusedByOperator
	}
	return model.InvalidObject
}

// addAdvice adds what the vendor has to say to what the API refuses or drops.
func (d *decoder) addAdvice() {
	if d.kind.Advice == nil {
		return
	}
	for i := range d.policy.Problems {
		if p := &d.policy.Problems[i]; p.Code == d.refusalCode() || p.Code == model.RefusedByOperator ||
			p.Code == model.PrunedByOperator {
			p.Hint = d.kind.Advice(d.policy.Object)
		}
	}
}

// reportUnknownField reports a field that nothing reads, unless the validation says that it is
// dropped.
func (d *decoder) reportUnknownField(at []string, key, of string) {
	if d.kind.Admission.DropsUnknownFields(at) && !d.kind.Tolerant {
		return
	}
	path := strings.Join(at, ".")
	if d.unknownFields == nil {
		d.unknownFields = map[string]bool{}
	}
	d.unknownFields[path+"."+key] = true
	d.addProblem(model.UnknownBlockField, append(slices.Clone(at), key), "%s.%s is no field of %s: ignored",
		path, key, of)
}
