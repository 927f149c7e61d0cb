package descriptor

import (
	"maps"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/admission"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// validityReader reads what makes policies of a kind void, or suspicious.
type validityReader struct{ reader }

func (r validityReader) fieldReaders() map[string]form.Field {
	v := &r.kind.Validity
	return map[string]form.Field{"admission": r.readAdmission, "checks": r.checksField(&v.Checks),
		"laterChecks": r.checksField(&v.LaterChecks), "tolerant": r.Flag(&v.Tolerant),
		"asWritten": r.Flag(&v.AsWritten),
		"advice":    funcObjectField(r.Reader, &v.Advice, r.funcs.Advice, "to give advice"),
		"lints":     functionListField(r.Reader, &v.Lints, r.funcs.Lints, "to look for findings"),
		"invalid": wordField(r.Reader, &v.InError, []policy.ErrorHandling{policy.DropPolicy, policy.HoldPlace,
			policy.VoidResult})}
}

// checksField reads the functions that find faults.
func (r validityReader) checksField(to *[]policy.CheckMaker) form.Field {
	known := map[string]policy.CheckMaker{}
	maps.Copy(known, r.funcs.Sites)
	for name, check := range r.funcs.Checks {
		known[name] = func(_ *policy.Kind, _ *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
			return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) { return check(p, in) }
		}
	}
	return functionListField(r.Reader, to, known, "to check policies")
}

// readAdmission reads the validation that is repeated here: rules, and pieces of the schema.
func (r validityReader) readAdmission(n *yaml.Node) {
	var rules []admission.Rule
	var fits []admission.SchemaRule
	r.List(n, func(e *yaml.Node) {
		var a admission.Rule
		var f admission.SchemaRule
		var at []string
		var pattern string
		var warns bool
		fields := map[string]form.Field{"rule": r.Text(&a.Rule), "message": r.Text(&a.Message),
			"effect": eitherField(r.Reader, &warns, "refuse", "warn"),
			"at":     r.Texts(&at), "type": r.Word(&f.Type, []string{"object", "array", "string", "boolean", "integer",
				"number"}), "fields": r.Texts(&f.Fields), "required": r.Texts(&f.Required),
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
		for _, set := range []bool{f.Type != "", f.Fields != nil, f.Required != nil, f.Values != nil,
			f.Pattern != nil} {
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
			r.Fail(e,
				"a validation needs \"rule\" and \"message\", or \"at\" with one of \"type\", \"fields\", \"required\", \"values\" and \"pattern\"")
		}
	})
	r.kind.Admission = admission.New(rules, fits)
}
