package protect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// locks describes a kind of policies with every form of gate.
const locks = `
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Lock.x.io
targets: [Gateway, HTTPRoute, HTTPRoute/rule]
strategy: atomic defaults
rules: fields
protects:
  authentication:
  - {at: ways.*, any: ways, method: {token: jwt, key: apiKey}, order: 10, answers: [{at: refusal, default: 401}], unless: {ways.*.guest: AnonymousAllowed}, depends: {when: Condition}}
  - {at: login, method: oidc, order: 5, answers: [302, 401], missing: [302], unless: {login.mode: {Optional: MissingAllowed}}}
  - {any: ways, implicit: AnonymousAllowed}
  authorization:
  - {at: ask, answers: ["*"], order: 20}
  - {at: rego, constant: rego, answers: [403], order: 30}
  ipList:
  - {at: cidrs, constant: cidr, onlyIf: {listed: "true"}, answers: [403]}
  rateLimit:
  - {at: limits.*, answers: [429], order: 1, counter: {limit: n, per: window, key: by, scope: route, replicas: all}}
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Seal.x.io
targets: [Gateway, HTTPRoute]
strategy: merge defaults
rules: fields
protects:
  levels: nearest
  waf:
  - {at: active, unless: {inactive: Disabled}}
  authorization:
  - {at: active, always: NotRead}
`

const world = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: a}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: a}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: a}
spec: {parentRefs: [{name: gw}], rules: [{name: x, backendRefs: [{name: s, port: 80}]}]}
`

// policyOf is a policy of a kind with settings, at the route or, above it, at the Gateway.
func policyOf(kind, target, settings string) string {
	return fmt.Sprintf(
		"\n---\napiVersion: x.io/v1\nkind: %s\nmetadata: {name: %s, namespace: a}\nspec: {targetRef: {group: gateway.networking.k8s.io, kind: %s, name: %s}, defaults: {%s}}\n",
		kind, strings.ToLower(target), target, map[string]string{"HTTPRoute": "r", "Gateway": "gw"}[target], settings)
}

// gatesOn are the gates on the way of a request to the one route.
func gatesOn(t *testing.T, manifests string, headers ...string) *protect.Gates {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(manifests)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(locks)}}, nil,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	r := resolve.Run(in, build.Graph(in, c.Settings()), c)
	q, err := request.New("GET", "http://h/", request.Options{Headers: headers})
	if err != nil {
		t.Fatal(err)
	}
	a, err := request.NewMatcher(r.Graph, r.Settings).Find(q, request.Destination{Gateway: topology.None})
	if err != nil {
		t.Fatal(err)
	}
	return protect.NewJudge(r, nil, protect.Assumptions{}).FindGates(a)
}

// said is a result in one line.
func said(r protect.Result) string {
	words := []string{string(r.Verdict)}
	if len(r.Methods) > 0 {
		words = append(words, "by "+strings.Join(r.Methods, "+"))
	}
	for _, u := range r.By {
		words = append(words, u.Object.Name+":"+u.Field)
	}
	for _, b := range r.Because {
		words = append(words, string(b.Code))
	}
	return strings.Join(words, " ")
}

// TestGates: each form of gate of a descriptor.
func TestGates(t *testing.T) {
	lock := func(settings string) string { return policyOf("Lock", "HTTPRoute", settings) }
	for name, c := range map[string]struct {
		manifests string
		property  string
		methods   []string
		want      string
	}{
		"nothing": {"", "authentication", nil, "fails NoGate"},
		"a method": {lock("ways: {a: {token: {}}}"), "authentication", nil,
			"holds by jwt httproute:ways.a"},
		"alternatives": {lock("ways: {a: {token: {}}, b: {key: {}}}"), "authentication", nil,
			"holds by apiKey+jwt httproute:ways.a httproute:ways.b"},
		"another method": {lock("ways: {a: {token: {}}, b: {key: {}}}"), "authentication", []string{"jwt"},
			"fails httproute:ways.b OtherMethod"},
		"all alternatives": {lock("ways: {a: {token: {}}, b: {key: {}}}"), "authentication",
			[]string{"jwt", "apiKey"}, "holds by apiKey+jwt httproute:ways.a httproute:ways.b"},
		"a way in": {lock("ways: {a: {token: {}}, b: {guest: {}}}"), "authentication", nil,
			"fails httproute:ways.b AnonymousAllowed"},
		"no method at all": {lock("ask: {}"), "authentication", nil, "fails httproute: AnonymousAllowed"},
		"under a condition": {lock("ways: {a: {token: {}}}, when: x"), "authentication", nil,
			"depends httproute:ways.a Condition"},
		"two that both run": {lock("ways: {a: {guest: {}}}, login: {}"), "authentication", nil,
			"holds by oidc httproute:login"},
		"optional": {lock("login: {mode: Optional}"), "authentication", nil,
			"fails httproute:login MissingAllowed"},
		"an external decision": {lock("ask: {}"), "authorization", nil, "holds httproute:ask"},
		"a constant": {lock(`rego: "allow = true"`), "authorization", nil,
			"fails httproute:rego AllowsAll"},
		"addresses":  {lock(`cidrs: [10.0.0.0/8], listed: true`), "ipList", nil, "holds httproute:cidrs"},
		"not listed": {lock(`cidrs: [10.0.0.0/8]`), "ipList", nil, "fails NoGate"},
		"every address": {lock(`cidrs: [0.0.0.0/0], listed: true`), "ipList", nil,
			"fails httproute:cidrs AnyAddress"},
		"replaced": {policyOf("Lock", "Gateway", "ways: {a: {token: {}}}, ask: {}") + lock("rego: x"),
			"authorization", nil, "holds httproute:rego"},
		"replaced by nothing": {policyOf("Lock", "Gateway", "ask: {}") + lock("other: x"), "authorization", nil,
			"fails Replaced"},
		"switched off below": {policyOf("Seal", "Gateway", "active: yes-please") + policyOf("Seal", "HTTPRoute",
			"inactive: true"), "waf", nil, "fails gateway:active Disabled"},
		"a kind not read": {policyOf("Seal", "Gateway", "active: yes-please"), "authorization", nil,
			"depends gateway:active NotRead"},
		"beside one that is": {policyOf("Seal", "Gateway", "active: yes-please") + lock("ask: {}"),
			"authorization", nil, "holds httproute:ask"},
		"a kind nobody knows":    {"\n---\napiVersion: y.io/v1\nkind: OddPolicy\nmetadata: {name: o, namespace: a}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], level: high}\n", "authentication", nil, "depends o: NotRead"},
		"numbers of such a kind": {"\n---\napiVersion: y.io/v1\nkind: OddPolicy\nmetadata: {name: o, namespace: a}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], wait: 5s}\n", "authentication", nil, "fails NoGate"},
		"plain HTTP":             {"", "tlsIn", nil, "fails NoGate"},
	} {
		if got := said(gatesOn(t, world+c.manifests).JudgeProperty(gate.Property(c.property),
			c.methods...)); got != c.want {
			t.Errorf("%s: %s\n  want %s", name, got, c.want)
		}
	}
}

// TestCounters: how a limit counts is read below its gate.
func TestCounters(t *testing.T) {
	got := gatesOn(t, world+policyOf("Lock", "HTTPRoute", "limits: {a: {n: 5, window: 1m, by: user}}")).JudgeProperty(
		gate.RateLimit)
	want := []protect.Counter{{Limit: int64(5), Per: "1m", Scope: "route", Key: []string{"user"}, Replicas: "all"}}
	if !slices.EqualFunc(got.Counters, want,
		func(a, b protect.Counter) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("counters %+v, want %+v", got.Counters, want)
	}
}

// TestStatuses: what gates may answer, and what a request gets for certain as it is written.
func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		headers  []string
		may      string
		outcome  string
	}{
		"nothing":       {"other: x", nil, "", "through"},
		"a login":       {"login: {}", nil, "302 401", "refused 302"},
		"with a cookie": {"login: {}", []string{"cookie: x=y"}, "302 401", "perhaps 302 401"},
		"optional":      {"login: {mode: Optional}", nil, "302 401", "through"},
		"own status":    {"ways: {a: {token: {}}}, refusal: 418", nil, "418", "refused 418"},
		"with a token": {"ways: {a: {token: {}}}", []string{"authorization: Bearer x"}, "401",
			"perhaps 401"},
		"a way in":           {"ways: {a: {token: {}}, b: {guest: {}}}", nil, "", "through"},
		"a limit first":      {"ways: {a: {token: {}}}, limits: {l: {n: 1}}", nil, "429 401", "refused 429 401"},
		"a service after it": {"ways: {a: {token: {}}}, ask: {}", nil, "401 *", "refused 401"},
		"a service alone":    {"ask: {}", nil, "*", "perhaps *"},
		"a constant":         {`rego: "allow = true"`, nil, "", "through"},
		"everything of the policy": {"login: {}, ask: {}, limits: {l: {n: 1}}", nil, "429 302 401 *",
			"refused 429 302"},
	} {
		g := gatesOn(t, world+policyOf("Lock", "HTTPRoute", c.settings), c.headers...)
		var may []string
		for _, a := range g.PossibleAnswers() {
			may = append(may, fmt.Sprint(a.Status))
		}
		if got := strings.Join(may, " "); got != c.may {
			t.Errorf("%s: may answer %q, want %q", name, got, c.may)
		}
		o := g.Outcome()
		outcome := "through"
		switch {
		case o.Certain:
			outcome = "refused " + strings.Join(o.Statuses, " ")
		case len(o.Statuses) > 0:
			outcome = "perhaps " + strings.Join(o.Statuses, " ")
		}
		if outcome != c.outcome {
			t.Errorf("%s: %q, want %q", name, outcome, c.outcome)
		}
	}
}

// TestStandardGates: filters, timeouts and listeners of the Gateway API are gates.
func TestStandardGates(t *testing.T) {
	rule := func(fields string) string {
		return strings.Replace(world, "{name: x, backendRefs", "{name: x, "+fields+", backendRefs", 1)
	}
	listener := func(fields string) string {
		return strings.Replace(world, "protocol: HTTP}", "protocol: HTTP, "+fields+"}", 1)
	}
	for name, c := range map[string]struct{ manifests, property, want string }{
		"external authorization": {rule(
			"filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: {name: s, port: 80}}}]"),
			"authorization", "holds r:filters.ExternalAuth"},
		"whether it identifies": {rule(
			"filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: {name: s, port: 80}}}]"),
			"authentication", "depends r:filters.ExternalAuth ExternalDecision"},
		"at the listener": {listener("filters: {requests: [{type: ExternalAuth, externalAuth: {}}]}"),
			"authorization", "holds gw:listeners.filters.requests"},
		"a time limit":  {rule("timeouts: {request: 10s}"), "timeout", "holds r:timeouts.request"},
		"no time limit": {rule("timeouts: {request: 0s}"), "timeout", "fails NoGate"},
		"retries":       {rule("retry: {attempts: 2}"), "retry", "holds r:retry"},
		"origins": {rule("filters: [{type: CORS, cors: {allowOrigins: [https://a]}}]"), "cors",
			"holds r:filters.CORS"},
		"every origin": {rule(`filters: [{type: CORS, cors: {allowOrigins: ["*"]}}]`), "cors",
			"fails r:filters.CORS AnyOrigin"},
		"a redirect": {rule("filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]"),
			"httpsRedirect", "holds r:filters.RequestRedirect"},
		"what a redirect needs": {rule("filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]"),
			"authentication", "notApplicable"},
		"a filter not read": {rule(
			"filters: [{type: ExtensionRef, extensionRef: {group: z.io, kind: Odd, name: o}}]"), "authentication",
			"depends r: NotRead"},
	} {
		if got := said(gatesOn(t, c.manifests).JudgeProperty(gate.Property(c.property))); got != c.want {
			t.Errorf("%s: %s\n  want %s", name, got, c.want)
		}
	}
}
