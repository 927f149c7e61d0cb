package policy

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// admit repeats the API's validation. A rule that cannot be judged refuses nothing.
func (d *decoder) admit(body model.Body) {
	for _, i := range d.conditions.validator(d.kind).broken(body) {
		a := d.kind.Admission[i]
		d.problem(d.kind.refusal(), d.kind.Content.At, "the API server refuses it: %s", a.Message)
		d.policy.Refused = d.policy.Refused || a.Refuses && !d.kind.Tolerant
	}
}

// refusal is the code for what the API refuses: kinds with dialects say that it is the operator's API.
func (k *Kind) refusal() model.Code {
	if k.Profile != "" {
		return model.RefusedByOperator
	}
	return model.InvalidObject
}

// validator is the compiled validation rules of a kind.
type validator struct {
	rules []*Condition // as in the descriptor
	all   *Condition   // holds only if every rule does: nearly every object is judged by it alone
}

// validator compiles the rules of a kind, once. They do not draw on the budget of the users' conditions.
func (c *Conditions) validator(k *Kind) *validator {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.validators[k]; ok {
		return v
	}
	if c.validators == nil {
		c.api, c.validators = &Conditions{free: true}, map[*Kind]*validator{}
	}
	v := &validator{}
	var texts []string
	for _, a := range k.Admission {
		v.rules = append(v.rules, c.api.Compile(a.Rule))
		texts = append(texts, "("+a.Rule+"\n)")
	}
	v.all = c.api.Compile(strings.Join(texts, " && "))
	c.validators[k] = v
	return v
}

// bindings are the names that an object binds in expressions: its fields, and self for all of it.
func bindings(body model.Body) map[string]any {
	vars := map[string]any{"self": celValue(body)}
	for key, value := range body.Fields {
		vars[key] = celValue(value)
	}
	return vars
}

// broken lists the rules that the object does not meet, by number.
func (v *validator) broken(body model.Body) (out []int) {
	if len(v.rules) == 0 {
		return nil
	}
	s, vars := sizesOf(body), bindings(body)
	holds := func(c *Condition, otherwise bool) bool {
		if c.err != nil || c.limits.check(s) != nil {
			return otherwise
		}
		holds, err := c.judge(vars)
		if err != nil {
			return otherwise
		}
		return holds
	}
	if holds(v.all, false) {
		return nil
	}
	for i, rule := range v.rules {
		if !holds(rule, true) {
			out = append(out, i)
		}
	}
	return out
}
