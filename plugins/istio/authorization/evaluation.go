package authorization

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// Evaluate says what AuthorizationPolicies decide about a request at its Gateway, or at the waypoint
// of its Service.
func Evaluate(a *request.Answer, r *resolve.Resolution, k *resolve.Kind) *evaluate.Judgement {
	nodes := []topology.NodeID{a.Gateway}
	if a.Service.Name != "" {
		nodes = r.Lookup(a.Service)
	}
	for _, id := range nodes {
		if id != topology.None && len(k.Contexts(id)) > 0 {
			rules := ListRules(k.Verdict(k.Contexts(id)[0]))
			d := Decide(rules, &Question{Answer: a})
			d.At, d.Refusing = r.Node(id).Ref, ListRefusing(rules)
			return &evaluate.Judgement{Outcome: d.Outcome, Decisions: []evaluate.Decision{d}}
		}
	}
	return nil
}

// Question is what rules are asked about at one place.
type Question struct {
	Answer *request.Answer // the request; nil: nothing is known but the connection
	Port   int             // of the destination as the place sees it; 0: it is not known
	Source *Source         // who sends it; nil: nothing is known of that
	// Opaque says that the place sees connections and no requests: what denies does so whatever the
	// request is, and what allows by attributes of requests is skipped
	// (pilot/pkg/security/authz/model/model.go:355-365).
	Opaque bool
	// Tests are filled in by Decide: what the rules tell requests apart by.
	Tests []request.Test
	// Rewritten says that the place gets the request as the filters of its rule make it.
	Rewritten bool
}

// Source is who sends, as a place sees it.
type Source struct {
	Identity  string // TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT; "" for none
	Doubt     string // why the identity is not known; "": it is
	Namespace string // the namespace of an identity of which only that is known
	Addresses []netip.Addr
}

// Rule is one rule in force at a place.
type Rule struct {
	Action string
	Name   string // as it is printed
	Policy *model.Object
	Value  any // as it is written, or what is left of that
}

// ListRules lists the rules in force at a place.
func ListRules(v *resolve.Verdict) []Rule {
	var out []Rule
	for _, rule := range v.Result.Rules {
		if len(rule.Path) != 2 || len(rule.From) == 0 {
			continue
		}
		out = append(out, Rule{Action: rule.Path[0].Name, Name: rule.Name, Value: merge.Unpack(rule.Value),
			Policy: v.Layers[rule.From[0].Layer].Policy.Object})
	}
	return out
}

// ListRefusing lists the policies of rules that may refuse, each once, in order: those that are only
// audited or tried do not.
func ListRefusing(rules []Rule) []model.Ref {
	out := []model.Ref{}
	for _, rule := range rules {
		switch rule.Action {
		case "CUSTOM", "DENY", "ALLOW":
		default:
			continue
		}
		if !slices.Contains(out, rule.Policy.Ref) {
			out = append(out, rule.Policy.Ref)
		}
	}
	return out
}

// Decide says what rules decide: CUSTOM is asked first, then DENY and ALLOW.
func Decide(rules []Rule, q *Question) evaluate.Decision {
	j := ruleEvaluator{Question: q, rules: rules}
	return j.decide()
}

// ruleEvaluator evaluates the lists of rules one after the other.
type ruleEvaluator struct {
	*Question
	rules          []Rule
	openAttributes []string      // attributes that the question does not tell
	policy         *model.Object // of the rule that is matched
}

// matchedRules are the rules of one action that match, and those that may.
type matchedRules struct {
	certain, possible []evaluate.Decider
	all               []evaluate.Decider // those that match not as well
	count             int
	openAttributes    []string
}

func (j *ruleEvaluator) decide() evaluate.Decision {
	custom, deny, allow := j.matchRules("CUSTOM"), j.matchRules("DENY"), j.matchRules("ALLOW")
	d := evaluate.Decision{Outcome: request.Allowed}
	pass := func(stage string, l matchedRules, why string) {
		d.Passed = append(d.Passed, evaluate.PassedStage{Stage: stage, Why: why, By: l.possible})
	}
	unknown := func(stage string, by []evaluate.Decider, why string) {
		if d.Outcome == request.Allowed {
			d.Outcome, d.Stage, d.By, d.Why = request.NotEvaluated, stage, by, []string{why}
		}
	}
	settle := func(o request.Outcome, stage string, by []evaluate.Decider, why string) evaluate.Decision {
		d.Outcome, d.Stage, d.By, d.Why = o, stage, by, []string{why}
		return d
	}
	if len(deny.certain) > 0 {
		return settle(request.Denied, "DENY", deny.certain, "a rule that denies matches")
	}
	if allow.count > 0 && len(allow.certain)+len(allow.possible) == 0 {
		return settle(request.Denied, "ALLOW", allow.all, "none of the rules that allow matches")
	}
	if by := append(slices.Clone(custom.certain), custom.possible...); len(by) > 0 {
		unknown("CUSTOM", by, "a provider is asked, whose answer no manifest tells")
	} else if custom.count > 0 {
		pass("CUSTOM", custom, "no rule matches")
	}
	if len(deny.possible) > 0 {
		unknown("DENY", deny.possible, "whether it denies depends on "+strings.Join(deny.openAttributes, ", "))
	} else if deny.count > 0 {
		pass("DENY", deny, "no rule matches")
	}
	if allow.count > 0 && len(allow.certain) == 0 {
		unknown("ALLOW", allow.possible, "whether a rule allows it depends on "+
			strings.Join(allow.openAttributes, ", "))
	}
	switch {
	case d.Outcome != request.Allowed:
	case allow.count == 0:
		d.Why = []string{"no rule denies, and there are none that allow: then everything is allowed"}
	default:
		d.Stage, d.By, d.Why = "ALLOW", allow.certain, []string{"a rule that allows matches"}
	}
	return d
}

// matchRules matches the rules of one action.
func (j *ruleEvaluator) matchRules(action string) matchedRules {
	var out matchedRules
	for _, rule := range j.rules {
		if rule.Action != action {
			continue
		}
		out.count++
		j.openAttributes, j.policy = nil, rule.Policy
		matches := j.matchRule(rule.Value)
		if j.Opaque {
			matches = j.matchOpaqueRule(rule)
		}
		decider := evaluate.Decider{Policy: rule.Policy.Ref, Origin: rule.Policy.OriginOf("spec", "rules",
			ruleIndex(rule.Name)), Rule: rule.Name, Action: action}
		out.all = append(out.all, decider)
		if matches == selector.No {
			continue
		}
		if matches == selector.Yes {
			out.certain = append(out.certain, decider)
			continue
		}
		out.possible = append(out.possible, decider)
		for _, what := range j.openAttributes {
			if !slices.Contains(out.openAttributes, what) {
				out.openAttributes = append(out.openAttributes, what)
			}
		}
	}
	return out
}

// ruleIndex is the number at the end of a rule's name.
func ruleIndex(name string) string {
	i := strings.LastIndex(name, "rule[")
	if i < 0 {
		return "0"
	}
	n, err := strconv.Atoi(strings.TrimSuffix(name[i+len("rule["):], "]"))
	if err != nil {
		return "0"
	}
	return strconv.Itoa(n)
}

// matchRule reports whether a rule matches: of from and to one entry each, of when all.
func (j *ruleEvaluator) matchRule(rule any) selector.Truth {
	fields, ok := rule.(map[string]any)
	if !ok { // the rule of a policy without rules
		return selector.No
	}
	j.noteTests(fields)
	anyOf := func(key, inner string, one func(map[string]any) selector.Truth) selector.Truth {
		entries, _ := fields[key].([]any)
		if len(entries) == 0 {
			return selector.Yes
		}
		out := selector.No
		for _, e := range entries {
			entry, _ := model.Get(e, inner).(map[string]any)
			out = max(out, one(entry))
		}
		return out
	}
	out := min(anyOf("from", "source", j.matchSource), anyOf("to", "operation", j.matchOperation))
	conditions, _ := fields["when"].([]any)
	for _, c := range conditions {
		out = min(out, j.matchCondition(c))
	}
	return out
}

// noteUnknown notes an attribute that the query does not tell.
func (j *ruleEvaluator) noteUnknown(what string) selector.Truth {
	if !slices.Contains(j.openAttributes, what) {
		j.openAttributes = append(j.openAttributes, what)
	}
	return selector.Maybe
}

// matchOperation matches what is asked: all fields have to fit, and none of those that begin with
// not.
func (j *ruleEvaluator) matchOperation(fields map[string]any) selector.Truth {
	out := selector.Yes
	for _, name := range sortNames(fields) {
		values, _ := fields[name].([]any)
		if len(values) == 0 {
			continue
		}
		plain, negative := strings.CutPrefix(name, "not")
		plain = strings.ToLower(plain)
		fits := j.matchAttribute(plain, values)
		if negative {
			fits = negateTruth(fits)
		}
		out = min(out, fits)
	}
	return out
}
