package istio

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// authorized says what AuthorizationPolicies decide about a request at its Gateway, or at the waypoint of its Service, and about a connection at
// its destination (spec §5).
func authorized(q request.Query, r *resolve.Resolution, k *resolve.Kind) *request.Judgement {
	at, ok := decidedAt(q, r, k)
	if !ok {
		return nil
	}
	o := k.Verdict(k.Contexts(at)[0])
	j := judgement{query: q, outcome: o, at: r.Node(at).Ref}
	return j.verdict()
}

// decidedAt is the node whose rules decide; false if there are none.
func decidedAt(q request.Query, r *resolve.Resolution, k *resolve.Kind) (topology.NodeID, bool) {
	nodes := []topology.NodeID{q.To.Workload}
	if a := q.Answer; a != nil {
		nodes = []topology.NodeID{a.Gateway}
		if a.Service.Name != "" {
			nodes = r.Lookup(a.Service)
		}
	}
	for _, id := range nodes {
		if id != topology.None && len(k.Contexts(id)) > 0 {
			return id, true
		}
	}
	return topology.None, false
}

// judgement asks the lists of rules one after the other.
type judgement struct {
	query   request.Query
	outcome *resolve.Verdict
	at      model.Ref
	open    []string // attributes that the question does not tell
}

// list is the rules of one action that match, and those that may.
type list struct {
	sure, maybe []request.Decider
	all         []request.Decider // those that match not as well
	n           int
	open        []string
}

func (j *judgement) verdict() *request.Judgement {
	custom, deny, allow := j.ask("CUSTOM"), j.ask("DENY"), j.ask("ALLOW")
	d := request.Decision{At: j.at, Outcome: request.Allowed}
	pass := func(stage string, l list, why string) {
		d.Passed = append(d.Passed, request.Pass{Stage: stage, Why: why, By: l.maybe})
	}
	unknown := func(stage string, by []request.Decider, why string) {
		if d.Outcome == request.Allowed {
			d.Outcome, d.Stage, d.By, d.Why = request.NotEvaluated, stage, by, []string{why}
		}
	}
	settle := func(o request.Outcome, stage string, by []request.Decider, why string) *request.Judgement {
		d.Outcome, d.Stage, d.By, d.Why = o, stage, by, []string{why}
		return &request.Judgement{Outcome: o, Decisions: []request.Decision{d}}
	}
	if len(deny.sure) > 0 {
		return settle(request.Denied, "DENY", deny.sure, "a rule that denies matches")
	}
	if allow.n > 0 && len(allow.sure)+len(allow.maybe) == 0 {
		return settle(request.Denied, "ALLOW", allow.all, "none of the rules that allow matches")
	}
	if by := append(slices.Clone(custom.sure), custom.maybe...); len(by) > 0 {
		unknown("CUSTOM", by, "a provider is asked, whose answer no manifest tells")
	} else if custom.n > 0 {
		pass("CUSTOM", custom, "no rule matches")
	}
	if len(deny.maybe) > 0 {
		unknown("DENY", deny.maybe, "whether it denies depends on "+strings.Join(deny.open, ", "))
	} else if deny.n > 0 {
		pass("DENY", deny, "no rule matches")
	}
	if allow.n > 0 && len(allow.sure) == 0 {
		unknown("ALLOW", allow.maybe, "whether a rule allows it depends on "+strings.Join(allow.open, ", "))
	}
	switch {
	case d.Outcome != request.Allowed:
	case allow.n == 0:
		d.Why = []string{"no rule denies, and there are none that allow: then everything is allowed"}
	default:
		d.Stage, d.By, d.Why = "ALLOW", allow.sure, []string{"a rule that allows matches"}
	}
	return &request.Judgement{Outcome: d.Outcome, Decisions: []request.Decision{d}}
}

// ask matches the rules of one action.
func (j *judgement) ask(action string) list {
	var out list
	for _, rule := range j.outcome.Result.Rules {
		if len(rule.Path) != 2 || rule.Path[0].Name != action || len(rule.From) == 0 {
			continue
		}
		out.n++
		j.open = nil
		matches := j.matches(merge.Plain(rule.Value))
		p := j.outcome.Layers[rule.From[0].Layer].Policy
		decider := request.Decider{Policy: p.Ref(), Origin: p.Object.OriginOf("spec", "rules", indexOf(rule.Name)), Rule: rule.Name, Action: action}
		out.all = append(out.all, decider)
		if matches == topology.No {
			continue
		}
		if matches == topology.Yes {
			out.sure = append(out.sure, decider)
			continue
		}
		out.maybe = append(out.maybe, decider)
		for _, what := range j.open {
			if !slices.Contains(out.open, what) {
				out.open = append(out.open, what)
			}
		}
	}
	return out
}

// indexOf is the number at the end of a rule's name.
func indexOf(name string) string {
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

// matches reports whether a rule matches: of from and to one entry each, of when all.
func (j *judgement) matches(rule any) topology.Truth {
	fields, ok := rule.(map[string]any)
	if !ok { // the rule of a policy without rules
		return topology.No
	}
	anyOf := func(key, inner string, one func(map[string]any) topology.Truth) topology.Truth {
		entries, _ := fields[key].([]any)
		if len(entries) == 0 {
			return topology.Yes
		}
		out := topology.No
		for _, e := range entries {
			entry, _ := model.Get(e, inner).(map[string]any)
			out = max(out, one(entry))
		}
		return out
	}
	out := min(anyOf("from", "source", j.source), anyOf("to", "operation", j.operation))
	conditions, _ := fields["when"].([]any)
	for _, c := range conditions {
		out = min(out, j.condition(c))
	}
	return out
}

// unknown is what is said of an attribute that the question does not tell.
func (j *judgement) unknown(what string) topology.Truth {
	if !slices.Contains(j.open, what) {
		j.open = append(j.open, what)
	}
	return topology.Maybe
}

// source matches who asks: nobody's identity or address is in the question.
func (j *judgement) source(fields map[string]any) topology.Truth {
	out := topology.Yes
	for _, name := range sortedNames(fields) {
		if values, _ := fields[name].([]any); len(values) > 0 {
			out = min(out, j.unknown("source."+name))
		}
	}
	return out
}

// operation matches what is asked: all fields have to fit, and none of those that begin with not.
func (j *judgement) operation(fields map[string]any) topology.Truth {
	out := topology.Yes
	for _, name := range sortedNames(fields) {
		values, _ := fields[name].([]any)
		if len(values) == 0 {
			continue
		}
		plain, negative := strings.CutPrefix(name, "not")
		plain = strings.ToLower(plain)
		fits := j.attribute(plain, values)
		if negative {
			fits = not(fits)
		}
		out = min(out, fits)
	}
	return out
}
