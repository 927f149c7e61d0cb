package authorization

import (
	"regexp"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

func TestPathExpressions(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		fits          bool
	}{
		{"/a/*", "/a/b/c", true}, {"/a/*", "/a", false}, {"*/b", "/a/b", true}, {"/{*}/map", "/sky/map",
			true}, {"/{*}/map", "/sky/far/map", false},
		{"/{**}/map", "/sky/far/map", true}, {"/a.b/{*}", "/axb/c", false}, {"/a/{**}", "/a/b/c", true},
	} {
		expr, plain := pathExpression(c.pattern)
		if plain {
			t.Errorf("%s is meant to the letter", c.pattern)
		}
		if got := regexp.MustCompile(`\A(?:` + expr + `)\z`).MatchString(c.path); got != c.fits {
			t.Errorf("%s takes %s: %v", c.pattern, c.path, got)
		}
	}
	if _, plain := pathExpression("/a"); !plain {
		t.Error("/a is not meant to the letter")
	}
}

func TestRulesOfNobody(t *testing.T) {
	from := func(fields map[string]any) any {
		return map[string]any{"from": values(map[string]any{"source": fields})}
	}
	both := func(source, operation map[string]any) any {
		return map[string]any{"from": values(map[string]any{"source": source}),
			"to": values(map[string]any{"operation": operation})}
	}
	when := func(fields map[string]any) any { return map[string]any{"when": values(fields)} }
	rule := func(action string, of any) authzRule { return authzRule{action: action, value: of} }
	token := map[string]any{"requestPrincipals": values("*")}
	noToken := map[string]any{"notRequestPrincipals": values("*")}
	for name, c := range map[string]struct {
		rules     authzRules
		anonymous gate.Verdict
		denied    bool
	}{
		"a token is needed": {authzRules{rule("ALLOW", from(token))}, gate.Holds, true},
		"none is": {authzRules{rule("ALLOW", from(token)),
			rule("ALLOW", map[string]any{})}, gate.Fails, false},
		"nobody without is denied": {authzRules{rule("DENY", from(noToken))}, gate.Holds, true},
		"but on other paths": {authzRules{rule("DENY",
			both(noToken, map[string]any{"notPaths": values("/open")}))}, gate.Fails, false},
		"on this one": {authzRules{rule("DENY",
			both(noToken, map[string]any{"paths": values("/open")}))}, gate.Holds, true},
		"some tokens are denied": {authzRules{rule("DENY",
			from(map[string]any{"requestPrincipals": values("a/b")}))}, gate.Fails, false},
		"peers of a namespace": {authzRules{rule("ALLOW",
			from(map[string]any{"namespaces": values("a")}))}, gate.Holds, true},
		"others than those of a namespace": {authzRules{rule("ALLOW",
			from(map[string]any{"notNamespaces": values("a")}))}, gate.Fails, false},
		"a claim": {authzRules{rule("ALLOW",
			when(map[string]any{"key": "request.auth.claims[a]", "values": values("b")}))}, gate.Holds, true},
		"an attribute that nobody knows": {authzRules{rule("ALLOW",
			when(map[string]any{"key": "destination.ip", "values": values("10.0.0.1")}))}, gate.Depends, false},
		"an address is no identity": {authzRules{rule("ALLOW",
			from(map[string]any{"ipBlocks": values("10.0.0.0/8")}))}, gate.Fails, false},
		"a header that the request has": {authzRules{rule("ALLOW",
			when(map[string]any{"key": "request.headers[x-key]", "values": values("k*")}))}, gate.Fails, false},
		"one that it does not have": {authzRules{rule("ALLOW",
			when(map[string]any{"key": "request.headers[x-key]", "values": values("m")}))}, gate.Holds, true},
		"another port": {authzRules{rule("ALLOW",
			both(nil, map[string]any{"ports": values("90")}))}, gate.Holds, true},
		"another host": {authzRules{rule("ALLOW",
			both(nil, map[string]any{"hosts": values("*.other")})), rule("ALLOW", from(token))}, gate.Holds, true},
		"tried rules are none": {authzRules{{action: "ALLOW", dryRun: true, value: from(token)}},
			gate.Fails, false},
		"who is denied needs no rule to allow": {authzRules{rule("DENY", map[string]any{}),
			rule("ALLOW", map[string]any{})}, gate.Holds, true},
	} {
		look := &protect.RequestReader{Request: &request.Request{Protocol: request.HTTP, Method: "GET", Path: "/open",
			Headers: []request.Field{{Name: "x-key", Value: "k1"}}}}
		s := requestView{requests: look, host: "sky.example", port: 80}
		for i := range c.rules {
			c.rules[i].matches = s.readPredicate(c.rules[i].value)
		}
		if got := c.rules.decide(anonymousFacts()); got.Anonymous != c.anonymous || got.DeniesAll != c.denied {
			t.Errorf("%s: %s, denies all %v", name, got.Anonymous, got.DeniesAll)
		}
	}
}

func TestPredicatesOfAll(t *testing.T) {
	s := requestView{requests: &protect.RequestReader{Request: &request.Request{Path: "/a"}}, operationsUnknown: true}
	p := s.readPredicate(map[string]any{
		"to": values(map[string]any{"operation": map[string]any{"paths": values("/a")}})})
	if p.evaluate(nil) != selector.Maybe {
		t.Error("for all requests together a path decides")
	}
}

// TestHostOf finds a host for every pattern that can have one.
func TestHostOf(t *testing.T) {
	for pattern, want := range map[string]string{"*": "", "": "", "*.acme.com": "any.acme.com",
		"*acme.com": "anyacme.com", "shop.*": "shop.", "acme.com": "acme.com"} {
		if got := exampleHost(pattern); got != want {
			t.Errorf("hostOf(%q) = %q, want %q", pattern, got, want)
		}
	}
}
