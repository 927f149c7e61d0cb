package decode

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// validate repeats the API's validation. It is the last step: what is validated has no nulls.
func (d *decoder) validate() {
	k := d.kind
	if k.Admission == nil || d.conditions.Redacted {
		return
	}
	body, extent := d.body, d.extent
	if !k.Content.StripNulls { // else they are gone
		body, extent = stripped(body)
	}
	for _, f := range k.Admission.Judge(body, extent, d.conditions) {
		code, at := model.RefusedByOperator, f.At
		switch {
		case f.Drops && d.strange[strings.Join(at, ".")]:
			continue
		case f.Drops:
			code = model.PrunedByOperator
		case f.Rule:
			code, at = d.refusal(), k.Content.At
		}
		d.problem(code, at, "%s", f.Message)
		d.policy.Refused = d.policy.Refused || f.Refuses && !k.Tolerant
	}
	d.advise()
}

// refusal is the code for what a rule of the API refuses. Of kinds with profiles it says that it is one of the API that is deployed.
func (d *decoder) refusal() model.Code {
	if d.kind.Profile != "" {
		return model.RefusedByOperator
	}
	return model.InvalidObject
}

// advise adds what the vendor has to say to what the API refuses or drops.
func (d *decoder) advise() {
	if d.kind.Advice == nil {
		return
	}
	for i := range d.policy.Problems {
		if p := &d.policy.Problems[i]; p.Code == d.refusal() || p.Code == model.RefusedByOperator || p.Code == model.PrunedByOperator {
			p.Hint = d.kind.Advice(d.policy.Object)
		}
	}
}

// unknown reports a field that nothing reads, unless the validation says that it is dropped.
func (d *decoder) unknown(at []string, key, of string) {
	if d.kind.Admission.Drops(at) && !d.kind.Tolerant {
		return
	}
	path := strings.Join(at, ".")
	if d.strange == nil {
		d.strange = map[string]bool{}
	}
	d.strange[path+"."+key] = true
	d.problem(model.UnknownBlockField, append(slices.Clone(at), key), "%s.%s is no field of %s: ignored", path, key, of)
}
