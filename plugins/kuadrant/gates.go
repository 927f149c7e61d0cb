package kuadrant

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"kuadrant.Method": buildMethodGate, "kuadrant.Authorization": buildAuthorizationGate,
		"kuadrant.Limit": buildLimitGate}
}

// The places of gates: limits that read nothing of the identity come before the login
// (kuadrant-operator v1.1.0, internal/controller/envoy_gateway_extension_reconciler.go:188-197).
const (
	earlyLimitOrder = 5
	lateLimitOrder  = 30
)

// buildMethodGate is one way to authenticate. A condition on it closes it: without any method left,
// requests are refused. One that lets anybody in opens under its condition.
func buildMethodGate(in protect.Input, g protect.Gate) []protect.Gate {
	method, _ := in.Value(in.Path...).(map[string]any)
	g.Reads = listCredentialPlaces(method)
	conditional := len(model.List(method, "when")) > 0
	for i := range g.Reasons {
		if g.Reasons[i].Code == gate.AnonymousAllowed && conditional {
			g.Reasons = append(g.Reasons[:i:i], g.Reasons[i+1:]...)
			g.AddReason(gate.Condition, g.Field+".when")
			break
		}
	}
	if method["plain"] != nil {
		g.AddReason(gate.Expression, g.Field+".plain")
	}
	return []protect.Gate{g}
}

// listCredentialPlaces are where a method looks for the credential: the header Authorization if it
// does not say.
func listCredentialPlaces(method map[string]any) []string {
	if method["x509"] != nil {
		return []string{"connection"}
	}
	credentials, _ := method["credentials"].(map[string]any)
	for _, place := range [][2]string{{"customHeader", "header"}, {"queryString", "query"}, {"cookie", "cookie"}} {
		if fields, ok := credentials[place[0]].(map[string]any); ok {
			name, _ := fields["name"].(string)
			return []string{place[1] + " " + name}
		}
	}
	return []string{"header authorization"}
}

// buildAuthorizationGate is one rule of an authorization; all of them have to allow. One that
// allows nothing, under no condition, lets nobody in.
func buildAuthorizationGate(in protect.Input, g protect.Gate) []protect.Gate {
	rule, _ := in.Value(in.Path...).(map[string]any)
	if len(g.Reasons) == 0 && allowsNothing(rule) {
		g.AddReason(gate.DeniesAll, g.Field)
		g.Refuses = protect.AlwaysRefuses
		return []protect.Gate{g}
	}
	if opa, ok := rule["opa"].(map[string]any); ok {
		if rego, ok := opa["rego"].(string); ok && protect.IsConstantRego(rego) {
			g.AddReason(gate.AllowsAll, g.Field)
		}
	}
	if matching, ok := rule["patternMatching"].(map[string]any); ok && allowsAll(model.List(matching, "patterns")) {
		g.AddReason(gate.AllowsAll, g.Field)
	}
	return []protect.Gate{g}
}

// allowsNothing reports whether a rule refuses every request: its Rego says so, or one of its
// patterns is false.
func allowsNothing(rule map[string]any) bool {
	opa, _ := rule["opa"].(map[string]any)
	if rego, _ := opa["rego"].(string); protect.IsClosedRego(rego) {
		return true
	}
	matching, _ := rule["patternMatching"].(map[string]any)
	return slices.ContainsFunc(model.List(matching, "patterns"), func(entry any) bool {
		fields, _ := entry.(map[string]any)
		predicate, _ := fields["predicate"].(string)
		return protect.IsFalse(predicate)
	})
}

// allowsAll reports whether patterns hold for every request: there is none, or all are true.
func allowsAll(patterns []any) bool {
	for _, entry := range patterns {
		fields, _ := entry.(map[string]any)
		predicate, _ := fields["predicate"].(string)
		if !protect.IsTrue(predicate) {
			return false
		}
	}
	return true
}

// buildLimitGate is one named limit. It counts for each HTTPRoute by its counters.
func buildLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	limit, _ := in.Value(in.Path...).(map[string]any)
	var key []string
	for _, c := range model.List(limit, "counters") {
		fields, _ := c.(map[string]any)
		if text, _ := fields["expression"].(string); text != "" {
			key = append(key, text)
		}
	}
	for _, r := range model.List(limit, "rates") {
		fields, _ := r.(map[string]any)
		window, _ := fields["window"].(string)
		g.Counters = append(g.Counters, protect.Counter{Limit: fields["limit"], Per: window, Scope: "route", Key: key,
			Replicas: "all"})
	}
	if len(g.Counters) == 0 {
		g.AddReason(gate.Unlimited, g.Field)
	}
	g.Order = earlyLimitOrder
	type identityKey struct{}
	if model.Recall(in.Memo, identityKey{}, func() bool { return slices.ContainsFunc(in.InForce, limitsByIdentity) }) {
		g.Order = lateLimitOrder
	}
	return []protect.Gate{g}
}

// limitsByIdentity reports whether settings have a limit that reads who the request is from.
func limitsByIdentity(s *protect.Settings) bool {
	return s.Kind.GroupKind.Group == "kuadrant.io" && readsIdentity(s.Value("limits"))
}

// readsIdentity reports whether an expression among settings reads who the request is from.
func readsIdentity(v any) bool {
	switch t := v.(type) {
	case string:
		return strings.Contains(t, "auth.")
	case []any:
		for _, entry := range t {
			if readsIdentity(entry) {
				return true
			}
		}
	case map[string]any:
		for _, entry := range t {
			if readsIdentity(entry) {
				return true
			}
		}
	}
	return false
}
