package istio

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gates complete what kinds.yaml says of how settings keep requests out.
func gates() protect.Functions {
	return protect.Functions{"istio.Rules": ruleGates, "istio.Tokens": tokenGate, "istio.Peers": peerGate}
}

// The order of the filters of a proxy: tokens are read first, then CUSTOM, DENY and ALLOW are asked.
const (
	tokensFirst = 10
	customOrder = 20
	denyOrder   = 30
	allowOrder  = 31
)

var (
	authorizationKind  = model.GroupKind{Group: securityGroup, Kind: "AuthorizationPolicy"}
	authenticationKind = model.GroupKind{Group: securityGroup, Kind: "RequestAuthentication"}
)

// tokenGate is that of the JWT rules of all RequestAuthentications: a token is verified if it is sent
// (istio 86c9f01fd73, pilot/pkg/security/authn/policy_applier.go:252-275), and missing only if the
// authorization lets nobody in without one. A bad token is answered with 401, a missing one never.
func tokenGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Field, g.Group, g.Order = "jwtRules", in.GroupOf("jwtRules"), tokensFirst
	g.Reads, g.Missing = tokenPlaces(in.Verdict), []string{}
	if v := in.InForceAt(authorizationKind, in.Node); v == nil || !demandsToken(in, v) {
		g.Weaken(gate.MissingAllowed, g.Field)
	}
	if in.Look.Lacks(g.Reads) {
		g.Refuses = protect.Never
	}
	return []protect.Gate{g}
}

// tokenPlaces are where the JWT rules look for tokens: the header Authorization and the parameter
// access_token, if a rule does not say.
func tokenPlaces(v *resolve.Verdict) []string {
	var out []string
	add := func(place string) {
		if !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	for i := range v.Result.Rules {
		rule := merge.Plain(v.Result.Rules[i].Value)
		headers, _ := model.Get(rule, "fromHeaders").([]any)
		params, cookies := model.Texts(rule, "fromParams"), model.Texts(rule, "fromCookies")
		if len(headers)+len(params)+len(cookies) == 0 {
			add("header authorization")
			add("query access_token")
		}
		for _, h := range headers {
			add("header " + strings.ToLower(model.Text(h, "name")))
		}
		for _, name := range params {
			add("query " + name)
		}
		for _, name := range cookies {
			add("cookie " + name)
		}
	}
	return out
}

// demandsToken reports whether the authorization lets nobody in without a token.
func demandsToken(in protect.Input, v *resolve.Verdict) bool {
	for _, s := range sightsOf(in, v) {
		if found := s.read(v).judge(facts{tokenFact: false}); !found.DeniesAll {
			return false
		}
	}
	return true
}

// authzRule is a rule of an AuthorizationPolicy as the requests of a class meet it.
type authzRule struct {
	action  string
	shadow  bool
	object  model.Ref
	name    string
	matches predicate
	plain   any // as it is written
}

// authzRules are all rules at a place.
type authzRules []authzRule

// seen is what rules are read for.
type seen struct {
	verdict *resolve.Verdict
	host    string
	port    int32
	open    bool
}

// read reads the rules in force.
func (s sight) read(v *resolve.Verdict) authzRules {
	out, _ := s.look.Kept(seen{v, s.host, s.port, s.open}, func() any { return s.readAll(v) }).(authzRules)
	return out
}

func (s sight) readAll(v *resolve.Verdict) authzRules {
	var out authzRules
	for i := range v.Result.Rules {
		rule := &v.Result.Rules[i]
		if len(rule.Path) != 2 || len(rule.From) == 0 {
			continue
		}
		action, shadow := strings.CutPrefix(rule.Path[0].Name, "shadow-")
		plain := merge.Plain(rule.Value)
		out = append(out, authzRule{action: action, shadow: shadow || action == "AUDIT", name: rule.Name, matches: s.predicateOf(plain),
			object: v.Layers[rule.From[0].Layer].Policy.Object.Ref, plain: plain})
	}
	return out
}

// of are the rules of an action that are enforced.
func (all authzRules) of(action string) authzRules {
	return slices.DeleteFunc(slices.Clone(all), func(r authzRule) bool { return r.shadow || r.action != action })
}

// allows reports whether a request with these facts gets through, whatever a provider says.
func (all authzRules) allows(f facts) bool {
	some, allowed := false, false
	for _, r := range all {
		if r.shadow {
			continue
		}
		switch r.action {
		case "DENY":
			if r.matches.value(f) == topology.Yes {
				return false
			}
		case "ALLOW":
			some = true
			allowed = allowed || r.matches.value(f) == topology.Yes
		}
	}
	return allowed || !some
}

// judge tries all combinations of the facts that are not known.
func (all authzRules) judge(known facts) protect.Findings {
	var open []factName
	decided := slices.ContainsFunc(all.of("ALLOW"), func(r authzRule) bool { return r.matches.value(known) == topology.Yes })
	for _, r := range all {
		if !r.shadow && (r.action == "DENY" || r.action == "ALLOW" && !decided) {
			r.matches.open(known, &open)
		}
	}
	var d protect.Decision
	numbers := map[factName]protect.Fact{}
	for _, name := range open {
		if name.kind != protect.Address {
			numbers[name] = d.Add(name.kind)
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
		return all.allows(f)
	}
	return d.Judge()
}

// nobody is a client without any identity.
func nobody() facts { return facts{tokenFact: false, peerFact: false} }

// ruleGates are those of the rules of all AuthorizationPolicies at a place.
func ruleGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() {
		return nil
	}
	var out []protect.Gate
	for _, s := range sightsOf(in, in.Verdict) {
		one := ruleJudge{in: in, base: g, rules: s.read(in.Verdict)}
		made := one.gates()
		if out == nil || one.rank(made) > one.rank(out) {
			out = made
		}
	}
	return out
}

// ruleJudge makes the gates of one property.
type ruleJudge struct {
	in    protect.Input
	base  protect.Gate
	rules authzRules
}

// rank orders what is found for several hosts or ports: where nobody gets through is the best.
func (j *ruleJudge) rank(gates []protect.Gate) int {
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

func (j *ruleJudge) gates() []protect.Gate {
	switch j.base.Property {
	case gate.Authentication:
		return append(j.authentication(), j.tried()...)
	case gate.IPList:
		return j.addresses()
	}
	return append(j.authorization(), j.tried()...)
}

// gate is that of one rule.
func (j *ruleJudge) gate(r authzRule, group string, codes ...gate.Code) protect.Gate {
	g := j.base
	g.Object, g.Field, g.Refuses = r.object, r.name, protect.Never
	if group != "" {
		g.Group = j.in.GroupOf(group)
	}
	for _, code := range codes {
		g.Weaken(code, r.name)
	}
	return g
}

// tried are gates of rules that only report, if the property is what they are about.
func (j *ruleJudge) tried() []protect.Gate {
	var out []protect.Gate
	for _, r := range j.rules {
		if r.shadow && (j.base.Property != gate.Authentication || r.matches.asks(isIdentity) || r.action == "CUSTOM") {
			out = append(out, j.gate(r, "", gate.DryRun))
		}
	}
	return out
}

// custom are gates of the provider: it may refuse, and whom is not known.
func (j *ruleJudge) custom() []protect.Gate {
	var out []protect.Gate
	best := topology.No // of all rules: one that matches is enough for the provider to be asked
	for _, r := range j.rules.of("CUSTOM") {
		best = max(best, r.matches.value(nil))
	}
	for _, r := range j.rules.of("CUSTOM") {
		var codes []gate.Code
		g := j.gate(r, "CUSTOM")
		switch matches := r.matches.value(nil); {
		case matches != best:
			continue
		case matches == topology.Maybe:
			codes = append(codes, gate.Condition)
		case matches == topology.No:
			codes = append(codes, gate.Skipped)
		case j.base.Property == gate.Authentication:
			codes = append(codes, gate.ExternalDecision)
		}
		if failsOpen(j.in.Resolution(), model.Text(r.plain, "provider")) {
			codes = append(codes, gate.FailOpen)
		}
		for _, code := range codes {
			g.Weaken(code, r.name)
		}
		if j.base.Property == gate.Authorization && r.matches.value(nil) != topology.No {
			g.Refuses, g.Answers, g.Missing, g.Order = protect.Perhaps, []string{protect.AnyStatus}, []string{protect.AnyStatus}, customOrder
		}
		out = append(out, g)
	}
	return out
}

// authentication are gates of rules that look at who asks. Alternatives that ask for nobody's identity
// let everybody in.
func (j *ruleJudge) authentication() []protect.Gate {
	out := j.custom()
	asks := func(r authzRule) bool { return r.matches.asks(isIdentity) }
	enforced := append(j.rules.of("DENY"), j.rules.of("ALLOW")...)
	if !slices.ContainsFunc(enforced, asks) {
		return out
	}
	found := j.rules.judge(nobody())
	switch {
	case found.DeniesAll:
		return append(out, j.demanded()...)
	case found.Anonymous == gate.Fails:
		return append(out, j.anonymous()...)
	}
	for _, r := range enforced {
		if r.matches.value(nobody()) == topology.Maybe {
			out = append(out, j.gate(r, "anonymous", gate.Condition))
		}
	}
	return out
}

// methods are the identities that rules may ask for.
var methods = []struct {
	fact factName
	name string
}{{tokenFact, "jwt"}, {peerFact, "mtls"}}

// demanded are the gates where nobody gets in without an identity: of each list and method that is
// enough by itself, else of all together.
func (j *ruleJudge) demanded() []protect.Gate {
	var out []protect.Gate
	add := func(rules authzRules, group, method string, fact factName) {
		for _, r := range rules {
			if r.matches.value(nil) == topology.No || !r.matches.asks(func(f factName) bool { return f == fact }) {
				continue
			}
			g := j.gate(r, group)
			g.Method = method
			out = append(out, g)
		}
	}
	for _, action := range []string{"DENY", "ALLOW"} {
		list := j.rules.of(action)
		n := len(out)
		for _, m := range methods {
			if list.judge(facts{m.fact: false}).DeniesAll {
				add(list, action+" "+m.name, m.name, m.fact)
			}
		}
		if n == len(out) && list.judge(nobody()).DeniesAll {
			for _, m := range methods {
				add(list, action, m.name, m.fact)
			}
		}
	}
	if out == nil {
		for _, m := range methods {
			add(append(j.rules.of("DENY"), j.rules.of("ALLOW")...), "together", m.name, m.fact)
		}
	}
	return out
}

// anonymous are the gates where somebody gets in without an identity: those that let him.
func (j *ruleJudge) anonymous() []protect.Gate {
	var out []protect.Gate
	for _, r := range j.rules.of("ALLOW") {
		if r.matches.value(nobody()) != topology.No {
			out = append(out, j.gate(r, "ALLOW", passCode(r.plain)))
		}
	}
	if len(j.rules.of("ALLOW")) > 0 {
		return out
	}
	for _, r := range j.rules.of("DENY") {
		if !r.matches.asks(isIdentity) {
			continue
		}
		code := gate.AnonymousAllowed
		if r.matches.value(nobody()) == topology.No && r.looksAtRequests() {
			code = gate.Skipped
		}
		out = append(out, j.gate(r, "DENY", code))
	}
	return out
}

// passCode is why a rule lets anonymous requests in: it is for some requests, or for some addresses.
func passCode(rule any) gate.Code {
	if looksAtRequests(rule) {
		return gate.Skipped
	}
	return gate.AnonymousAllowed
}

func (r *authzRule) looksAtRequests() bool { return looksAtRequests(r.plain) }

// looksAtRequests reports whether a rule is for some requests only, by what is asked and not by whom.
func looksAtRequests(rule any) bool {
	if to, _ := model.Get(rule, "to").([]any); len(to) > 0 {
		return true
	}
	conditions, _ := model.Get(rule, "when").([]any)
	return slices.ContainsFunc(conditions, func(c any) bool {
		key := model.Text(c, "key")
		return !strings.HasPrefix(key, "source.") && !strings.HasPrefix(key, "remote.") && !strings.HasPrefix(key, "request.auth.")
	})
}

// addresses are gates of rules that look at addresses.
func (j *ruleJudge) addresses() []protect.Gate {
	enforced := append(j.rules.of("DENY"), j.rules.of("ALLOW")...)
	listed := slices.DeleteFunc(slices.Clone(enforced), func(r authzRule) bool { return !r.matches.asks(isAddress) })
	var out []protect.Gate
	if len(listed) == 0 {
		for _, r := range enforced {
			if listsAddresses(r.plain) {
				out = append(out, j.gate(r, "ip", gate.AnyAddress))
			}
		}
		return out
	}
	found := j.rules.judge(nil)
	if found.Listed == gate.Holds || found.DeniesAll {
		for _, r := range listed {
			out = append(out, j.gate(r, ""))
		}
		return out
	}
	code := gate.Skipped
	if found.Listed == gate.Depends {
		code = gate.Condition
	}
	for _, r := range j.rules.of("ALLOW") {
		if !r.matches.asks(isAddress) && r.matches.value(nil) != topology.No {
			out = append(out, j.gate(r, "ip", code))
		}
	}
	for _, r := range listed {
		if out == nil || r.action == "DENY" {
			out = append(out, j.gate(r, "ip", code))
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

// authorization are gates of the decision as a whole: for all requests of the place together it has
// to be able to refuse one. What it does with this request is said as well.
func (j *ruleJudge) authorization() []protect.Gate {
	out := j.custom()
	deny, allow := j.rules.of("DENY"), j.rules.of("ALLOW")
	if len(deny)+len(allow) == 0 {
		return out
	}
	if all := j.rules.judge(nil); all.DeniesAll {
		return append(out, j.denied(deny, allow)...)
	}
	whole := sight{look: j.in.Look, open: true}.read(j.in.Verdict)
	idle := whole.judge(j.certain()).Refuses == gate.Fails
	sent := j.lacking()
	for _, r := range deny {
		g := j.gate(r, "")
		switch r.matches.value(sent) {
		case topology.Yes:
			g.Refuses = protect.Always
		case topology.Maybe:
			g.Refuses = protect.Perhaps
		}
		if g.Refuses != protect.Never {
			j.answer(&g, denyOrder)
		}
		if idle {
			g.Weaken(gate.AllowsAll, r.name)
		}
		out = append(out, g)
	}
	return append(out, j.allowing(allow, idle)...)
}

// allowing are gates of the rules that allow, of which one is enough.
func (j *ruleJudge) allowing(allow authzRules, idle bool) []protect.Gate {
	var out []protect.Gate
	sent := j.lacking()
	refused := allow.judge(sent)
	isConstant := func(r authzRule) bool { return r.matches.value(nil) == topology.Yes && !looksAtRequests(r.plain) }
	constant := slices.ContainsFunc(allow, isConstant)
	for _, r := range allow {
		if idle && constant && !isConstant(r) || r.matches.value(nil) == topology.No && len(allow) > 1 && !looksAtRequests(r.plain) {
			continue
		}
		g := j.gate(r, "ALLOW")
		switch {
		case refused.DeniesAll:
			g.Refuses = protect.Always
		case refused.Refuses != gate.Fails:
			g.Refuses = protect.Perhaps
		}
		if g.Refuses != protect.Never {
			j.answer(&g, allowOrder)
		}
		if idle {
			g.Weaken(gate.AllowsAll, r.name)
		}
		out = append(out, g)
	}
	return out
}

// denied are the gates where nobody gets in: the rules that deny everybody, else those that would allow.
func (j *ruleJudge) denied(deny, allow authzRules) []protect.Gate {
	var out []protect.Gate
	rules := slices.DeleteFunc(slices.Clone(deny), func(r authzRule) bool { return r.matches.value(nil) != topology.Yes })
	if len(rules) == 0 {
		rules = allow
	}
	if len(rules) == 0 {
		rules = deny
	}
	for _, r := range rules {
		g := j.gate(r, "denied", gate.DeniesAll)
		g.Refuses = protect.Always
		j.answer(&g, denyOrder)
		out = append(out, g)
	}
	return out
}

// certain is what is known of every request: without a RequestAuthentication no token is verified.
func (j *ruleJudge) certain() facts {
	if j.in.InForceAt(authenticationKind, j.in.Node) == nil {
		return facts{tokenFact: false}
	}
	return nil
}

// lacking is what is known of the identity of the request as it is written: a token that it does not
// have is missing; whether the connection has a certificate is not known.
func (j *ruleJudge) lacking() facts {
	if j.in.Look.Lacks(j.tokenPlaces()) {
		return facts{tokenFact: false}
	}
	return facts{}
}

// tokenPlaces are where tokens are read at the place.
func (j *ruleJudge) tokenPlaces() []string {
	if v := j.in.InForceAt(authenticationKind, j.in.Node); v != nil {
		return tokenPlaces(v)
	}
	return []string{"header authorization", "query access_token"}
}

func (j *ruleJudge) answer(g *protect.Gate, order int) {
	g.Answers, g.Missing, g.Order = []string{"403"}, []string{"403"}, order
}

// failsOpen reports whether requests get in while a provider does not answer.
func failsOpen(r *resolve.Resolution, provider string) bool {
	m := readMesh(r.Snapshot, r.Settings)
	for _, p := range m.providers {
		if providerName(p) != provider {
			continue
		}
		for _, form := range types[custom] {
			if open, _ := model.Get(p, form, "failOpen").(bool); open {
				return true
			}
		}
	}
	return false
}

// peerGate is that of the mTLS mode of a workload, for all of its ports.
func peerGate(in protect.Input, g protect.Gate) []protect.Gate {
	if g.Object == (model.Ref{}) { // what no policy says
		return nil
	}
	g.Refuses = protect.Never
	weaken := func(mode, field string, exempt bool) {
		switch {
		case mode == "STRICT":
		case exempt:
			g.Weaken(gate.Skipped, field)
		case mode == "DISABLE":
			g.Weaken(gate.Disabled, field)
		default:
			g.Weaken(gate.MissingAllowed, field)
		}
	}
	mode := in.Text("mtls", "mode")
	weaken(mode, "mtls.mode", false)
	if mode == "STRICT" {
		for _, port := range in.Find([]string{"portLevelMtls", "*", "mode"}) {
			if text, _ := port.Value.(string); text != "STRICT" {
				weaken(text, strings.Join(port.Path, "."), true)
				break
			}
		}
	}
	return []protect.Gate{g}
}
