package agentgateway

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"agentgateway.Login": buildLoginGate, "agentgateway.ExtAuth": buildExtAuthGate,
		"agentgateway.Authorization": buildAuthorizationGate,
		"agentgateway.Limit":         buildLimitGate, "agentgateway.CSRF": buildCSRFGate,
		"agentgateway.Answer": buildAnswerGate, "agentgateway.Phase": buildPhaseGate,
		"agentgateway.AtBackend": buildBackendGate}
}

// beforeRoutingOrder is by how much gates of the first phase come before those of the second.
const beforeRoutingOrder = 100

// buildPhaseGate puts what runs before routing before all else.
func buildPhaseGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Resolution().Node(in.Node).Role == topology.Listener {
		g.Order -= beforeRoutingOrder
	}
	return []protect.Gate{g}
}

// buildBackendGate drops what is in force at a rule for its backends, where the backends themselves
// are judged.
func buildBackendGate(in protect.Input, g protect.Gate) []protect.Gate {
	r := in.Resolution()
	if r.Node(in.Node).Role == topology.Rule && in.RouteRule() != topology.None &&
		slices.ContainsFunc(r.Graph.BackendRefs(in.RouteRule()), func(b topology.BackendRef) bool {
			return len(r.Graph.Lookup(b.Ref.WithoutSection())) > 0
		}) {
		return nil
	}
	return []protect.Gate{g}
}

// buildLoginGate is the gate of a kind of credential: where it is read from decides what a request
// lacks, and how a proxy asks for it.
func buildLoginGate(in protect.Input, g protect.Gate) []protect.Gate {
	at := objectField(in.Value(in.Path...), "location")
	g.Reads = []string{"header authorization"}
	for _, place := range [][2]string{{"header", "header"}, {"queryParameter", "query"}, {"cookie", "cookie"}} {
		if named := objectField(at, place[0]); named != nil {
			name, _ := named["name"].(string)
			g.Reads = []string{place[1] + " " + name}
		}
	}
	if at["expression"] != nil { // what it reads is not known
		g.Reads = []string{"connection"}
	}
	if g.Method == "basic" && strings.EqualFold(g.Reads[0], "header proxy-authorization") {
		g.Answers, g.Missing = []string{"407"}, []string{"407"}
	}
	return buildPhaseGate(in, g)
}

// buildExtAuthGate is the gate of a service that is asked: of several, by conditions, the first
// whose condition holds.
func buildExtAuthGate(in protect.Input, g protect.Gate) []protect.Gate {
	all, fallback := listAlternatives(in.Value(in.Path...))
	if !fallback {
		g.AddReason(gate.Condition, g.Field)
	}
	for _, one := range all {
		if one["failureMode"] == "FailOpen" {
			g.AddReason(gate.FailOpen, g.Field)
			break
		}
	}
	if g.Property == gate.Authentication {
		g.AddReason(gate.ExternalDecision, g.Field)
	}
	if in.Path[0] == "backend" {
		return buildBackendGate(in, g)
	}
	return buildPhaseGate(in, g)
}

// listAlternatives are the forms of a conditional setting, and whether one of them is for every
// request.
func listAlternatives(v any) (all []map[string]any, fallback bool) {
	m, _ := v.(map[string]any)
	entries, ok := m["conditional"].([]any)
	if !ok {
		return []map[string]any{m}, true
	}
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		condition, _ := entry["condition"].(string)
		all = append(all, objectField(entry, "policy"))
		if condition == "" || protect.IsTrue(condition) {
			return all, true
		}
	}
	return all, false
}

// The texts that tell what an expression looks at.
var (
	readsIdentity = regexp.MustCompile(`\b(jwt|apiKey|basicAuth)\b`)
	readsAddress  = regexp.MustCompile(`\bsource\.(rawA|a)ddress\b`)
	isInNetwork   = regexp.MustCompile(`^cidr\(\s*["']([^"']+)["']\s*\)\.containsIP\(\s*source\.address\s*\)$`)
)

// buildAuthorizationGate is the gate of the rules of all policies: a Deny that matches denies, each
// Require has to match, then any Allow if there is one (agentgateway 75b4e6ce6,
// crates/agentgateway/src/http/authorization.rs:255-275). Every expression is a rule of its own
// (controller/pkg/agentgateway/plugins/traffic_plugin.go:1589-1607).
func buildAuthorizationGate(in protect.Input, g protect.Gate) []protect.Gate {
	r := readRules(in.Value(in.Path...))
	found := r.decision.Judge()
	switch {
	case found.DeniesAll:
		g.AddReason(gate.DeniesAll, g.Field)
	case found.Refuses == gate.Fails:
		g.AddReason(gate.AllowsAll, g.Field)
	case g.Property == gate.Authentication, found.Refuses == gate.Depends:
		g.AddReason(gate.Expression, g.Field)
	case g.Property == gate.IPList && (r.otherAddresses || found.Listed == gate.Depends):
		g.AddReason(gate.Expression, g.Field)
	case g.Property == gate.IPList && found.Listed == gate.Fails:
		g.AddReason(gate.Skipped, g.Field)
	}
	switch g.Property {
	case gate.Authentication:
		if r.method == "" {
			return nil
		}
		g.Method = r.method
	case gate.IPList:
		if !r.addresses {
			return nil
		}
	}
	var out []protect.Gate
	for _, by := range findWriters(in, g.Object) {
		one := g
		one.Object = by
		out = append(out, buildPhaseGate(in, one)...)
	}
	return out
}

// findWriters are the policies whose rules are united, or the one that settings are of.
func findWriters(in protect.Input, own model.Ref) []model.Ref {
	var out []model.Ref
	for _, r := range in.Verdict.Result.Rules {
		if r.Name != strings.Join(in.Path, ".") {
			continue
		}
		for _, from := range r.From {
			out = append(out, in.Verdict.Layers[from.Layer].Policy.Object.Ref)
		}
	}
	if !slices.Contains(out, own) {
		return []model.Ref{own}
	}
	return out
}

// authorizationRules are the expressions of an authorization.
type authorizationRules struct {
	decision       protect.Decision
	facts          map[string]protect.Fact
	method         string // of the identity that one of them reads; "": none
	addresses      bool   // one reads addresses
	otherAddresses bool   // in a way that is not evaluated
}

// term is an expression: a constant, or a fact.
type term struct {
	constant, value bool
	fact            protect.Fact
}

func (t term) isTrue(known func(protect.Fact) bool) bool {
	if t.constant {
		return t.value
	}
	return known(t.fact)
}

// readRules reads one authorization, or those of several policies.
func readRules(v any) *authorizationRules {
	r := &authorizationRules{facts: map[string]protect.Fact{}}
	all, ok := v.([]any)
	if !ok {
		all = []any{v}
	}
	byAction := map[string][]term{}
	for _, one := range all {
		m, _ := one.(map[string]any)
		action, _ := m["action"].(string)
		if action == "" {
			action = "Allow"
		}
		expressions, _ := objectField(m, "policy")["matchExpressions"].([]any)
		for _, e := range expressions {
			text, _ := e.(string)
			byAction[action] = append(byAction[action], r.readExpression(text))
		}
	}
	r.decision.Allows = func(known func(protect.Fact) bool) bool {
		matches := func(t term) bool { return t.isTrue(known) }
		switch {
		case slices.ContainsFunc(byAction["Deny"], matches):
			return false
		case slices.ContainsFunc(byAction["Require"], func(t term) bool { return !t.isTrue(known) }):
			return false
		}
		return len(byAction["Allow"]) == 0 || slices.ContainsFunc(byAction["Allow"], matches)
	}
	return r
}

// readExpression reads an expression.
func (r *authorizationRules) readExpression(text string) term {
	text = strings.TrimSpace(text)
	if word := readsIdentity.FindString(text); word != "" && r.method == "" {
		r.method = map[string]string{"jwt": "jwt", "apiKey": "apiKey", "basicAuth": "basic"}[word]
	}
	add := func() protect.Fact { return r.decision.AddFact(protect.Unknown) }
	if network := isInNetwork.FindStringSubmatch(text); network != nil {
		r.addresses = true
		if protect.CoversAll(network[1]) {
			return term{constant: true, value: true}
		}
		add = func() protect.Fact { return r.decision.AddNetworks("source", []any{network[1]}) }
	} else if readsAddress.MatchString(text) {
		r.addresses, r.otherAddresses = true, true
	}
	if constant, err := strconv.ParseBool(strings.Trim(text, "() \t\n")); err == nil &&
		(constant == protect.IsTrue(text)) {
		return term{constant: true, value: constant}
	}
	fact, known := r.facts[text]
	if !known {
		fact = add()
		r.facts[text] = fact
	}
	return term{fact: fact}
}

// buildLimitGate is the gate of limits that each proxy counts for itself, or of a service that
// counts for all.
func buildLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	value := in.Value(in.Path...)
	all := []any{value}
	if _, ok := value.(map[string]any); ok {
		entries, fallback := listAlternatives(value)
		if !fallback {
			g.AddReason(gate.Condition, g.Field)
		}
		all = nil
		for _, e := range entries {
			if inner := e[in.Path[2]]; inner != nil {
				all = append(all, inner)
			} else {
				all = append(all, e)
			}
		}
	}
	for _, one := range all {
		if in.Path[2] == "local" {
			list, _ := one.([]any)
			g.Counters = append(g.Counters, listLocalCounters(list)...)
			continue
		}
		global, _ := one.(map[string]any)
		g.Counters = append(g.Counters, listGlobalCounters(global)...)
		if global["failureMode"] != "FailOpen" && !slices.Contains(g.Answers, "500") {
			g.Answers = append(slices.Clone(g.Answers), "500")
		}
	}
	if in.Path[2] == "global" {
		g.AddReason(gate.ExternalDecision, g.Field)
	}
	return []protect.Gate{g}
}

func listLocalCounters(limits []any) []protect.Counter {
	var out []protect.Counter
	for _, l := range limits {
		limit, _ := l.(map[string]any)
		unit, _ := limit["unit"].(string)
		c := protect.Counter{Limit: limit["requests"], Per: unit, Replicas: "each"}
		if c.Limit == nil {
			c.Limit = limit["tokens"]
		}
		out = append(out, c)
	}
	return out
}

// listGlobalCounters say by what the descriptors of a limit count; the service has the limits.
func listGlobalCounters(limit map[string]any) []protect.Counter {
	var out []protect.Counter
	descriptors, _ := limit["descriptors"].([]any)
	for _, d := range descriptors {
		descriptor, _ := d.(map[string]any)
		entries, _ := descriptor["entries"].([]any)
		var key []string
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			if text, _ := entry["expression"].(string); text != "" {
				key = append(key, text)
			}
		}
		out = append(out, protect.Counter{Key: key, Replicas: "all"})
	}
	return out
}

// buildCSRFGate refuses requests that change something and that a browser sends from elsewhere. It
// establishes no property.
func buildCSRFGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Reader.IsMethod("GET", "HEAD", "OPTIONS") {
		return nil
	}
	if !in.Reader.HasCredential("header origin") && !in.Reader.HasCredential("header sec-fetch-site") {
		g.Refuses = protect.NeverRefuses
	}
	return []protect.Gate{g}
}

// buildAnswerGate answers in the place of a backend: all requests, or those for which a condition
// holds.
func buildAnswerGate(in protect.Input, g protect.Gate) []protect.Gate {
	all, fallback := listAlternatives(in.Value(in.Path...))
	g.Answers = nil
	for _, one := range all {
		if one["status"] != nil {
			g.Answers = append(g.Answers, fmt.Sprint(one["status"]))
		}
	}
	if fallback {
		g.AddReason(gate.DeniesAll, g.Field)
	}
	return []protect.Gate{g}
}
