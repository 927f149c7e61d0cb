package descriptor

import (
	"maps"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/admission"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// validityReader reads what makes policies of a kind void, or suspicious.
type validityReader struct{ reader }

func (r validityReader) fields() map[string]form.Field {
	v := &r.kind.Validity
	return map[string]form.Field{"admission": r.admission, "checks": r.checks, "tolerant": r.Flag(&v.Tolerant),
		"advice":  named(r.Reader, &v.Advice, r.funcs.Advice, "to give advice"),
		"lints":   functions(r.Reader, &v.Lints, r.funcs.Lints, "to look for findings"),
		"invalid": word(r.Reader, &v.InError, []policy.InError{policy.Drop, policy.Claim, policy.Poison})}
}

// checks reads the functions that find faults.
func (r validityReader) checks(n *yaml.Node) {
	known := map[string]policy.SiteCheck{}
	maps.Copy(known, r.funcs.Sites)
	for name, check := range r.funcs.Checks {
		known[name] = func(_ *policy.Kind, _ *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
			return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) { return check(p, in) }
		}
	}
	functions(r.Reader, &r.kind.Checks, known, "to check policies")(n)
}

// admission reads the validation that is repeated here: rules, and pieces of the schema.
func (r validityReader) admission(n *yaml.Node) {
	var rules []admission.Rule
	var fits []admission.Fit
	r.List(n, func(e *yaml.Node) {
		var a admission.Rule
		var f admission.Fit
		var at []string
		var pattern string
		var warns bool
		fields := map[string]form.Field{"rule": r.Text(&a.Rule), "message": r.Text(&a.Message), "effect": either(r.Reader, &warns, "refuse", "warn"),
			"at": r.Texts(&at), "type": r.Word(&f.Type, []string{"object", "array", "string", "boolean", "integer", "number"}), "fields": r.Texts(&f.Fields), "required": r.Texts(&f.Required),
			"values": r.Texts(&f.Values), "pattern": r.Text(&pattern)}
		if e.Line == 0 { // the program's own files, which are made for it, have no lines
			fields["checked"] = r.Text(&a.Checked)
		}
		r.Object(e, fields)
		for _, path := range at {
			f.At = append(f.At, strings.Split(path, "."))
		}
		a.Refuses, f.Refuses = !warns, !warns
		if pattern != "" {
			var err error
			if f.Pattern, err = regexp.Compile(pattern); err != nil {
				r.Fail(e, "the pattern %q is no regular expression", pattern)
			}
		}
		asks := 0
		for _, set := range []bool{f.Type != "", f.Fields != nil, f.Required != nil, f.Values != nil, f.Pattern != nil} {
			if set {
				asks++
			}
		}
		rule, fit := a.Rule != "" || a.Message != "", f.At != nil || asks > 0
		switch {
		case rule && !fit && a.Rule != "" && a.Message != "":
			rules = append(rules, a)
		case fit && !rule && f.At != nil && asks == 1:
			fits = append(fits, f)
		default:
			r.Fail(e, "a validation needs \"rule\" and \"message\", or \"at\" with one of \"type\", \"fields\", \"required\", \"values\" and \"pattern\"")
		}
	})
	r.kind.Admission = admission.New(rules, fits)
}
