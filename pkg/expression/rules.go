package expression

import (
	"strings"
	"sync"

	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Rules are expressions that all hold of a good object, as validation rules are.
type Rules struct{ rules []Rule }

// Rule is one of them.
type Rule struct {
	Text    string
	Checked string // the same by CheckAhead; "" where nobody did
}

// NewRules makes rules of expressions; nil of none.
func NewRules(rules ...Rule) *Rules {
	if len(rules) == 0 {
		return nil
	}
	return &Rules{rules}
}

// compiledRules are rules that one run has compiled.
type compiledRules struct {
	all        *Condition // all of them together: nearly every object meets it
	conditions func() []*Condition
}

// compileRules compiles rules, once. They do not draw on the budget of the users' conditions.
func (c *Conditions) compileRules(r *Rules) *compiledRules {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.rules[r]; ok {
		return known
	}
	if c.rules == nil {
		c.ruleConditions, c.rules = &Conditions{unlimited: true}, map[*Rules]*compiledRules{}
	}
	out := &compiledRules{conditions: sync.OnceValue(func() (each []*Condition) {
		for _, rule := range r.rules {
			each = append(each, c.ruleConditions.compileAhead(rule.Text, joinChecked(rule.decodeChecked())))
		}
		return each
	})}
	var checked []*exprpb.CheckedExpr
	var texts []string
	for _, rule := range r.rules {
		checked, texts = append(checked, rule.decodeChecked()), append(texts, rule.Text)
	}
	out.all = c.ruleConditions.compileAhead("("+strings.Join(texts, "\n) && (")+"\n)", joinChecked(checked...))
	c.rules[r] = out
	return out
}

// BrokenRules lists the rules that an object of the given extent does not meet, by number. One that
// cannot be judged is met.
func (c *Conditions) BrokenRules(r *Rules, body model.Body, extent model.Extent) (out []int) {
	if r == nil {
		return nil
	}
	rules := c.compileRules(r)
	s, vars := Sizes{extent.Entries, extent.Text}, bindObject(body)
	holds := func(c *Condition, otherwise bool) bool {
		if c.err != nil || c.limits.Check(s) != nil {
			return otherwise
		}
		holds, err := c.evaluate(vars)
		if err != nil {
			return otherwise
		}
		return holds
	}
	if holds(rules.all, false) {
		return nil
	}
	for i, rule := range rules.conditions() {
		if !holds(rule, true) {
			out = append(out, i)
		}
	}
	return out
}
