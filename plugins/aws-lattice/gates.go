package awslattice

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"aws-lattice.Document": buildDocumentGate}
}

// statement is one statement of an IAM document.
type statement struct {
	Effect                  string
	Principal, NotPrincipal any
	Action, NotAction       any
	Resource, NotResource   any
	Condition               map[string]map[string]any
}

// parseStatements reads an IAM document; ok is false if it cannot be read.
func parseStatements(text string) (out []statement, ok bool) {
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

// buildDocumentGate is the gate of an IAM document: a statement that denies wins, without one that
// allows a request is refused
// (https://docs.aws.amazon.com/vpc-lattice/latest/ug/auth-policies.html).
func buildDocumentGate(in protect.Input, g protect.Gate) []protect.Gate {
	statements, ok := parseStatements(in.Text("policy"))
	if !ok {
		if g.Property == gate.IPList {
			return nil
		}
		g.AddReason(gate.NotRead, g.Field)
		return []protect.Gate{g}
	}
	found := judgeStatements(in.Reader, statements, false)
	if found.Anonymous == gate.Depends && g.Property == gate.Authentication && !deniesByRequest(statements) {
		// Clients without a signature may send the headers that are asked for.
		found.Anonymous = judgeStatements(in.Reader, statements, true).Anonymous
	}
	switch {
	case found.DeniesAll:
		g.AddReason(gate.DeniesAll, g.Field)
		g.Refuses = protect.AlwaysRefuses
	case g.Property == gate.IPList:
		switch found.Listed {
		case gate.Fails:
			return nil
		case gate.Depends:
			g.AddReason(gate.Condition, g.Field)
		}
	case g.Property == gate.Authorization:
		switch found.Refuses {
		case gate.Fails:
			g.AddReason(gate.AllowsAll, g.Field)
		case gate.Depends:
			g.AddReason(gate.Condition, g.Field)
		}
	case found.Anonymous == gate.Fails:
		g.AddReason(gate.AnonymousAllowed, g.Field)
	case found.Anonymous == gate.Depends:
		g.AddReason(gate.Condition, g.Field)
	}
	return []protect.Gate{g}
}

// deniesByRequest reports whether a statement that denies looks at the request.
func deniesByRequest(statements []statement) bool {
	for i := range statements {
		for _, keys := range statements[i].Condition {
			for key := range keys {
				if statements[i].Effect == "Deny" && isOfRequest(key) {
					return true
				}
			}
		}
	}
	return false
}

// isOfRequest reports whether a condition key is a header of the request, which whoever sends it
// may set
// (https://docs.aws.amazon.com/vpc-lattice/latest/ug/auth-policies.html#auth-policies-condition-keys).
func isOfRequest(key string) bool {
	return strings.HasPrefix(strings.ToLower(key), "vpc-lattice-svcs:requestheader/")
}

// judgeStatements tells what statements decide about requests of which it is not known who sends
// them. Those that fit have the headers that statements ask for.
func judgeStatements(l *protect.RequestReader, statements []statement, fits bool) protect.Findings {
	var d protect.Decision
	type rule struct {
		deny  bool
		facts []literal
	}
	var rules []rule
	for i := range statements {
		s := &statements[i]
		facts, matches := s.readFacts(&d, l, fits)
		if matches {
			rules = append(rules, rule{s.Effect == "Deny", facts})
		}
	}
	d.Allows = func(holds func(protect.Fact) bool) bool {
		allowed := false
		for _, r := range rules {
			if slices.ContainsFunc(r.facts, func(f literal) bool { return holds(f.fact) == f.negated }) {
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
	fact    protect.Fact
	negated bool
}

// readFacts are what a statement asks for, all of it; matches is false if the statement is not for
// the request, whatever else is true.
func (s *statement) readFacts(d *protect.Decision, l *protect.RequestReader, fits bool) (out []literal, matches bool) {
	add := func(k protect.FactKind, not bool) { out = append(out, literal{d.AddFact(k), not}) }
	matches = true
	switch {
	case s.NotPrincipal != nil:
		add(protect.Unknown, false)
	case !isAnybody(s.Principal):
		add(protect.Identity, false)
		add(protect.Unknown, false)
	}
	switch actions := listTexts(s.Action); {
	case s.NotAction != nil:
		add(protect.Unknown, false)
	case !slices.ContainsFunc(actions, isInvoke):
		matches = false
	}
	if s.NotResource != nil || !slices.Contains(listTexts(s.Resource), "*") && s.Resource != nil {
		add(protect.Unknown, false)
	}
	for _, operator := range slices.Sorted(maps.Keys(s.Condition)) {
		keys := s.Condition[operator]
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if fits && isOfRequest(key) {
				continue
			}
			matches = addCondition(add, l, operator, key, listTexts(keys[key])) && matches
		}
	}
	return out, matches
}

// addCondition adds what one entry of a condition asks for. It is false if the entry does not hold
// for the request, whatever else is true.
func addCondition(add func(protect.FactKind, bool), l *protect.RequestReader, operator, key string,
	values []string) bool {
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
		return l.IsMethod(values...)
	case operator == "ipaddress" || operator == "notipaddress":
		if !slices.ContainsFunc(values, func(cidr string) bool { return protect.CoversAll(cidr) }) {
			add(protect.Address, false)
		}
	default:
		add(protect.Unknown, false)
	}
	return true
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
	return slices.Contains(listTexts(principal), "*")
}

// listTexts is a text, or the texts of a list.
func listTexts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	return model.Texts(v)
}
