package behavior

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
)

const guardKinds = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Guard.x.io
targets: [Gateway, HTTPRoute, HTTPRoute/rule]
rules: fields
fold: bottomUp
protects:
  authentication:
  - {at: login, method: basic, unless: {login.optional: {true: MissingAllowed}}, depends: {login.when: Condition}, func: exempt}
  authorization:
  - {at: allow}
  - {at: closed, func: shut}
  ipList: [{at: from}]
  clientCertificate: [{at: certificate}]
  rateLimit: [{at: limit, unless: {limit.dry: {true: DryRun}}}]
`

// exempt lets requests below login.except in without a login.
func exempt(in protect.Input, g protect.Gate) []protect.Gate {
	if except := in.Text("login", "except"); except != "" && in.Reader.IsUnderPath(except) {
		g.AddReason(gate.Skipped, "login.except")
	}
	return []protect.Gate{g}
}

// shut lets nobody through.
func shut(_ protect.Input, g protect.Gate) []protect.Gate {
	g.AddReason(gate.DeniesAll, "closed")
	return []protect.Gate{g}
}

// guardedSide is a side with a Gateway, the route a/r of some rules, and other objects.
func guardedSide(t *testing.T, rules string, docs ...string) view.Input {
	t.Helper()
	route := fmt.Sprintf(
		`{apiVersion: %s/v1, kind: HTTPRoute, metadata: {name: r, namespace: a}, spec: {parentRefs: [{name: gw}], hostnames: [a.test], rules: [%s]}}`, viewtest.GatewayGroup, rules)
	gw := fmt.Sprintf(
		`{apiVersion: %s/v1, kind: Gateway, metadata: {name: gw, namespace: a}, spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}}`, viewtest.GatewayGroup)
	r := viewtest.ResolvedAs(t, guardKinds, descriptor.Functions{Gates: []string{"exempt", "shut"}},
		append([]string{gw, route}, docs...)...)
	return view.Input{Resolution: r, Matcher: request.NewMatcher(r.Graph, model.Settings{}),
		Judges: view.Judges{Gates: protect.Functions{"exempt": exempt, "shut": shut}}}
}

const oneRule = `{name: one, backendRefs: [{name: s, port: 80}]}`

// guard is a policy for a Gateway or route of namespace a, or a rule of it: KIND/NAME or
// KIND/NAME/RULE.
func guard(target, spec string) string {
	parts := append(strings.Split(target, "/"), "")
	section := ""
	if parts[2] != "" {
		section = ", sectionName: " + parts[2]
	}
	return fmt.Sprintf(
		`{apiVersion: x.io/v1, kind: Guard, metadata: {name: %s, namespace: a}, spec: {targetRefs: [{group: %s, kind: %s, name: %s%s}], %s}}`,
		strings.ToLower(strings.ReplaceAll(target, "/", "-")), viewtest.GatewayGroup, parts[0], parts[1], section, spec)
}

func counts(c diff.PropertyCounts) string {
	var out []string
	for _, p := range gate.Properties() {
		if n := *c.CountOf(p); n > 0 {
			out = append(out, fmt.Sprintf("%s %d", p, n))
		}
	}
	return strings.Join(out, ", ")
}

// TestProtectionOfChanges: what rules lose, and whether requests get access, by pairs of inputs.
func TestProtectionOfChanges(t *testing.T) {
	const twoRules = oneRule + `, {name: two, matches: [{path: {value: /two}}], backendRefs: [{name: s, port: 80}]}`
	const filtered = `{name: one, filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: {name: s, port: 80}}}], backendRefs: [{name: s, port: 80}]}`
	const away = `{name: one, filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}`
	const unread = `{apiVersion: y.io/v1, kind: Wall, metadata: {name: w, namespace: a}, spec: {targetRefs: [{group: ` + viewtest.GatewayGroup + `, kind: HTTPRoute, name: r}], x: y}}`
	service := viewtest.ServiceDoc("a", "s")
	login := guard("HTTPRoute/r", "login: {realm: x}")
	type side struct {
		rules string
		docs  []string
	}
	sideWith := func(rules string, docs ...string) side { return side{rules, append(docs, service)} }
	for name, c := range map[string]struct {
		before, after         side
		loses, weakens, gains string
		opened, decided       bool
	}{
		"nothing changes": {before: sideWith(oneRule, login), after: sideWith(oneRule, login), decided: true},
		"a login goes": {before: sideWith(oneRule, login), after: sideWith(oneRule),
			loses: "authentication 1", opened: true, decided: true},
		"a login comes": {before: sideWith(oneRule), after: sideWith(oneRule, login),
			gains: "authentication 1", decided: true},
		"from another level": {before: sideWith(twoRules, login), after: sideWith(twoRules,
			guard("Gateway/gw", "login: {realm: y}")), decided: true},
		"becomes optional": {before: sideWith(twoRules, login), after: sideWith(twoRules,
			guard("HTTPRoute/r", "login: {optional: true}")), loses: "authentication 2", opened: true, decided: true},
		"under a condition": {before: sideWith(oneRule, login),
			after: sideWith(oneRule, guard("HTTPRoute/r", "login: {when: x}")), weakens: "authentication 1"},
		"a condition goes too": {before: sideWith(oneRule, guard("HTTPRoute/r", "login: {when: x}")),
			after: sideWith(oneRule)},
		"of one rule": {before: sideWith(twoRules, login), after: sideWith(twoRules, login,
			guard("HTTPRoute/r/two", "login: {optional: true}")), loses: "authentication 1", opened: true,
			decided: true},
		"an exemption": {before: sideWith(oneRule, login),
			after: sideWith(oneRule, guard("HTTPRoute/r", "login: {except: /health}")), loses: "authentication 1",
			opened: true, decided: true},
		"a narrower exemption": {before: sideWith(oneRule, guard("HTTPRoute/r", "login: {except: /h}")),
			after: sideWith(oneRule, guard("HTTPRoute/r", "login: {except: /h/x}")), decided: true},
		"another exemption": {before: sideWith(oneRule, guard("HTTPRoute/r", "login: {except: /h}")),
			after: sideWith(oneRule, guard("HTTPRoute/r", "login: {except: /i}")), opened: true, decided: true},
		"the only address list": {before: sideWith(oneRule, guard("HTTPRoute/r", "from: [10.0.0.0/8]")),
			after: sideWith(oneRule), loses: "ipList 1", opened: true, decided: true},
		"a limit is only tried": {before: sideWith(oneRule, guard("HTTPRoute/r", "limit: {n: 1}")),
			after: sideWith(oneRule, guard("HTTPRoute/r", "limit: {n: 1, dry: true}")), loses: "rateLimit 1",
			decided: true},
		"a certificate for a login": {before: sideWith(oneRule, guard("HTTPRoute/r", "certificate: x")),
			after: sideWith(oneRule, login),
			loses: "clientCertificate 1", opened: true, decided: true},
		"a login for a decision": {before: sideWith(oneRule, guard("HTTPRoute/r", "allow: x")),
			after: sideWith(oneRule, login),
			loses: "authorization 1", gains: "authentication 1", opened: true, decided: true},
		"a filter goes": {before: sideWith(filtered), after: sideWith(oneRule), loses: "authorization 1",
			opened: true, decided: true},
		"a filter comes": {before: sideWith(oneRule), after: sideWith(filtered), gains: "authorization 1",
			decided: true},
		"begins to redirect": {before: sideWith(oneRule, login), after: sideWith(away, login),
			gains: "httpsRedirect 1", decided: true},
		"redirects no more": {before: sideWith(away), after: sideWith(oneRule), loses: "httpsRedirect 1",
			opened: true, decided: true},
		"redirected to login": {before: sideWith(away), after: sideWith(oneRule, login), loses: "httpsRedirect 1",
			decided: true},
		"a rule goes": {before: sideWith(twoRules, login), after: sideWith(oneRule, login), decided: true},
		"a new rule is open": {before: sideWith(oneRule, login), after: sideWith(twoRules,
			guard("HTTPRoute/r/one", "login: {realm: x}")),
			opened: true, decided: true},
		"nobody, then everybody": {before: sideWith(oneRule, guard("HTTPRoute/r", "closed: true")),
			after: sideWith(oneRule),
			loses: "authentication 1, authorization 1, clientCertificate 1, ipList 1", opened: true, decided: true},
		"nobody, then a login": {before: sideWith(oneRule, guard("HTTPRoute/r", "closed: true")),
			after: sideWith(oneRule, login),
			loses: "authorization 1, clientCertificate 1, ipList 1", decided: true},
		"everybody, then nobody": {before: sideWith(oneRule),
			after: sideWith(oneRule, guard("HTTPRoute/r", "closed: true")),
			gains: "authentication 1, authorization 1, clientCertificate 1, ipList 1", decided: true},
		"a limit, then nobody": {before: sideWith(oneRule,
			guard("HTTPRoute/r", "login: {x: y}, limit: {n: 1}")), after: sideWith(oneRule, guard("HTTPRoute/r",
			"login: {x: y}, closed: true")), gains: "authorization 1, clientCertificate 1, ipList 1", decided: true},
		"what nobody describes goes": {before: sideWith(oneRule, unread), after: sideWith(oneRule)},
		"what nobody describes stays": {before: sideWith(oneRule, unread), after: sideWith(oneRule, unread),
			decided: true},
		"for what nobody describes": {before: sideWith(oneRule, login), after: sideWith(oneRule, unread),
			weakens: "authentication 1"},
		"beside what nobody describes": {before: sideWith(oneRule, login), after: sideWith(oneRule, login, unread),
			decided: true},
		"the Service is not in files": {before: side{oneRule, []string{login, namespaceDoc}},
			after: side{oneRule, []string{namespaceDoc}}, loses: "authentication 1", opened: true, decided: true},
		"the Service comes into files": {before: side{oneRule, []string{namespaceDoc}},
			after: side{oneRule, []string{namespaceDoc, service}}, decided: true},
	} {
		before, after := guardedSide(t, c.before.rules, c.before.docs...), guardedSide(t, c.after.rules,
			c.after.docs...)
		d := diff.Compare(before, after, diff.Query{})
		got := [3]string{counts(d.Summary.Protection.Loses), counts(d.Summary.Protection.Weakens),
			counts(d.Summary.Protection.Gains)}
		if want := [3]string{c.loses, c.weakens, c.gains}; got != want {
			t.Errorf("%s: rules lose, may lose and gain %q, want %q", name, got, want)
		}
		if first := strings.Join(d.Headline(), " "); c.loses != "" &&
			!strings.HasPrefix(first, "1 rule loses "+strings.Fields(c.loses)[0]) &&
			!strings.HasPrefix(first, "2 rules lose "+strings.Fields(c.loses)[0]) {
			t.Errorf("%s: the first line is %q", name, first)
		}
		b := behaviorOf(t, before, after)
		if (b.Opened > 0) != c.opened || !c.opened && b.IsAccessCertain() != c.decided {
			t.Errorf("%s: %s; certain: %v, %+v", name, b.Headline(), b.IsAccessCertain(), b.Undecided)
		}
	}
}

const namespaceDoc = `{apiVersion: v1, kind: Namespace, metadata: {name: a}}`

// TestLostProperty: the change says what is lost, by which gate it held, and why it does not any
// more.
func TestLostProperty(t *testing.T) {
	before := guardedSide(t, oneRule, guard("HTTPRoute/r", "login: {realm: x}"), viewtest.ServiceDoc("a", "s"))
	after := guardedSide(t, oneRule, guard("HTTPRoute/r", "login: {realm: x, optional: true}"),
		viewtest.ServiceDoc("a", "s"))
	b := behaviorOf(t, before, after)
	want := "authentication (login of guard/a/httproute-r) is lost: login.optional of guard/a/httproute-r lets requests without a credential in"
	if len(b.Items) != 1 || b.Items[0].Reason != want || !strings.Contains(b.Headline(), "1 loses authentication") {
		t.Errorf("%s\n%+v", b.Headline(), b.Items)
	}
	b, err := Compare(before, after, Query{Protects: []model.GroupKind{{Group: "x.io", Kind: "Guard"}}})
	if err != nil || b.Opened != 0 || !b.IsAccessCertain() {
		t.Errorf("the presence of a Guard is asked about, and one is present: %+v, %v", b, err)
	}
	d := diff.Compare(before, after, diff.Query{Kinds: []model.GroupKind{{Group: "x.io", Kind: "Other"}}})
	if len(d.Protection) > 0 {
		t.Errorf("no Guard is asked about: %+v", d.Protection)
	}
}

// TestProtectionMirrored: what is lost one way is gained the other way, and an input loses nothing
// to itself.
func TestProtectionMirrored(t *testing.T) {
	lost := 0
	for seed := range uint64(*behaviorSeeds) {
		d := viewtest.Generator{Rand: rand.New(rand.NewPCG(seed, 6))}
		docs := viewtest.Copy(d.Input())
		before := viewtest.Resolve(t, docs)
		if same := diff.Compare(before, viewtest.Resolve(t, docs), diff.Query{}); len(same.Protection) > 0 {
			t.Fatalf("seed %d: an input differs from itself: %+v", seed, same.Protection)
		}
		for _, m := range mutations {
			next := m.apply(d, viewtest.Copy(docs))
			if next == nil {
				continue
			}
			after := viewtest.Resolve(t, next)
			way, back := diff.Compare(before, after, diff.Query{}), diff.Compare(after, before, diff.Query{})
			lost += len(way.Protection)
			if !reflect.DeepEqual(way.Summary.Protection.Loses, gainsFrom(back, gate.Fails)) ||
				!reflect.DeepEqual(way.Summary.Protection.Weakens, gainsFrom(back, gate.Depends)) {
				t.Fatalf("seed %d: %s: %+v, and back %+v", seed, m.name, way.Summary.Protection,
					back.Summary.Protection)
			}
		}
	}
	if lost < *behaviorSeeds {
		t.Errorf("only %d properties were lost or gained", lost)
	}
}

func gainsFrom(d *diff.EffectivePolicyDiff, v gate.Verdict) diff.PropertyCounts {
	var out diff.PropertyCounts
	for i := range d.Protection {
		if c := &d.Protection[i]; c.Change == diff.ProtectionGained && c.Before.Verdict == v {
			*out.CountOf(c.Property)++
		}
	}
	return out
}

// verdictsOf are what is true of the properties of one request; nil if no backend gets it.
func verdictsOf(in view.Input, a *request.Answer) map[gate.Property]gate.Verdict {
	if a == nil || a.Outcome != request.Matched && !(a.Outcome == request.BackendError &&
		len(protect.AbsentBackends(in.Resolution, a)) > 0) {
		return nil
	}
	g := protect.NewJudge(in.Resolution, in.Judges.Gates, protect.Assumptions{}).FindGates(a)
	out := map[gate.Property]gate.Verdict{}
	for _, p := range gate.Properties() {
		out[p] = g.JudgeProperty(p).Verdict
	}
	return out
}

// opensFor tells of one request whether it gets access.
func opensFor(was, is map[gate.Property]gate.Verdict) bool {
	opens, held := false, false
	for _, p := range protection.AccessProperties() {
		held = held || is[p] == gate.Holds
		opens = opens || was[p] == gate.Holds && is[p] == gate.Fails
	}
	return is != nil && (was == nil && !held || was != nil && opens)
}

// TestAccessOfMutations: each class that is said to get access has a request that does, and where
// none is said to, no request that is drawn does.
func TestAccessOfMutations(t *testing.T) {
	opened, lost := 0, 0
	for seed := range uint64(*behaviorSeeds) {
		d := viewtest.Generator{Rand: rand.New(rand.NewPCG(seed, 7))}
		docs := viewtest.Copy(d.Input())
		before := viewtest.Resolve(t, docs)
		for _, m := range mutations {
			next := m.apply(d, viewtest.Copy(docs))
			if next == nil {
				continue
			}
			after := viewtest.Resolve(t, next)
			out := behaviorOf(t, before, after)
			for i := range out.Items {
				c := &out.Items[i]
				at := c.Before.Gateway
				if at == "" {
					at = c.After.Gateway
				}
				was, is := asks(t, before, c.Command, at), asks(t, after, c.Command, at)
				if got := opensFor(verdictsOf(before, was), verdictsOf(after, is)); got != (c.Access == AccessOpened) {
					t.Fatalf("seed %d: %s: %s opens: %v, and is said to be %q: %s", seed, m.name, c.Command, got,
						c.Access, c.Reason)
				}
				if c.Access == AccessOpened {
					opened++
				}
				lost += len(c.lost)
			}
			if out.Opened > 0 {
				continue
			}
			for range 12 {
				r, err := request.New(viewtest.Pick(d, "GET", "POST"), "http://"+viewtest.Pick(d, "a.b.com", "x.b.com",
					"z.com")+viewtest.Pick(d, "/", "/a", "/a/b", "/c", "/d"), request.Options{})
				if err != nil {
					t.Fatal(err)
				}
				gateway := viewtest.Pick(d, "infra/gw0", "infra/gw1")
				was, is := askAt(t, before, r, gateway), askAt(t, after, r, gateway)
				if opensFor(verdictsOf(before, was), verdictsOf(after, is)) {
					t.Fatalf("seed %d: %s: %s at %s gets access, and none is said to", seed, m.name, r.Text, gateway)
				}
			}
		}
	}
	if opened < *behaviorSeeds || lost < *behaviorSeeds/2 {
		t.Errorf("only %d changes opened something, and %d by a lost property", opened, lost)
	}
}
