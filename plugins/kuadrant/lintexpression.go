package kuadrant

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/parser"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

var invalidExpression = model.Rule{ID: "InvalidExpression", Severities: []model.Severity{model.Warning},
	Summary: "an expression that is evaluated for each request does not parse, for which the implementation does not enforce the policy",
	Fix:     "fix the expression"}

// unreadable reports expressions about requests that are no CEL, for which the operator enforces nothing of a policy (InvalidCelExpression).
// What an expression may name is known where requests are, so that nothing but its form is judged.
func unreadable(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	p, err := parser.NewParser(parser.Macros(parser.AllMacros...))
	if err != nil {
		return nil // of options that do not exist
	}
	for _, k := range r.Kinds {
		if k.GroupKind.Group != vendorGroup || !slices.Contains([]string{"AuthPolicy", "RateLimitPolicy", tokens}, k.GroupKind.Kind) {
			continue
		}
		for _, owner := range k.Policies {
			f := expressions{parser: p, owner: owner}
			f.walk(owner.Object.Get("spec"), []string{"spec"})
			out = append(out, f.found...)
		}
	}
	return out
}

// expressions looks for those of one policy.
type expressions struct {
	parser *parser.Parser
	owner  *policy.Policy
	found  []model.Problem
}

// walk looks at what stands at a path.
func (f *expressions) walk(v any, at []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			path := append(slices.Clip(at), key)
			text, isText := below.(string)
			switch {
			case isText && (key == "predicate" || key == "expression"):
				f.judge(text, path)
			case key != "value": // data of the user's
				f.walk(below, path)
			}
		}
	case []any:
		for i, below := range v {
			f.walk(below, append(slices.Clip(at), strconv.Itoa(i)))
		}
	}
}

func (f *expressions) judge(text string, at []string) {
	_, errs := f.parser.Parse(common.NewTextSource(text))
	if len(errs.GetErrors()) == 0 {
		return
	}
	first := errs.GetErrors()[0]
	f.found = append(f.found, invalidExpression.Problem("%s of %s is no CEL, which the operator reports as InvalidCelExpression: %q, column %d: %s",
		strings.Join(at, "."), f.owner.Ref(), text, first.Location.Column()+1, first.Message).At(f.owner.Object, at...))
}
