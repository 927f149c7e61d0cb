package resolve

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// said lists the problems of all outcomes in force with a code, as messages.
func (r *Resolution) said(code model.Code) []string {
	var out []string
	for _, k := range r.Kinds {
		if len(k.Table) > 0 {
			k.EachStackInForce(func(s StackID) {
				for _, p := range k.Verdict(s).Problems {
					if p.Code == code {
						out = append(out, p.Message)
					}
				}
			})
		}
	}
	for _, p := range r.Problems {
		if p.Code == code {
			out = append(out, p.Message+" "+p.Hint)
		}
	}
	return out
}

// E5: names are compared whole; a section's name deactivates nothing under merge, and that is said
func TestUnsetNamesAreWhole(t *testing.T) {
	r := resolved(t, append(shop(), paint("infra/g", "Gateway/east", "defaults: {strategy: merge, m: {a: 1}}"),
		paint("app/p", "HTTPRoute/shop", "unset: [m], n: {z: 1}"))...)
	if got, want := strings.Join(r.codes(), ", "), "UnsetUnknown p"; got != want {
		t.Errorf("got %q, want %s; in force: %s", got, want, r.results(t, "app:HTTPRoute/shop/r1"))
	}
}

func TestOrderIsCertainWhereValuesAreTheSame(t *testing.T) { // E9: a loss counts only if the values differ
	r := resolved(t, append(shop(), paint("app/a", "HTTPRoute/shop", "strategy: patch, m: {a: {x: 1, y: 2}}"),
		paint("app/b", "HTTPRoute/shop", "m: {a: {x: 1}}"))...)
	if got := r.said(model.OrderUncertain); len(got) > 0 {
		t.Errorf("%s\nin force: %s", got, r.results(t, "app:HTTPRoute/shop/r1"))
	}
}

func TestOrderSensitiveNamesTheRulesThatDiffer(t *testing.T) { // gep713 P27: both results' differing rules
	r := resolved(t, append(shop(), paint("infra/a", "Gateway/east", "overrides: {strategy: merge, m: {z: red}}"),
		paint("infra/b", "Gateway/east/a", "defaults: {strategy: merge, m: {z: blue}}"), paint("app/c",
			"HTTPRoute/shop", "m: {a: 1, b: 1, c: 1, d: 1, z: green}"))...)
	got := r.said(model.OrderSensitive)
	if len(got) != 1 || !strings.Contains(got[0], `m.z="red"`) || !strings.Contains(got[0], `m.z="green"`) ||
		strings.Contains(got[0], "m.a") {
		t.Errorf("got %q", got)
	}
}

func TestTwoPoliciesAreNeverOrderSensitive(t *testing.T) { // E2, P27: three or more policies
	r := resolved(t,
		append(shop(), paint("infra/g", "Gateway/east",
			"defaults: {strategy: merge, m: {a: 1}}, overrides: {m: {b: 1}}"), paint("app/p", "HTTPRoute/shop",
			"m: {c: 1}"))...)
	if got := r.said(model.OrderSensitive); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestSelectorOfAClusterScopedKind(t *testing.T) { // a Namespace has no namespace that could equal the policy's
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: app, labels: {team: a}}\n"
	r := resolved(t, append(shop(), namespace,
		"apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: app}\nspec: {targetSelectors: [{group: \"\", kind: Namespace, matchLabels: {team: a}}], m: {a: 1}}\n")...)
	if got, want := r.results(t, "app:HTTPRoute/shop/r1"), "m.a=1(p)"; got != want {
		t.Errorf("got %q, want %s: %v", got, want, r.codes())
	}
}

func TestSectionOfAnObjectWithoutSections(t *testing.T) { // the object is there; it has no such section
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\n"
	r := resolved(t, secret, strings.Replace(paint("app/p", "Service/x/part", ""), "kind: Service, name: x",
		"kind: Secret, name: s", 1))
	if got := r.said(model.TargetNotFound); len(got) != 1 || strings.Contains(got[0], "did you mean secret/app/s?") {
		t.Errorf("got %q", got)
	}
}

// no traffic reaches it; like a Service that no rule names it has one context and its own path
func TestServiceOfAnUnattachedRoute(t *testing.T) {
	r := resolved(t, gateway("east", "a"), route("gone", "nowhere", "svc"), service("svc"), service("alone"),
		paint("app/p", "Service/svc Service/alone", ""))
	if got, want := r.contexts(t, "app:Service/svc"), "p: svc"; got != want {
		t.Errorf("got %q, want %q, as for the other one: %q", got, want, r.contexts(t, "app:Service/alone"))
	}
}

func TestListenerSetThatIsRefused(t *testing.T) { // the Gateway takes no listener sets: no traffic reaches it
	set := "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: s, namespace: app}\nspec: {parentRef: {name: east, namespace: infra}, listeners: [{name: x, port: 81, protocol: HTTP}]}\n"
	policy := "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: app}\nspec: {targetRef: {group: gateway.networking.k8s.io, kind: ListenerSet, name: s}, m: {a: 1}}\n"
	r := resolved(t, append(shop(), set, policy)...)
	if got := r.said(model.NotReached); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestReferenceWithoutAGroup(t *testing.T) { // the API requires group; the message must name what is missing
	r := describedBy(t, described,
		append(shop(),
			"apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: app}\nspec: {targetRef: {kind: HTTPRoute, name: shop}}\n")...)
	if got := r.said(model.InvalidTarget); len(got) != 1 || !strings.Contains(got[0], "group") {
		t.Errorf("got %q", got)
	}
}

// sameLevel=oldest fills; the problem belongs to the policy that wrote the condition
func TestConditionOfTheYoungerPolicyIsItsOwn(t *testing.T) {
	in := input{settings: []string{"gatewayapi.sameLevel=oldest"}}
	in.add(t, append(shop(), paint("infra/old@1", "Gateway/east", "defaults: {strategy: merge, m: {a: 1}}"),
		paint("infra/young@2", "Gateway/east", `overrides: {strategy: merge, when: "spec.none.x > 1", m: {b: 1}}`))...)
	if got, want := strings.Join(in.run(t).codes(), ", "), "ConditionMissingField young"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// gep713 P19: none uses only age and name; here the policy on the section is the older one
func TestDirectKindsHaveOneLevel(t *testing.T) {
	r := describedBy(t, "class: direct\ntargets: [HTTPRoute, HTTPRoute/rule]\n",
		append(shop(), paint("app/whole@2", "HTTPRoute/shop", "m: {a: 1}"), paint("app/section@1", "HTTPRoute/shop/r1",
			"m: {a: 2}"))...)
	if got, want := r.results(t,
		"app:HTTPRoute/shop/r1"), "m.a=2(section) -m.a(whole) Conflicted>section"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHintForANamespaceNamesIt(t *testing.T) {
	r := describedBy(t, described+"namespaces: grant\n", append(shop(), paint("app/p", "Namespace/infra", ""))...)
	if got := r.said(model.RefNotPermitted); len(got) != 1 || strings.Contains(got[0], "in namespace  must") {
		t.Errorf("got %q", got)
	}
}
