package resolve

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// shop is one gateway with two listeners, one route with two rules, two Services.
func shop() []string {
	return []string{gateway("east", "a", "b"), route("shop", "east", "svc", "other"), service("svc"), service("other")}
}

const described = "targets: [Gateway, Gateway/listener, HTTPRoute, HTTPRoute/rule, Service, Namespace, Widget.y.io]\n"

const grant = `apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: g, namespace: infra}
spec: {from: [{group: x.io, kind: Paint, namespace: app}], to: [{group: gateway.networking.k8s.io, kind: Gateway}]}
`

// the targets that a policy of namespace app gets, and what is reported about the others
func TestAttach(t *testing.T) {
	for _, c := range []struct{ name, descriptor, target, want, problem string }{
		{"a route", described, "HTTPRoute/shop", "shop", ""},
		{"a rule", described, "HTTPRoute/shop/r2", "r2", ""},
		{"no such rule", described, "HTTPRoute/shop/r3", "",
			"TargetNotFound: httproute/app/shop has no section \"r3\": the policy does not attach, not even to the whole object (it has: r1, r2)"},
		{"no such route", described, "HTTPRoute/shp", "",
			"TargetNotFound: httproute/app/shp is not found: the policy does not attach (did you mean httproute/app/shop?)"},
		{"a Service", described, "Service/svc", "svc", ""},
		{"a section that the kind may not target", described, "Service/svc/http", "",
			"InvalidTarget: Paint may not target service with a sectionName: the policy does not attach there (it may target: Gateway, Gateway/listener, HTTPRoute, HTTPRoute/rule, Service, Namespace, Widget.y.io)"},
		{"a kind that it may not target", described, "GatewayClass/c", "",
			"InvalidTarget: Paint may not target gatewayclass"},
		{"another namespace", described, "infra:Gateway/east", "",
			"CrossNamespaceTarget: gateway/infra/east is not in the policy's namespace app: not attached"},
		{"another namespace without a grant", described + "namespaces: grant\n", "infra:Gateway/east", "",
			"RefNotPermitted: no ReferenceGrant lets paint/app/p refer to gateway/infra/east: not attached"},
		{"any namespace", described + "namespaces: any\n", "infra:Gateway/east infra:Gateway/east/b", "b east", ""},
		{"its own namespace", described, "Namespace/app", "app", ""},
		{"somebody else's namespace", described, "Namespace/infra", "", "CrossNamespaceTarget: namespace/infra"},
		{"the same twice", described, "HTTPRoute/shop HTTPRoute/shop", "shop",
			"DuplicateReference: httproute/app/shop is named twice; it counts once"},
		{"one found, one not", described, "HTTPRoute/shop HTTPRoute/none", "shop",
			"TargetNotFound: httproute/app/none is not found"},
		{"whole and section are two targets", described, "HTTPRoute/shop HTTPRoute/shop/r1", "r1 shop", ""},
		{"silent", described + "refs: [{at: spec.targetRefs, missing: silent}]\n", "HTTPRoute/none", "", ""},
	} {
		r := describedBy(t, c.descriptor, append(shop(), paint("app/p", c.target, ""))...)
		checkTargets(t, c.name, r, c.want, c.problem)
	}
	r := describedBy(t, described+"namespaces: grant\n",
		append(shop(), grant, paint("app/p", "infra:Gateway/east", ""))...)
	checkTargets(t, "a grant", r, "east", "")
	r = describedBy(t, described+"namespaces: grant\n", append(shop(), strings.ReplaceAll(grant, "namespace: app",
		"namespace: other"), paint("app/p", "infra:Gateway/east", ""))...)
	checkTargets(t, "a grant for others", r, "", "RefNotPermitted")
}

func checkTargets(t *testing.T, name string, r *Resolution, want, problem string) {
	t.Helper()
	k := r.paints()
	var got, problems []string
	for _, id := range k.TargetsOf(k.Policies[0]) {
		got = append(got, r.name(id))
	}
	slices.Sort(got)
	if strings.Join(got, " ") != want {
		t.Errorf("%s: targets %v, want %s", name, got, want)
	}
	for _, p := range r.Problems {
		if p.Ref != nil && p.Ref.Kind == "Paint" && p.Code != model.GenericKind && p.Code != model.NotReached {
			if p.Hint != "" {
				p.Message += " (" + p.Hint + ")"
			}
			problems = append(problems, string(p.Code)+": "+p.Message)
			if p.Origin == nil {
				t.Errorf("%s: no origin: %+v", name, p)
			}
		}
	}
	if all := strings.Join(problems, "\n"); !strings.Contains(all, problem) || problem == "" && all != "" ||
		len(problems) > 1 {
		t.Errorf("%s: problems %s, want %s", name, all, problem)
	}
}

func TestAttachesSaysWhichReferenceLeads(t *testing.T) {
	r := describedBy(t, described, append(shop(), paint("app/p", "HTTPRoute/none HTTPRoute/shop HTTPRoute/shop",
		""))...)
	k := r.paints()
	for i, want := range []bool{false, true, true} {
		if got := k.HasTarget(k.Policies[0], i); got != want {
			t.Errorf("reference %d: %v, want %v", i, got, want)
		}
	}
}

func TestSelector(t *testing.T) {
	policy := func(selector string) string {
		return "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: app}\nspec: {targetSelectors: [" +
			selector + "]}\n"
	}
	for _, c := range []struct{ name, selector, want, problem string }{
		{"by label", `{group: "", kind: Service, matchLabels: {service: svc}}`, "svc", ""},
		{"all of a kind", `{group: "", kind: Service, matchLabels: {}}`, "other svc", ""},
		{"nothing fits", `{group: "", kind: Service, matchLabels: {service: none}}`, "",
			"TargetNotFound: no service in namespace app has the labels that the selector asks for"},
		{"another namespace", `{group: "", kind: Service, namespace: infra, matchLabels: {}}`, "",
			"CrossNamespaceTarget"},
		{"with a section",
			`{group: gateway.networking.k8s.io, kind: HTTPRoute, sectionName: r1, matchLabels: {route: shop}}`, "r1",
			""},
		{"expressions", `{group: "", kind: Service, matchExpressions: [{key: a}]}`, "", "NotEvaluated"},
		{"selected twice",
			`{group: "", kind: Service, matchLabels: {service: svc}}, {group: "", kind: Service, matchLabels: {service: svc}}`, "svc", "DuplicateReference"},
	} {
		checkTargets(t, c.name, describedBy(t, described, append(shop(), policy(c.selector))...), c.want, c.problem)
	}
}

func TestVirtualTargets(t *testing.T) { // gep713 P14: opaque, nothing inherited there or from there
	widget := "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: infra}\nspec: {targetRef: {group: y.io, kind: Widget, name: foo.com}, m: {a: 1}}\n"
	r := resolved(t, append(shop(), widget, paint("infra/g", "Gateway/east",
		"overrides: {strategy: merge, m: {b: 1}}"))...)
	k := r.paints()
	if got, want := strings.Join(r.codes(), ", "), "UnknownKind p"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	id := k.TargetsOf(k.Policies[1])[0]
	if n := r.Node(id); n.Role != "opaque" || n.Ref.Name != "foo.com" || int(id) < r.Graph.Len() {
		t.Errorf("%+v", n)
	}
	stacks := k.Contexts(id)
	if len(stacks) != 1 || len(k.Verdict(stacks[0]).Result.Rules) != 1 {
		t.Errorf("%d contexts", len(stacks))
	}
	if paths := k.Paths(id, stacks[0]); len(paths) != 1 || len(paths[0]) != 1 {
		t.Errorf("paths %v", paths)
	}
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\n"
	r = resolved(t, secret, strings.Replace(paint("app/p", "Service/x", ""), "kind: Service, name: x",
		"kind: Secret, name: s", 1))
	if k := r.paints(); len(k.TargetsOf(k.Policies[0])) != 1 || len(r.codes()) != 0 {
		t.Errorf("a known kind without a place in the graph: %v", r.codes())
	}
}

func TestSameTarget(t *testing.T) { // engine E8; the older is established
	two := func(settings string) []string {
		return append(shop(), paint("app/old@1", "HTTPRoute/shop", strings.ReplaceAll(settings, "V", "old")),
			paint("app/new@2", "HTTPRoute/shop", strings.ReplaceAll(settings, "V", "new")))
	}
	bare, over, merging := "m: {a: V, V: 1}", "overrides: {m: {a: V, V: 1}}",
		"defaults: {strategy: merge, m: {a: V, V: 1}}"
	for _, c := range []struct{ name, descriptor, settings, want string }{
		{"stack, defaults: the newer", "", bare,
			"m.a=new(new) m.new=1(new) -m.a(old) SameLevelOrder>new -m.old(old) SameLevelOrder>new"},
		{"stack, overrides: the older", "", over,
			"m.a=old(old) m.old=1(old) -m.a(new) SameLevelOrder>old -m.new(new) SameLevelOrder>old"},
		{"stack, merged", "", merging, "m.a=new(new) m.new=1(new) m.old=1(old) -m.a(old) SameLevelOrder>new"},
		{"conflict", "sameTarget: conflict\n", bare,
			"m.a=old(old) m.old=1(old) -m.a(new) Conflicted>old -m.new(new) Conflicted>old"},
		{"first", "sameTarget: first\n", merging,
			"m.a=old(old) m.old=1(old) -m.a(new) SameLevelOrder>old -m.new(new) SameLevelOrder>old"},
		{"oldest, atomic", "sameTarget: oldest\n", bare,
			"m.a=old(old) m.old=1(old) -m.a(new) SameLevelOrder>old -m.new(new) SameLevelOrder>old"},
		{"oldest, merged", "sameTarget: oldest\n", merging,
			"m.a=old(old) m.new=1(new) m.old=1(old) -m.a(new) SameLevelOrder>old"},
		{"fill", "sameTarget: fill\n", bare, "m.a=old(old) m.new=1(new) m.old=1(old) -m.a(new) SameLevelOrder>old"},
		{"direct", "class: direct\n", bare,
			"m.a=old(old) m.old=1(old) -m.a(new) Conflicted>old -m.new(new) Conflicted>old"},
		{"direct, first", "class: direct\nsameTarget: first\n", bare,
			"m.a=old(old) m.old=1(old) -m.a(new) SameLevelOrder>old -m.new(new) SameLevelOrder>old"},
	} {
		r := describedBy(t, "targets: [HTTPRoute]\n"+c.descriptor, two(c.settings)...)
		if got := r.results(t, "app:HTTPRoute/shop/r1"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestRejectionHoldsForItsTarget(t *testing.T) { // rejects: target; the loser still holds where it is alone
	r := describedBy(t, "targets: [HTTPRoute]\nsameTarget: conflict\n", append(shop(), route("blog", "east", "svc"),
		paint("app/old@1", "HTTPRoute/shop", "m: {a: old}"), paint("app/new@2", "HTTPRoute/shop HTTPRoute/blog",
			"m: {a: new}"))...)
	if got, want := r.results(t, "app:HTTPRoute/blog/r1"), "m.a=new(new)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	k := r.paints()
	if len(k.Rejected) != 1 || k.Rejected[0].By.Ref().Name != "old" || k.Rejected[0].Silent {
		t.Errorf("%+v", k.Rejected)
	}
	if got := r.contexts(t, "app:HTTPRoute/shop/r1"); !strings.HasPrefix(got, "old (new): ") {
		t.Errorf("got %s", got)
	}
}

func TestSettingMatters(t *testing.T) { // gep713 P32
	for settings, want := range map[string]string{"m: {a: V}": "SettingMatters old", "overrides: {m: {a: V}}": "",
		"m: {a: same}": ""} {
		r := resolved(t, append(shop(), paint("app/old@1", "HTTPRoute/shop", strings.ReplaceAll(settings, "V", "old")),
			paint("app/young@2", "HTTPRoute/shop", strings.ReplaceAll(settings, "V", "new")))...)
		if got := strings.Join(r.codes(), ", "); got != want {
			t.Errorf("%s: got %s, want %s", settings, got, want)
		}
	}
}

func TestOrderUncertain(t *testing.T) { // engine E9, gatewayapi G47
	for _, c := range []struct{ name, first, second, want string }{
		{"no times, other values", paint("app/a", "HTTPRoute/shop", "m: {a: 1}"), paint("app/b", "HTTPRoute/shop",
			"m: {a: 2}"), "OrderUncertain a, SettingMatters a"},
		{"one time missing", paint("app/a@1", "HTTPRoute/shop", "m: {a: 1}"), paint("app/b", "HTTPRoute/shop",
			"m: {a: 2}"), "OrderUncertain a, SettingMatters a"},
		{"both times", paint("app/a@1", "HTTPRoute/shop", "m: {a: 1}"), paint("app/b@2", "HTTPRoute/shop",
			"m: {a: 2}"), "SettingMatters a"},
		{"the same value", paint("app/a", "HTTPRoute/shop", "m: {a: 1}"), paint("app/b", "HTTPRoute/shop",
			"m: {a: 1}"), ""},
		{"other targets", paint("app/a", "HTTPRoute/shop", "m: {a: 1}"), paint("app/b", "HTTPRoute/shop/r1",
			"m: {a: 2}"), ""},
		{"nothing in common", paint("app/a", "HTTPRoute/shop", "strategy: merge, m: {a: 1}"),
			paint("app/b", "HTTPRoute/shop", "m: {b: 2}"), ""},
	} {
		r := resolved(t, append(shop(), c.first, c.second)...)
		if got := strings.Join(r.codes(), ", "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestUnsetNames(t *testing.T) {
	upper := paint("infra/g", "Gateway/east",
		"defaults: {strategy: merge, m: {a: 1}}, overrides: {strategy: merge, m: {b: 1}}")
	for unset, want := range map[string]string{"m.a": "", "m.b": "UnsetHasNoEffect p", "m.c": "UnsetUnknown p",
		"a": "UnsetUnknown p"} {
		r := resolved(t, append(shop(), upper, paint("app/p", "HTTPRoute/shop", "unset: ["+unset+"], m: {z: 1}"))...)
		got := slices.DeleteFunc(r.codes(), func(s string) bool { return strings.HasPrefix(s, "MultipleBlocks") })
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %v, want %s", unset, got, want)
		}
	}
}

func TestOrderSensitiveIsReportedOncePerStack(t *testing.T) {
	r := resolved(t, append(shop(), route("blog", "east", "svc"), paint("infra/a", "Gateway/east",
		"overrides: {m: {c: red}}"), paint("infra/b", "Gateway/east/a", "defaults: {m: {c: blue}}"),
		paint("app/c", "HTTPRoute/shop", "m: {c: green}"))...)
	if got, want := strings.Join(r.codes(), ", "), "OrderSensitive a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConditionsSeeTheLowestPolicy(t *testing.T) {
	upper := paint("infra/g", "Gateway/east",
		`overrides: {strategy: merge, when: "metadata.name == 'p' && spec.m.a > 50", m: {a: 50}}`)
	r := resolved(t, append(shop(), upper, paint("app/p", "HTTPRoute/shop", "m: {a: 100}"))...)
	if got, want := r.results(t, "app:HTTPRoute/shop/r1"), "m.a=50(g) -m.a(p) LessSpecificOverrides>g"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r = resolved(t, append(shop(), upper, paint("app/p", "HTTPRoute/shop", "m: {b: 100}"))...)
	if got, want := strings.Join(r.codes(), ", "), "ConditionMissingField g"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := r.results(t, "app:HTTPRoute/shop/r1"), "m.b=100(p) -m.a(g) ConditionFalse>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReplayEqualsTheVerdict(t *testing.T) {
	r := resolved(t, append(shop(), paint("infra/g", "Gateway/east", "overrides: {strategy: merge, m: {a: 1}}"),
		paint("app/p", "HTTPRoute/shop", "m: {a: 2, b: 2}"))...)
	k := r.paints()
	for _, s := range k.Contexts(r.node(t, "app:HTTPRoute/shop/r1")) {
		again := k.FoldStepwise(s).Result
		if got, want := len(again.Rules), len(k.Verdict(s).Result.Rules); got != want || len(again.Trace) != 2 ||
			!slices.Equal(again.Trace[1].After, []string{"m.a", "m.b"}) {
			t.Errorf("%d rules, want %d; steps %v", got, want, again.Trace)
		}
	}
}

// the gateway's and the route's namespace are not one level: their order is the path's
func TestNamespacesOfAPathAreDifferentLevels(t *testing.T) {
	r := resolved(t, append(shop(), paint("infra/ni", "Namespace/infra", "defaults: {strategy: merge, m: {a: 1}}"),
		paint("app/na", "Namespace/app", "m: {a: 2}"))...)
	if got, want := r.results(t, "app:HTTPRoute/shop/r1"), "m.a=2(na) -m.a(ni) MoreSpecificWins>na"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// descriptor: targets, default "as observed", and effective follows from it
func TestTargetsOfADescriptorWithoutTargets(t *testing.T) {
	r := describedBy(t, "", append(shop(), paint("app/p", "HTTPRoute/shop", "m: {a: 1}"))...)
	if got := r.paints().Effective; !slices.Contains(got, "rule") || len(r.codes()) > 0 {
		t.Errorf("effective %v, %v", got, r.codes())
	}
}
