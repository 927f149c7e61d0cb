package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ProtectionFindings finds policies that look like protection and are none, that take the protection of others away, or that let requests in while
// a service is down, and routes that take requests away from where they have to authenticate. It looks at route rules, on all ways to them.
func ProtectionFindings(r *resolve.Resolution, m *request.Matcher, judges Judges) []model.Problem {
	if _, described := guards(r); !described {
		return nil
	}
	s := protectionSurvey{protector: newProtector(r, m, judges), policies: map[model.Ref]*policyEffect{}, takers: map[model.Ref]*takenProtection{}, authenticated: map[place]gate.Verdict{}}
	for _, k := range r.Kinds {
		for _, p := range k.Policies {
			if p.Builtin == "" {
				s.policies[p.Object.Ref] = &policyEffect{}
			}
		}
	}
	if err := s.look(); err != nil {
		return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated, Message: "what requests are protected by is not judged: " + err.Error()}}
	}
	return model.SortProblems(slices.Concat(s.nothing(), s.replaced(), s.failOpen(), s.bypassed()))
}

// protectionSurvey gathers what policies do where they are in force.
type protectionSurvey struct {
	*protector
	policies      map[model.Ref]*policyEffect
	takers        map[model.Ref]*takenProtection // by the policy that takes it
	authenticated map[place]gate.Verdict
}

// place is a route rule at a listener.
type place struct{ listener, rule topology.NodeID }

// policyEffect is what one policy establishes, over all places where it is in force.
type policyEffect struct {
	useful   bool // something that it establishes holds, or may
	trial    bool // a part of it only reports
	reasons  []protect.Reason
	rules    refList // where it protects nothing
	open     []string
	openAt   refList // where it lets requests in while a service does not answer
	openName []gate.Property
}

// takenProtection is what one policy takes away from others.
type takenProtection struct {
	lost  []string
	rules refList
}

// refList lists objects, each once.
type refList struct {
	list []model.Ref
	seen map[model.Ref]bool
}

func (l *refList) add(ref model.Ref) {
	if l.seen == nil {
		l.seen = map[model.Ref]bool{}
	}
	if !l.seen[ref] {
		l.seen[ref] = true
		l.list = append(l.list, ref)
	}
}

// text counts route rules and names the first.
func (l *refList) text() string {
	slices.SortFunc(l.list, model.Ref.Compare)
	names := make([]string, len(l.list))
	for i, ref := range l.list {
		names[i] = ref.String()
	}
	return Counted(len(names), "route rule") + " (" + explain.Few(names) + ")"
}

// look judges all route rules on all ways.
func (s *protectionSurvey) look() error {
	var apart []topology.NodeID
	for _, id := range s.res.Graph.Order(topology.All) {
		if n := s.res.Node(id); n.Role != topology.Rule || n.Transit {
			continue
		}
		if len(s.apart(id)) > 0 {
			apart = append(apart, id)
			continue
		}
		for _, way := range s.ways.traffic(id) {
			s.see(s.judge.On(s.sample(id, way)), true)
		}
	}
	return s.eachClass(apart, func(a *request.Answer, sure bool) {
		if reaches(a) {
			s.see(s.judge.On(a), sure)
		}
	})
}

// see notes what is so of the requests of one class on one way.
func (s *protectionSurvey) see(g *protect.Gates, sure bool) {
	if g.Idle {
		return
	}
	rule := s.res.Node(g.Rule).Ref
	for _, all := range append([][]protect.Gate{g.Before}, g.Backends...) {
		s.seeGates(g, all, rule)
	}
	if !sure {
		return
	}
	at := place{g.Listener, g.Rule}
	s.authenticated[at] = worseVerdict(s.authenticated[at], g.Of(gate.Authentication))
	for _, p := range []gate.Property{gate.Authentication, gate.Authorization} {
		if result := g.Of(p); result.Verdict == gate.Fails {
			s.seeReplaced(p, result.Replaced, rule)
		}
	}
}

// worseVerdict is the verdict of several classes.
func worseVerdict(known gate.Verdict, result protect.Result) gate.Verdict {
	all := protect.Worst(protect.Result{Verdict: known}, result)
	return all.Verdict
}

// seeReplaced notes gates that lost to policies which stand elsewhere.
func (s *protectionSurvey) seeReplaced(p gate.Property, all []protect.Override, rule model.Ref) {
	for _, o := range all {
		if o.Beside || o.Winner == o.Lost.Object || s.policies[o.Winner] == nil {
			continue
		}
		t := s.takers[o.Winner]
		if t == nil {
			t = &takenProtection{}
			s.takers[o.Winner] = t
		}
		t.rules.add(rule)
		what := string(p) + " (" + fieldOf(o.Lost.Field, o.Lost.Object) + ")"
		if !slices.Contains(t.lost, what) {
			t.lost = append(t.lost, what)
		}
	}
}

// fieldOf names a setting of an object.
func fieldOf(field string, of model.Ref) string {
	if field == "" {
		return of.String()
	}
	return field + " of " + of.String()
}

// protects reports whether a property keeps requests out: whoever sets it wants protection.
func protects(p gate.Property) bool {
	return p.IsAccess() || p == gate.WAF || p == gate.RateLimit
}

// seeGates notes what each policy does with gates that are in force at one place.
func (s *protectionSurvey) seeGates(g *protect.Gates, gates []protect.Gate, rule model.Ref) {
	for i := range gates {
		one := &gates[i]
		s.seeOpen(one, rule)
		effect := s.policies[one.Object]
		if effect == nil {
			continue
		}
		failing, trial := failingReasons(gates, one)
		result := g.Of(one.Property)
		switch {
		case trial:
			effect.trial = true
		case len(failing) == 0, protects(one.Property) && result.Verdict == gate.Holds:
			effect.useful = true
		case protects(one.Property):
			effect.fail(failing, rule)
		}
	}
}

// failingReasons are why a gate fails, or an alternative to it of the same policy; none if it holds, or may. Trial: it only reports.
func failingReasons(gates []protect.Gate, of *protect.Gate) (out []protect.Reason, trial bool) {
	for i := range gates {
		one := &gates[i]
		if one.Object != of.Object || one != of && (of.Group == "" || one.Group != of.Group) || one.Verdict() != gate.Fails {
			continue
		}
		for _, r := range one.Reasons {
			trial = trial || r.Code == gate.DryRun
			if r.Code.VerdictOf() == gate.Fails {
				out = append(out, r)
			}
		}
	}
	return out, trial
}

// fail notes that a gate of the policy fails. What is switched off is meant to be.
func (e *policyEffect) fail(reasons []protect.Reason, rule model.Ref) {
	for _, r := range reasons {
		if r.Code == gate.Disabled {
			continue
		}
		e.rules.add(rule)
		if !slices.ContainsFunc(e.reasons, func(o protect.Reason) bool { return o.Message == r.Message }) {
			e.reasons = append(e.reasons, r)
		}
	}
}

// seeOpen notes a gate that is open while its service does not answer.
func (s *protectionSurvey) seeOpen(g *protect.Gate, rule model.Ref) {
	if g.Property != gate.Authentication && g.Property != gate.Authorization && g.Property != gate.WAF || g.Verdict() != gate.Depends {
		return
	}
	for _, r := range g.Reasons {
		if r.Code != gate.FailOpen {
			continue
		}
		effect := s.policies[g.Object]
		if effect == nil {
			effect = &policyEffect{}
			s.policies[g.Object] = effect
		}
		field := g.Field
		if r.Field != "" {
			field = r.Field
		}
		if r.Object != nil && *r.Object != g.Object {
			field = fieldOf(field, *r.Object)
		}
		if !slices.Contains(effect.open, field) {
			effect.open = append(effect.open, field)
		}
		if !slices.Contains(effect.openName, g.Property) {
			effect.openName = append(effect.openName, g.Property)
		}
		effect.openAt.add(rule)
	}
}

// sentences are reasons in words, without the name of the policy that they are about.
func sentences(of model.Ref, reasons []protect.Reason) string {
	var out []string
	name := strings.TrimSpace(of.Kind + " " + of.FullName())
	for _, r := range reasons {
		text := strings.Replace(r.Message, " of "+name, "", 1)
		if rest, found := strings.CutPrefix(text, name+" "); found {
			text = "it " + rest
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "; ")
}

// about is a finding at an object; none if the input does not have it.
func (s *protectionSurvey) about(ref model.Ref, p model.Problem) []model.Problem {
	o := s.res.Snapshot.Get(ref.WithoutSection())
	if o == nil {
		return nil
	}
	return []model.Problem{p.At(o)}
}

// nothing finds policies that protect nothing where they are in force.
func (s *protectionSurvey) nothing() []model.Problem {
	var out []model.Problem
	for ref, e := range s.policies {
		if e.useful || e.trial || len(e.reasons) == 0 {
			continue
		}
		out = append(out, s.about(ref, model.Problem{Severity: model.Warning, Code: model.ProtectsNothing,
			Message: fmt.Sprintf("%s protects nothing on %s: %s", ref, e.rules.text(), sentences(ref, e.reasons)),
			Hint:    "demand what it is there for, or remove it; one that is meant to let everybody in can be suppressed"})...)
	}
	return out
}

// replaced finds policies that take authentication or authorization away where another policy had it.
func (s *protectionSurvey) replaced() []model.Problem {
	var out []model.Problem
	for ref, t := range s.takers {
		slices.Sort(t.lost)
		out = append(out, s.about(ref, model.Problem{Severity: model.Warning, Code: model.ProtectionReplaced,
			Message: fmt.Sprintf("%s takes protection away from %s: without it, they would have %s", ref, t.rules.text(), explain.Few(t.lost)),
			Hint:    "set in it what it takes away, or merge the two where the kind can; one that is meant to open a path can be suppressed"})...)
	}
	return out
}

// failOpen finds policies that let requests in while the service that they ask does not answer.
func (s *protectionSurvey) failOpen() []model.Problem {
	var out []model.Problem
	for ref, e := range s.policies {
		if len(e.open) == 0 {
			continue
		}
		slices.Sort(e.open)
		slices.Sort(e.openName)
		var names []string
		for _, p := range e.openName {
			names = append(names, string(p))
		}
		out = append(out, s.about(ref, model.Problem{Severity: model.Info, Code: model.FailOpenProtection,
			Message: fmt.Sprintf("%s lets requests in without %s while the service that it asks does not answer, on %s: %s", ref, strings.Join(names, " and "), e.openAt.text(), strings.Join(e.open, ", ")),
			Hint:    "who can stop the service gets in: let it fail closed where that matters"})...)
	}
	return out
}

// bypassed finds rules without authentication that take requests away from rules of other routes which have it.
func (s *protectionSurvey) bypassed() []model.Problem {
	if s.matcher == nil {
		return nil
	}
	type bypass struct {
		command string
		of      refList
	}
	found := map[model.Ref]*bypass{}
	rules := map[model.Ref]topology.NodeID{}
	whole := true
	competition := request.Competition{Matcher: s.matcher}
	for _, e := range s.listeners() {
		has := func(v gate.Verdict) func(topology.NodeID) bool {
			return func(rule topology.NodeID) bool { return s.authenticated[place{e.listener, rule}] == v }
		}
		all, complete := competition.Overtakings(e.gateway, e.listener, has(gate.Fails), has(gate.Holds))
		whole = whole && complete
		for _, o := range all {
			if !reaches(o.Answer) || uncertain(o.Answer) {
				continue
			}
			ref := s.res.Node(o.Rule).Ref
			if found[ref] == nil {
				found[ref], rules[ref] = &bypass{command: command(&o.Answer.Request)}, o.Rule
			}
			found[ref].of.add(s.res.Node(o.Of).Ref)
		}
	}
	var out []model.Problem
	for ref, b := range found {
		n := s.res.Node(rules[ref])
		p := model.Problem{Severity: model.Warning, Code: model.ProtectionBypassed,
			Message: fmt.Sprintf("%s takes requests without authentication from %s, where they would need it, such as %s", ref, b.of.text(), b.command),
			Hint:    "let a policy authenticate at the rule as well, or make its matches narrower; one that is meant to open a path can be suppressed"}.
			At(n.Object, "spec", "rules", strconv.Itoa(n.Index))
		out = append(out, p)
	}
	if !whole {
		out = append(out, model.Problem{Severity: model.Info, Code: model.ProtectionBypassed, Message: "not all matches were compared: a listener has too many of one hostname",
			Hint: "ask about paths and hosts with: kubectl dopolicy prove"})
	}
	return out
}

// entryAt is a listener of a Gateway.
type entryAt struct{ gateway, listener topology.NodeID }

// listeners are those of the Gateways, also by ListenerSets.
func (s *protectionSurvey) listeners() []entryAt {
	var out []entryAt
	g := s.res.Graph
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Listener {
			continue
		}
		if gateway := gatewayAbove(g, id); gateway != topology.None {
			out = append(out, entryAt{gateway, id})
		}
	}
	return out
}
