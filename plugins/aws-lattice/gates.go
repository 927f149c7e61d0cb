package awslattice

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gates complete what kinds.yaml says of how settings keep requests out.
func gates() protect.Functions {
	return protect.Functions{"aws-lattice.Document": documentGate}
}

// statement is one statement of an IAM document.
type statement struct {
	Effect                  string
	Principal, NotPrincipal any
	Action, NotAction       any
	Resource, NotResource   any
	Condition               map[string]map[string]any
}

// statementsOf reads an IAM document; ok is false if it cannot be read.
func statementsOf(text string) (out []statement, ok bool) {
	var doc struct{ Statement json.RawMessage }
	if json.Unmarshal([]byte(text), &doc) != nil || len(doc.Statement) == 0 {
		return nil, false
	}
	if json.Unmarshal(doc.Statement, &out) == nil {
		return out, true
	}
	var one statement
	if json.Unmarshal(doc.Statement, &one) != nil {
		return nil, false
	}
	return []statement{one}, true
}

// documentGate is that of an IAM document: a statement that denies wins, without one that allows a request is refused
// (https://docs.aws.amazon.com/vpc-lattice/latest/ug/auth-policies.html).
func documentGate(in protect.Input, g protect.Gate) []protect.Gate {
	statements, ok := statementsOf(in.Text("policy"))
	if !ok {
		if g.Property == gate.IPList {
			return nil
		}
		g.Weaken(gate.NotRead, g.Field)
		return []protect.Gate{g}
	}
	found := judge(in.Look, statements)
	switch {
	case found.DeniesAll:
		g.Weaken(gate.DeniesAll, g.Field)
		g.Refuses = protect.Always
	case g.Property == gate.IPList:
		if found.Listed != gate.Holds {
			return nil
		}
	case g.Property == gate.Authorization:
		if found.Refuses == gate.Fails {
			g.Weaken(gate.AllowsAll, g.Field)
		}
	case found.Anonymous == gate.Fails:
		g.Weaken(gate.AnonymousAllowed, g.Field)
	case found.Anonymous == gate.Depends:
		g.Weaken(gate.Condition, g.Field)
	}
	return []protect.Gate{g}
}

// judge tells what statements decide about requests of which it is not known who sends them.
func judge(l *protect.Look, statements []statement) protect.Findings {
	var d protect.Decision
	type rule struct {
		deny  bool
		facts []literal
	}
	var rules []rule
	for i := range statements {
		s := &statements[i]
		facts, matches := s.facts(&d, l)
		if matches {
			rules = append(rules, rule{s.Effect == "Deny", facts})
		}
	}
	d.Allows = func(holds func(protect.Fact) bool) bool {
		allowed := false
		for _, r := range rules {
			if slices.ContainsFunc(r.facts, func(f literal) bool { return holds(f.fact) == f.not }) {
				continue
			}
			if r.deny {
				return false
			}
			allowed = true
		}
		return allowed
	}
	return d.Judge()
}

// literal is a fact, or that it does not hold.
type literal struct {
	fact protect.Fact
	not  bool
}

// facts are what a statement asks for, all of it; matches is false if the statement is not for the request, whatever else is true.
func (s *statement) facts(d *protect.Decision, l *protect.Look) (out []literal, matches bool) {
	add := func(k protect.FactKind, not bool) { out = append(out, literal{d.Add(k), not}) }
	matches = true
	switch {
	case s.NotPrincipal != nil:
		add(protect.Unknown, false)
	case !isAnybody(s.Principal):
		add(protect.Identity, false)
		add(protect.Unknown, false)
	}
	switch actions := textsOf(s.Action); {
	case s.NotAction != nil:
		add(protect.Unknown, false)
	case !slices.ContainsFunc(actions, isInvoke):
		matches = false
	}
	if s.NotResource != nil || !slices.Contains(textsOf(s.Resource), "*") && s.Resource != nil {
		add(protect.Unknown, false)
	}
	for operator, keys := range s.Condition {
		for key, v := range keys {
			s.condition(add, l, operator, key, textsOf(v), &matches)
		}
	}
	return out, matches
}

// condition adds what one entry of a condition asks for.
func (s *statement) condition(add func(protect.FactKind, bool), l *protect.Look, operator, key string, values []string, matches *bool) {
	operator = strings.ToLower(operator)
	optional := strings.HasSuffix(operator, "ifexists")
	operator = strings.TrimSuffix(operator, "ifexists")
	negated := strings.Contains(operator, "not")
	key = strings.ToLower(key)
	anonymous := len(values) == 1 && strings.EqualFold(values[0], "anonymous")
	switch {
	case key == "aws:principaltype" && anonymous && strings.HasPrefix(operator, "string"):
		add(protect.Identity, !negated)
	case strings.HasPrefix(key, "aws:principal") && !negated && !optional && operator != "null":
		add(protect.Identity, false) // a request without a signature does not have the key
		add(protect.Unknown, false)
	case key == "vpc-lattice-svcs:requestmethod" && operator == "stringequals":
		*matches = l.IsMethod(values...) && *matches
	case operator == "ipaddress" || operator == "notipaddress":
		if !slices.ContainsFunc(values, func(cidr string) bool { return protect.CoversAll(cidr) }) {
			add(protect.Address, false)
		}
	default:
		add(protect.Unknown, false)
	}
}

// isInvoke reports whether an action is that of requests.
func isInvoke(action string) bool {
	action = strings.ToLower(action)
	return action == "*" || action == "vpc-lattice-svcs:*" || action == "vpc-lattice-svcs:invoke"
}

// isAnybody reports whether a principal is everybody, anonymous clients as well.
func isAnybody(principal any) bool {
	if fields, ok := principal.(map[string]any); ok {
		principal = fields["AWS"]
	}
	return slices.Contains(textsOf(principal), "*")
}

// textsOf is a text, or the texts of a list.
func textsOf(v any) []string {
	switch t := v.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, entry := range t {
			if text, ok := entry.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}
