package protection

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
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Findings finds policies that look like protection and are none, that take the protection of
// others away, or that let requests in while a service is down, and routes that take requests away
// from where they have to authenticate. It looks at route rules, on all ways to them.
func Findings(r *resolve.Resolution, m *request.Matcher, judges view.Judges) []model.Problem {
	if _, described := FindProtectiveKinds(r); !described {
		return nil
	}
	s := protectionSurvey{Protector: NewProtector(r, m, judges, nil), policies: map[model.Ref]*policyEffect{},
		replacers: map[model.Ref]*replacedProtection{}, authenticated: map[listenerRule]gate.Verdict{}}
	for _, k := range r.Kinds {
		for _, p := range k.Policies {
			if p.Builtin == "" {
				s.policies[p.Object.Ref] = &policyEffect{}
			}
		}
	}
	if err := s.judgeRules(); err != nil {
		return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "what requests are protected by is not judged: " + err.Error()}}
	}
	return model.SortProblems(slices.Concat(s.findUselessPolicies(), s.findReplacingPolicies(),
		s.findFailOpenPolicies(), s.findBypassingRules()))
}

// protectionSurvey gathers what policies do where they are in force.
type protectionSurvey struct {
	*Protector
	policies      map[model.Ref]*policyEffect
	replacers     map[model.Ref]*replacedProtection // by the policy that takes it
	authenticated map[listenerRule]gate.Verdict
}

// listenerRule is a route rule at a listener.
type listenerRule struct{ listener, rule topology.NodeID }

// policyEffect is what one policy establishes, over all places where it is in force.
type policyEffect struct {
	useful             bool // something that it establishes holds, or may
	onlyReports        bool // a part of it only reports
	reasons            []protect.Reason
	unprotectedRules   refList // where it protects nothing
	failOpenFields     []string
	failOpenRules      refList // the rules where it lets requests in while a service does not answer
	failOpenProperties []gate.Property
}

// isUseful reports whether the policy does not fail to protect.
func (e *policyEffect) isUseful() bool { return e.useful || e.onlyReports || len(e.reasons) == 0 }

// replacedProtection is what one policy takes away from others.
type replacedProtection struct {
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

// formatRules counts route rules and names the first.
func (l *refList) formatRules() string {
	slices.SortFunc(l.list, model.Ref.Compare)
	names := make([]string, len(l.list))
	for i, ref := range l.list {
		names[i] = ref.String()
	}
	return view.FormatCount(len(names), "route rule") + " (" + explain.ListNames(names) + ")"
}

// judgeRules judges all route rules on all paths.
func (s *protectionSurvey) judgeRules() error {
	var apart []topology.NodeID
	for _, id := range s.res.Graph.Order(topology.All) {
		if n := s.res.Node(id); n.Role != topology.Rule || n.Delegates {
			continue
		}
		if len(s.FindTests(id)) > 0 {
			apart = append(apart, id)
			continue
		}
		for _, way := range s.paths.To(id) {
			s.noteClass(s.Judge.FindGates(s.buildSampleAnswer(id, way)), true)
		}
	}
	return s.eachClass(apart, func(a *request.Answer, sure bool) {
		if requests.IsSentToBackend(a) {
			s.noteClass(s.Judge.FindGates(a), sure)
		}
	})
}

// noteClass notes what holds for the requests of one class on one path.
func (s *protectionSurvey) noteClass(g *protect.Gates, sure bool) {
	if g.Redirects || s.takesOnlyPreflights(g.Rule) {
		return
	}
	rule := s.res.Node(g.Rule).Ref
	for _, all := range append([][]protect.Gate{g.Before}, g.Backends...) {
		s.noteGates(g, all, rule)
	}
	if !sure {
		return
	}
	at := listenerRule{g.Listener, g.Rule}
	s.authenticated[at] = worstVerdict(s.authenticated[at], g.JudgeProperty(gate.Authentication))
	for _, p := range []gate.Property{gate.Authentication, gate.Authorization} {
		if result := g.JudgeProperty(p); result.Verdict == gate.Fails {
			s.noteReplaced(p, result.Replaced, rule)
		}
	}
}

// takesOnlyPreflights reports whether a rule takes nothing but OPTIONS requests: a browser sends
// them without credentials before others.
func (s *protectionSurvey) takesOnlyPreflights(rule topology.NodeID) bool {
	n := s.res.Node(rule)
	matches := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "matches")
	for _, m := range matches.Items {
		if m.Text("method") != "OPTIONS" {
			return false
		}
	}
	return matches.Len() > 0
}

// worstVerdict returns the verdict of several classes together.
func worstVerdict(known gate.Verdict, result protect.Result) gate.Verdict {
	all := protect.WorstOf(protect.Result{Verdict: known}, result)
	return all.Verdict
}

// noteReplaced notes gates that lost to policies attached elsewhere.
func (s *protectionSurvey) noteReplaced(p gate.Property, all []protect.Override, rule model.Ref) {
	for _, o := range all {
		if o.SameTarget || o.Winner == o.Lost.Object || s.policies[o.Winner] == nil {
			continue
		}
		t := s.replacers[o.Winner]
		if t == nil {
			t = &replacedProtection{}
			s.replacers[o.Winner] = t
		}
		t.rules.add(rule)
		what := string(p) + " (" + formatField(o.Lost.Field, o.Lost.Object) + ")"
		if !slices.Contains(t.lost, what) {
			t.lost = append(t.lost, what)
		}
	}
}

// formatField names a setting of an object.
func formatField(field string, of model.Ref) string {
	if field == "" {
		return of.String()
	}
	return field + " of " + of.String()
}

// isProtective reports whether a property keeps requests out, so that whoever sets it wants
// protection.
func isProtective(p gate.Property) bool {
	return p.IsAccess() || p == gate.WAF || p == gate.RateLimit
}

// noteGates notes what each policy does with the gates in force on one path.
func (s *protectionSurvey) noteGates(g *protect.Gates, gates []protect.Gate, rule model.Ref) {
	failures := map[gateGroup]*gateFailure{} // of groups
	for i := range gates {
		if one := &gates[i]; one.Group != "" {
			key := gateGroup{one.Object, one.Group}
			if failures[key] == nil {
				failures[key] = &gateFailure{}
			}
			failures[key].addGate(one)
		}
	}
	for i := range gates {
		one := &gates[i]
		s.noteFailOpen(one, rule)
		effect := s.policies[one.Object]
		if effect == nil {
			continue
		}
		failure := failures[gateGroup{one.Object, one.Group}]
		if failure == nil {
			failure = &gateFailure{}
			failure.addGate(one)
		}
		result := g.JudgeProperty(one.Property)
		switch {
		case failure.trial:
			effect.onlyReports = true
		case len(failure.reasons) == 0, isProtective(one.Property) && result.Verdict == gate.Holds:
			effect.useful = true
		case isProtective(one.Property):
			effect.noteFailure(failure.reasons, rule)
		}
	}
}

// gateGroup is what alternatives of one policy have in common.
type gateGroup struct {
	object model.Ref
	name   string
}

// gateFailure is why a gate, or one of several alternatives, fails; none if all hold or may hold.
type gateFailure struct {
	reasons []protect.Reason
	trial   bool // one only reports
}

// addGate notes why a gate fails.
func (f *gateFailure) addGate(g *protect.Gate) {
	if g.Verdict() != gate.Fails {
		return
	}
	for _, r := range g.Reasons {
		f.trial = f.trial || r.Code == gate.DryRun
		if r.Code.VerdictOf() == gate.Fails {
			f.reasons = append(f.reasons, r)
		}
	}
}

// noteFailure notes that a gate of the policy fails. A gate that is switched off is taken to be
// meant so.
func (e *policyEffect) noteFailure(reasons []protect.Reason, rule model.Ref) {
	for _, r := range reasons {
		if r.Code == gate.Disabled {
			continue
		}
		e.unprotectedRules.add(rule)
		if !slices.ContainsFunc(e.reasons, func(o protect.Reason) bool { return o.Message == r.Message }) {
			e.reasons = append(e.reasons, r)
		}
	}
}

// noteFailOpen notes a gate that lets requests in while its service does not answer.
func (s *protectionSurvey) noteFailOpen(g *protect.Gate, rule model.Ref) {
	if g.Property != gate.Authentication && g.Property != gate.Authorization && g.Property != gate.WAF ||
		g.Verdict() != gate.Depends {
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
			field = formatField(field, *r.Object)
		}
		if !slices.Contains(effect.failOpenFields, field) {
			effect.failOpenFields = append(effect.failOpenFields, field)
		}
		if !slices.Contains(effect.failOpenProperties, g.Property) {
			effect.failOpenProperties = append(effect.failOpenProperties, g.Property)
		}
		effect.failOpenRules.add(rule)
	}
}

// formatReasonsAbout says reasons in words, without the name of the policy that they are about.
func formatReasonsAbout(of model.Ref, reasons []protect.Reason) string {
	var out []string
	name := of.String()
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

// locateFinding puts a finding at an object; it returns none if the input does not have the object.
func (s *protectionSurvey) locateFinding(ref model.Ref, p model.Problem) []model.Problem {
	o := s.res.Snapshot.Get(ref.WithoutSection())
	if o == nil {
		return nil
	}
	return []model.Problem{p.At(o)}
}

// findUselessPolicies finds policies that protect nothing where they are in force.
func (s *protectionSurvey) findUselessPolicies() []model.Problem {
	var out []model.Problem
	for ref, e := range s.policies {
		if e.isUseful() || s.replacers[ref] != nil { // which says it
			continue
		}
		if !slices.ContainsFunc(e.reasons, func(r protect.Reason) bool { return r.Code != gate.Skipped }) {
			out = append(out, s.locateFinding(ref, model.Problem{Severity: model.Info, Code: model.ProtectsNothing,
				Message: fmt.Sprintf("%s is about requests that none of %s gets: %s", ref,
					e.unprotectedRules.formatRules(), formatReasonsAbout(ref, e.reasons)),
				Hint: "add the routes of these requests if there are any"})...)
			continue
		}
		out = append(out, s.locateFinding(ref, model.Problem{Severity: model.Warning, Code: model.ProtectsNothing,
			Message: fmt.Sprintf("%s protects nothing on %s: %s", ref, e.unprotectedRules.formatRules(),
				formatReasonsAbout(ref, e.reasons)),
			Hint: "make it require what it should, or remove it; one that is meant to let everybody in can be suppressed"})...)
	}
	return out
}

// findReplacingPolicies finds policies that take authentication or authorization away where another
// policy had it.
func (s *protectionSurvey) findReplacingPolicies() []model.Problem {
	var out []model.Problem
	for ref, t := range s.replacers {
		slices.Sort(t.lost)
		message := fmt.Sprintf("%s takes protection away from %s: without it, they would have %s", ref,
			t.rules.formatRules(), explain.ListNames(t.lost))
		if e := s.policies[ref]; !e.isUseful() {
			message += "; and it protects nothing itself: " + formatReasonsAbout(ref, e.reasons)
		}
		out = append(out, s.locateFinding(ref, model.Problem{Severity: model.Warning, Code: model.ProtectionReplaced,
			Message: message,
			Hint:    "set in it what it takes away, or merge the two where the kind can; one that is meant to open a path can be suppressed"})...)
	}
	return out
}

// findFailOpenPolicies finds policies that let requests in while the service that they ask does not
// answer.
func (s *protectionSurvey) findFailOpenPolicies() []model.Problem {
	var out []model.Problem
	for ref, e := range s.policies {
		if len(e.failOpenFields) == 0 {
			continue
		}
		slices.Sort(e.failOpenFields)
		slices.Sort(e.failOpenProperties)
		var names []string
		for _, p := range e.failOpenProperties {
			names = append(names, string(p))
		}
		out = append(out, s.locateFinding(ref, model.Problem{Severity: model.Info, Code: model.FailOpenProtection,
			Message: fmt.Sprintf(
				"%s lets requests in without %s while the service that it asks does not answer, on %s: %s", ref,
				strings.Join(names, " and "), e.failOpenRules.formatRules(), strings.Join(e.failOpenFields, ", ")),
			Hint: "who can stop the service gets in: let it fail closed where that matters"})...)
	}
	return out
}

// findBypassingRules finds rules without authentication that take requests away from rules of other
// routes which have it.
func (s *protectionSurvey) findBypassingRules() []model.Problem {
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
	for _, e := range s.listListeners() {
		has := func(v gate.Verdict) func(topology.NodeID) bool {
			return func(rule topology.NodeID) bool { return s.authenticated[listenerRule{e.listener, rule}] == v }
		}
		all, complete := competition.FindInterceptions(e.gateway, e.listener, has(gate.Fails), has(gate.Holds))
		whole = whole && complete
		for _, o := range all {
			if !requests.IsSentToBackend(o.Answer) || requests.HasUncertainOrder(o.Answer) {
				continue
			}
			ref := s.res.Node(o.Rule).Ref
			if found[ref] == nil {
				found[ref], rules[ref] = &bypass{command: requests.FormatCommand(&o.Answer.Request)}, o.Rule
			}
			found[ref].of.add(s.res.Node(o.From).Ref)
		}
	}
	var out []model.Problem
	for ref, b := range found {
		n := s.res.Node(rules[ref])
		p := model.Problem{Severity: model.Warning, Code: model.ProtectionBypassed,
			Message: fmt.Sprintf(
				"%s takes requests without authentication from %s, where they would need it, such as %s", ref,
				b.of.formatRules(), b.command),
			Hint: "let a policy authenticate at the rule as well, or make its matches narrower; one that is meant to open a path can be suppressed"}.
			At(n.Object, "spec", "rules", strconv.Itoa(n.Index))
		out = append(out, p)
	}
	if !whole {
		out = append(out, model.Problem{Severity: model.Info, Code: model.ProtectionBypassed,
			Message: "not all matches were compared: a listener has too many of one hostname",
			Hint:    "ask about paths and hosts with: kubectl dopolicy prove"})
	}
	return out
}

// gatewayListener is a listener of a Gateway.
type gatewayListener struct{ gateway, listener topology.NodeID }

// listListeners returns the listeners of the Gateways, those of ListenerSets included.
func (s *protectionSurvey) listListeners() []gatewayListener {
	var out []gatewayListener
	g := s.res.Graph
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Listener {
			continue
		}
		if gateway := FindGatewayAbove(g, id); gateway != topology.None {
			out = append(out, gatewayListener{gateway, id})
		}
	}
	return out
}
