package authorization

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// The order of the filters of a proxy: tokens are read first, then CUSTOM, DENY and ALLOW are
// asked.
const (
	tokenOrder  = 10
	customOrder = 20
	denyOrder   = 30
	allowOrder  = 31
)

var (
	authorizationKind  = model.GroupKind{Group: "security.istio.io", Kind: "AuthorizationPolicy"}
	authenticationKind = model.GroupKind{Group: "security.istio.io", Kind: "RequestAuthentication"}
)

// BuildTokenGates are the gates of the JWT rules of one issuer. A rule with presence REQUIRED stands
// alone: a request without its token is answered with 401, whatever other tokens it has
// (istio.io/api v1.32.0, security/v1beta1/request_authentication.proto:486-506). All other rules are
// one gate: a token is verified if it is sent (istio 86c9f01fd73,
// pilot/pkg/security/authn/policy_applier.go:252-275), and missing only if the authorization lets
// nobody in without one. A bad token is answered with 401.
func BuildTokenGates(in protect.Input, g protect.Gate) []protect.Gate {
	g.Field, g.Order = "jwtRules", tokenOrder
	if len(in.FindValues(slices.Concat(in.Path, []string{"audiences"}))) > 0 {
		g.Answers = append(slices.Clone(g.Answers), "403") // to a token for another audience
	}
	issuer := in.Path[len(in.Path)-1]
	var out []protect.Gate
	var places []string // of the rules that are not required
	optional := false
	for _, rule := range ListTokenRules(in.Verdict) {
		switch {
		case !rule.Required:
			places = append(places, rule.Places...)
			optional = optional || rule.Issuer == issuer
		case rule.Issuer == issuer:
			one := g
			one.Group, one.Reads, one.Missing = "", rule.Places, []string{"401"}
			if in.Reader.LacksCredential(one.Reads) {
				one.Refuses = protect.AlwaysRefuses
			}
			out = append(out, one)
		}
	}
	if !optional {
		return out
	}
	g.Group, g.Reads, g.Missing = in.GroupOf("jwtRules"), listOnce(places), []string{}
	if v := in.InForceAt(authorizationKind, in.Node); v == nil || !demandsToken(in, v) {
		g.AddReason(gate.MissingAllowed, g.Field)
	}
	if in.Reader.LacksCredential(g.Reads) {
		g.Refuses = protect.NeverRefuses
	}
	return append(out, g)
}

// TokenRule is a JWT rule in force at a place.
type TokenRule struct {
	Issuer   string
	Required bool     // a request without its token is refused
	Places   []string // where its token is; see protect.RequestReader.LacksCredential
	Policy   *model.Object
}

// ListTokenRules lists the JWT rules in force at a place.
func ListTokenRules(v *resolve.Verdict) []TokenRule {
	var out []TokenRule
	for i := range v.Result.Rules {
		rule := &v.Result.Rules[i]
		if len(rule.Path) != 2 || len(rule.From) == 0 {
			continue
		}
		out = append(out, NewTokenRule(merge.Unpack(rule.Value), v.Layers[rule.From[0].Layer].Policy.Object))
	}
	return out
}

// NewTokenRule reads a JWT rule of a policy. Its token is in the header Authorization or the
// parameter access_token, if the rule does not say.
func NewTokenRule(rule any, policy *model.Object) TokenRule {
	out := TokenRule{Issuer: model.Text(rule, "issuer"), Required: model.Text(rule, "presence") == "REQUIRED",
		Policy: policy}
	headers, _ := model.Get(rule, "fromHeaders").([]any)
	for _, h := range headers {
		out.Places = append(out.Places, "header "+strings.ToLower(model.Text(h, "name")))
	}
	for _, name := range model.Texts(rule, "fromParams") {
		out.Places = append(out.Places, "query "+name)
	}
	for _, name := range model.Texts(rule, "fromCookies") {
		out.Places = append(out.Places, "cookie "+name)
	}
	if len(out.Places) == 0 {
		out.Places = []string{"header authorization", "query access_token"}
	}
	return out
}

// Tests are what a required rule tells requests apart by: whether a header has a token.
func (r *TokenRule) Tests() []request.Test {
	var out []request.Test
	for _, place := range r.Places {
		if name, ok := strings.CutPrefix(place, "header "); ok {
			out = append(out, newTest(request.Test{Aspect: request.AspectHeader, Name: name}, "*"))
		}
	}
	return out
}

// listTokenPlaces are where the JWT rules look for tokens.
func listTokenPlaces(v *resolve.Verdict) []string {
	var out []string
	for _, rule := range ListTokenRules(v) {
		out = append(out, rule.Places...)
	}
	return listOnce(out)
}

// listOnce returns what is in a list, each once, in order.
func listOnce(all []string) []string {
	var out []string
	for _, one := range all {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// demandsToken reports whether the authorization lets nobody in without a token.
func demandsToken(in protect.Input, v *resolve.Verdict) bool {
	for _, s := range requestViewsOf(in, v) {
		if found := s.readRules(v).decide(facts{tokenFact: false}); !found.DeniesAll {
			return false
		}
	}
	return true
}

// authzRule is a rule of an AuthorizationPolicy as the requests of a class meet it.
type authzRule struct {
	action  string
	dryRun  bool
	object  model.Ref
	name    string
	matches predicate
	value   any // as it is written
}

// authzRules are all rules at a place.
type authzRules []authzRule

// rulesKey is what rules are cached by.
type rulesKey struct {
	verdict *resolve.Verdict
	host    string
	port    int32
	open    bool
}

// readRules reads the rules in force, each set of them once.
func (s requestView) readRules(v *resolve.Verdict) authzRules {
	out, _ := s.requests.Cached(rulesKey{v, s.host, s.port, s.operationsUnknown},
		func() any { return s.readRulesUncached(v) }).(authzRules)
	return out
}

func (s requestView) readRulesUncached(v *resolve.Verdict) authzRules {
	var out authzRules
	for i := range v.Result.Rules {
		rule := &v.Result.Rules[i]
		if len(rule.Path) != 2 || len(rule.From) == 0 {
			continue
		}
		action, shadow := strings.CutPrefix(rule.Path[0].Name, "shadow-")
		plain := merge.Unpack(rule.Value)
		out = append(out, authzRule{action: action, dryRun: shadow || action == "AUDIT", name: rule.Name,
			matches: s.readPredicate(plain),
			object:  v.Layers[rule.From[0].Layer].Policy.Object.Ref, value: plain})
	}
	return out
}

// withAction returns the rules of an action that are enforced.
func (all authzRules) withAction(action string) authzRules {
	return slices.DeleteFunc(slices.Clone(all), func(r authzRule) bool { return r.dryRun || r.action != action })
}

// allowRequest reports whether a request with these facts gets through, whatever a provider says.
func (all authzRules) allowRequest(f facts) bool {
	some, allowed := false, false
	for _, r := range all {
		if r.dryRun {
			continue
		}
		switch r.action {
		case "DENY":
			if r.matches.evaluate(f) == selector.Yes {
				return false
			}
		case "ALLOW":
			some = true
			allowed = allowed || r.matches.evaluate(f) == selector.Yes
		}
	}
	return allowed || !some
}

// decide tries all combinations of the facts that are not known.
func (all authzRules) decide(known facts) protect.Findings {
	var open []factName
	decided := slices.ContainsFunc(all.withAction("ALLOW"),
		func(r authzRule) bool { return r.matches.evaluate(known) == selector.Yes })
	for _, r := range all {
		if !r.dryRun && (r.action == "DENY" || r.action == "ALLOW" && !decided) {
			r.matches.addOpenFacts(known, &open)
		}
	}
	var d protect.Decision
	numbers := map[factName]protect.Fact{}
	for _, name := range open {
		if name.kind != protect.Address {
			numbers[name] = d.AddFact(name.kind)
			continue
		}
		address, networks, _ := strings.Cut(name.text, " ")
		var list []any
		for _, n := range strings.Fields(networks) {
			list = append(list, n)
		}
		numbers[name] = d.AddNetworks(address, list)
	}
	d.Allows = func(holds func(protect.Fact) bool) bool {
		f := maps.Clone(known)
		if f == nil {
			f = facts{}
		}
		for name, n := range numbers {
			f[name] = holds(n)
		}
		return all.allowRequest(f)
	}
	return d.Judge()
}

// anonymousFacts is a client without any identity.
func anonymousFacts() facts { return facts{tokenFact: false, peerFact: false} }

// NewRuleGates returns what makes the gates of the rules of all AuthorizationPolicies at a place.
// failsOpen reports whether requests get in while a provider does not answer.
func NewRuleGates(failsOpen func(r *resolve.Resolution, provider string) bool) func(protect.Input,
	protect.Gate) []protect.Gate {
	return func(in protect.Input, g protect.Gate) []protect.Gate {
		if !in.IsFirst() {
			return nil
		}
		var out []protect.Gate
		for _, s := range requestViewsOf(in, in.Verdict) {
			one := ruleGateBuilder{in: in, base: g, rules: s.readRules(in.Verdict), failsOpen: failsOpen}
			made := one.buildGates()
			if out == nil || one.rankGates(made) > one.rankGates(out) {
				out = made
			}
		}
		return out
	}
}

// ruleGateBuilder makes the gates of one property.
type ruleGateBuilder struct {
	in        protect.Input
	base      protect.Gate
	rules     authzRules
	failsOpen func(r *resolve.Resolution, provider string) bool
}

// rankGates orders what is found for several hosts or ports: the best is where nobody gets through.
func (j *ruleGateBuilder) rankGates(gates []protect.Gate) int {
	if len(gates) == 0 {
		return 3
	}
	worst, best := 0, 4
	for i := range gates {
		n := 1
		switch gates[i].Verdict() {
		case gate.Fails:
			n = 4
		case gate.Depends:
			n = 2
		}
		if slices.ContainsFunc(gates[i].Reasons, func(r protect.Reason) bool { return r.Code == gate.DeniesAll }) {
			n = 0
		}
		worst, best = max(worst, n), min(best, n)
	}
	if best == 0 {
		return 0
	}
	return worst
}

func (j *ruleGateBuilder) buildGates() []protect.Gate {
	switch j.base.Property {
	case gate.Authentication:
		return append(j.authenticationGates(), j.dryRunGates()...)
	case gate.IPList:
		return j.addressGates()
	}
	return append(j.authorizationGates(), j.dryRunGates()...)
}

// buildGate is the gate of one rule.
func (j *ruleGateBuilder) buildGate(r authzRule, group string, codes ...gate.Code) protect.Gate {
	g := j.base
	g.Object, g.Field, g.Refuses = r.object, r.name, protect.NeverRefuses
	if group != "" {
		g.Group = j.in.GroupOf(group)
	}
	for _, code := range codes {
		g.AddReason(code, r.name)
	}
	return g
}

// dryRunGates are gates of rules that only report, if the property is what they are about.
func (j *ruleGateBuilder) dryRunGates() []protect.Gate {
	var out []protect.Gate
	for _, r := range j.rules {
		if r.dryRun && (j.base.Property != gate.Authentication || r.matches.usesFact(isIdentity) ||
			r.action == "CUSTOM") {
			out = append(out, j.buildGate(r, "", gate.DryRun))
		}
	}
	return out
}

// customGates are gates of the provider: it may refuse, and whom is not known.
func (j *ruleGateBuilder) customGates() []protect.Gate {
	var out []protect.Gate
	best := selector.No // of all rules: one that matches is enough for the provider to be asked
	for _, r := range j.rules.withAction("CUSTOM") {
		best = max(best, r.matches.evaluate(nil))
	}
	for _, r := range j.rules.withAction("CUSTOM") {
		var codes []gate.Code
		g := j.buildGate(r, "CUSTOM")
		switch matches := r.matches.evaluate(nil); {
		case matches != best:
			continue
		case matches == selector.Maybe:
			codes = append(codes, gate.Condition)
		case matches == selector.No:
			codes = append(codes, gate.Skipped)
		case j.base.Property == gate.Authentication:
			codes = append(codes, gate.ExternalDecision)
		}
		if j.failsOpen(j.in.Resolution(), model.Text(r.value, "provider")) {
			codes = append(codes, gate.FailOpen)
		}
		for _, code := range codes {
			g.AddReason(code, r.name)
		}
		if j.base.Property == gate.Authorization && r.matches.evaluate(nil) != selector.No {
			g.Refuses, g.Answers, g.Missing, g.Order = protect.MayRefuse, []string{protect.AnyStatus}, []string{
				protect.AnyStatus}, customOrder
		}
		out = append(out, g)
	}
	return out
}

// authenticationGates are gates of rules that look at who asks. Alternatives that ask for nobody's
// identity let everybody in.
func (j *ruleGateBuilder) authenticationGates() []protect.Gate {
	out := j.customGates()
	asks := func(r authzRule) bool { return r.matches.usesFact(isIdentity) }
	enforced := append(j.rules.withAction("DENY"), j.rules.withAction("ALLOW")...)
	if !slices.ContainsFunc(enforced, asks) {
		return out
	}
	found := j.rules.decide(anonymousFacts())
	switch {
	case found.DeniesAll:
		return append(out, j.demandingGates()...)
	case found.Anonymous == gate.Fails:
		return append(out, j.anonymousGates()...)
	}
	for _, r := range enforced {
		if r.matches.evaluate(anonymousFacts()) == selector.Maybe {
			out = append(out, j.buildGate(r, "anonymous", gate.Condition))
		}
	}
	return out
}

// identityMethods are the identities that rules may ask for.
var identityMethods = []struct {
	fact factName
	name string
}{{tokenFact, "jwt"}, {peerFact, "mtls"}}

// demandingGates are the gates where nobody gets in without an identity: of each list and method
// that is enough by itself, else of all together.
func (j *ruleGateBuilder) demandingGates() []protect.Gate {
	var out []protect.Gate
	add := func(rules authzRules, group, method string, fact factName) {
		for _, r := range rules {
			if r.matches.evaluate(nil) == selector.No ||
				!r.matches.usesFact(func(f factName) bool { return f == fact }) {
				continue
			}
			g := j.buildGate(r, group)
			g.Method = method
			out = append(out, g)
		}
	}
	for _, action := range []string{"DENY", "ALLOW"} {
		list := j.rules.withAction(action)
		n := len(out)
		for _, m := range identityMethods {
			if list.decide(facts{m.fact: false}).DeniesAll {
				add(list, action+" "+m.name, m.name, m.fact)
			}
		}
		if n == len(out) && list.decide(anonymousFacts()).DeniesAll {
			for _, m := range identityMethods {
				add(list, action, m.name, m.fact)
			}
		}
	}
	if out == nil {
		for _, m := range identityMethods {
			add(append(j.rules.withAction("DENY"), j.rules.withAction("ALLOW")...), "together", m.name, m.fact)
		}
	}
	return out
}

// anonymousGates are the gates where somebody gets in without an identity: those that admit them.
func (j *ruleGateBuilder) anonymousGates() []protect.Gate {
	var out []protect.Gate
	for _, r := range j.rules.withAction("ALLOW") {
		if r.matches.evaluate(anonymousFacts()) != selector.No {
			out = append(out, j.buildGate(r, "ALLOW", anonymousCode(r.value)))
		}
	}
	if len(j.rules.withAction("ALLOW")) > 0 {
		return out
	}
	for _, r := range j.rules.withAction("DENY") {
		if !r.matches.usesFact(isIdentity) {
			continue
		}
		code := gate.AnonymousAllowed
		if r.matches.evaluate(anonymousFacts()) == selector.No && r.matchesSomeRequests() {
			code = gate.Skipped
		}
		out = append(out, j.buildGate(r, "DENY", code))
	}
	return out
}

// anonymousCode is why a rule lets anonymous requests in: it is for some requests, or for some
// addresses.
func anonymousCode(rule any) gate.Code {
	if isForSomeRequests(rule) {
		return gate.Skipped
	}
	return gate.AnonymousAllowed
}

func (r *authzRule) matchesSomeRequests() bool { return isForSomeRequests(r.value) }

// isForSomeRequests reports whether a rule is for some requests only, by what is asked and not by
// whom.
func isForSomeRequests(rule any) bool {
	if to, _ := model.Get(rule, "to").([]any); len(to) > 0 {
		return true
	}
	conditions, _ := model.Get(rule, "when").([]any)
	return slices.ContainsFunc(conditions, func(c any) bool {
		key := model.Text(c, "key")
		return !strings.HasPrefix(key, "source.") && !strings.HasPrefix(key, "remote.") &&
			!strings.HasPrefix(key, "request.auth.")
	})
}

// addressGates are gates of rules that look at addresses.
func (j *ruleGateBuilder) addressGates() []protect.Gate {
	enforced := append(j.rules.withAction("DENY"), j.rules.withAction("ALLOW")...)
	listed := slices.DeleteFunc(slices.Clone(enforced),
		func(r authzRule) bool { return !r.matches.usesFact(isAddress) })
	var out []protect.Gate
	if len(listed) == 0 {
		for _, r := range enforced {
			if listsAddresses(r.value) {
				out = append(out, j.buildGate(r, "ip", gate.AnyAddress))
			}
		}
		return out
	}
	found := j.rules.decide(nil)
	if found.Listed == gate.Holds || found.DeniesAll {
		for _, r := range listed {
			out = append(out, j.buildGate(r, ""))
		}
		return out
	}
	code := gate.Skipped
	if found.Listed == gate.Depends {
		code = gate.Condition
	}
	for _, r := range j.rules.withAction("ALLOW") {
		if !r.matches.usesFact(isAddress) && r.matches.evaluate(nil) != selector.No {
			out = append(out, j.buildGate(r, "ip", code))
		}
	}
	for _, r := range listed {
		if out == nil || r.action == "DENY" {
			out = append(out, j.buildGate(r, "ip", code))
		}
	}
	return out
}

// listsAddresses reports whether a rule names blocks of addresses.
func listsAddresses(rule any) bool {
	from, _ := model.Get(rule, "from").([]any)
	return slices.ContainsFunc(from, func(e any) bool {
		for _, name := range []string{"ipBlocks", "remoteIpBlocks"} {
			if len(model.Texts(e, "source", name)) > 0 {
				return true
			}
		}
		return false
	})
}

// authorizationGates are gates of the decision as a whole: for all requests of the place together
// it has to be able to refuse one. What it does with this request is said as well.
func (j *ruleGateBuilder) authorizationGates() []protect.Gate {
	out := j.customGates()
	deny, allow := j.rules.withAction("DENY"), j.rules.withAction("ALLOW")
	if len(deny)+len(allow) == 0 {
		return out
	}
	if all := j.rules.decide(nil); all.DeniesAll {
		return append(out, j.denyAllGates(deny, allow)...)
	}
	whole := requestView{requests: j.in.Reader, operationsUnknown: true}.readRules(j.in.Verdict)
	idle := whole.decide(j.certainFacts()).Refuses == gate.Fails
	sent := j.missingIdentity()
	for _, r := range deny {
		g := j.buildGate(r, "")
		switch r.matches.evaluate(sent) {
		case selector.Yes:
			g.Refuses = protect.AlwaysRefuses
		case selector.Maybe:
			g.Refuses = protect.MayRefuse
		}
		if g.Refuses != protect.NeverRefuses {
			j.setForbidden(&g, denyOrder)
		}
		if idle {
			g.AddReason(gate.AllowsAll, r.name)
		}
		out = append(out, g)
	}
	return append(out, j.allowGates(allow, idle)...)
}

// allowGates are gates of the rules that allow, of which one is enough.
func (j *ruleGateBuilder) allowGates(allow authzRules, idle bool) []protect.Gate {
	var out []protect.Gate
	sent := j.missingIdentity()
	refused := allow.decide(sent)
	isConstant := func(r authzRule) bool {
		return r.matches.evaluate(nil) == selector.Yes &&
			!isForSomeRequests(r.value)
	}
	constant := slices.ContainsFunc(allow, isConstant)
	for _, r := range allow {
		if idle && constant && !isConstant(r) || r.matches.evaluate(nil) == selector.No && len(allow) > 1 &&
			!isForSomeRequests(r.value) {
			continue
		}
		g := j.buildGate(r, "ALLOW")
		switch {
		case refused.DeniesAll:
			g.Refuses = protect.AlwaysRefuses
		case refused.Refuses != gate.Fails:
			g.Refuses = protect.MayRefuse
		}
		if g.Refuses != protect.NeverRefuses {
			j.setForbidden(&g, allowOrder)
		}
		if idle {
			g.AddReason(gate.AllowsAll, r.name)
		}
		out = append(out, g)
	}
	return out
}

// denyAllGates are the gates where nobody gets in: the rules that deny everybody, else those that
// would allow.
func (j *ruleGateBuilder) denyAllGates(deny, allow authzRules) []protect.Gate {
	var out []protect.Gate
	rules := slices.DeleteFunc(slices.Clone(deny),
		func(r authzRule) bool { return r.matches.evaluate(nil) != selector.Yes })
	if len(rules) == 0 {
		rules = allow
	}
	if len(rules) == 0 {
		rules = deny
	}
	for _, r := range rules {
		g := j.buildGate(r, "denied", gate.DeniesAll)
		g.Refuses = protect.AlwaysRefuses
		j.setForbidden(&g, denyOrder)
		out = append(out, g)
	}
	return out
}

// certainFacts is what is known of every request: without a RequestAuthentication no token is
// verified.
func (j *ruleGateBuilder) certainFacts() facts {
	if j.in.InForceAt(authenticationKind, j.in.Node) == nil {
		return facts{tokenFact: false}
	}
	return nil
}

// missingIdentity is what is known of the identity of the request as it is written: a token that it
// does not have is missing; whether the connection has a certificate is not known.
func (j *ruleGateBuilder) missingIdentity() facts {
	if j.in.Reader.LacksCredential(j.findTokenPlaces()) {
		return facts{tokenFact: false}
	}
	return facts{}
}

// findTokenPlaces are where tokens are read at the place.
func (j *ruleGateBuilder) findTokenPlaces() []string {
	if v := j.in.InForceAt(authenticationKind, j.in.Node); v != nil {
		return listTokenPlaces(v)
	}
	return []string{"header authorization", "query access_token"}
}

func (j *ruleGateBuilder) setForbidden(g *protect.Gate, order int) {
	g.Answers, g.Missing, g.Order = []string{"403"}, []string{"403"}, order
}
