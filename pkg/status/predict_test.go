package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

func TestUsual(t *testing.T) {
	const accepted = "Accepted=True/Accepted: the policy has been accepted"
	for name, tc := range map[string]struct {
		manifests []string
		kind      string
		want      map[string]string
	}{
		"in force, partly, and nowhere": {
			[]string{object("Paint", "p", 0, onGateway+"wall: red"), object("Paint", "q", 0, onCart+"wall: green"),
				object("Paint", "r", 0, onAPI+"overrides: {wall: blue}")}, "Paint",
			map[string]string{
				"p": accepted +
					" | Programmed=True/PartiallyProgrammed: in force on 1 of 4 paths; overridden by demo/q, demo/r: wall",
				"q": accepted +
					" | Programmed=True/PartiallyProgrammed: in force on 1 of 2 paths; overridden by demo/r: wall",
				"r": accepted + " | Programmed=True/Programmed: in force on all 2 paths"}},
		"nothing holds": {
			[]string{object("Paint", "p", 0, onGateway+"overrides: {wall: red}"),
				object("Paint", "q", 0, onRoute+"wall: green")}, "Paint",
			map[string]string{"q": accepted + " | Programmed=False/Overridden: overridden by demo/p"}},
		"only its own condition is in the way": {
			[]string{object("Paint", "p", 0, onGateway+"overrides: {when: 'false', wall: red}")}, "Paint",
			map[string]string{"p": accepted + " | Programmed=False/Overridden: overridden by its own condition"}},
		"a kind's own words": {
			[]string{object("Stain", "p", 0, onGateway+"wall: red"), object("Stain", "q", 0, onCart+"wall: green"),
				"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: stray, namespace: demo}\nspec: {rules: [{name: only}]}",
				object("Stain", "r", 0,
					"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: stray}, wall: red")}, "Stain",
			map[string]string{
				"p": accepted + " | Holds=True/Partly: in force on 2 of 4 paths; overridden by demo/q: wall",
				"q": accepted + " | Holds=True/Whole: in force on all 2 paths",
				"r": accepted +
					"; no traffic path reaches the target | Holds=False/Idle: no traffic path reaches the target"}},
		"no word for a target on no path": {
			[]string{
				"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: stray, namespace: demo}\nspec: {rules: [{name: only}]}",
				object("Paint", "p", 0,
					"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: stray}, wall: red")}, "Paint",
			map[string]string{"p": accepted + "; no traffic path reaches the target"}},
		"not accepted": {
			[]string{object("Paint", "aimless", 0, "wall: red"),
				object("Paint", "lost", 0,
					"targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gone, sectionName: web}, wall: red"),
				object("Paint", "wrong", 0, onService+"wall: red"),
				object("Paint", "abroad", 0,
					"targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw, namespace: other}, wall: red")}, "Paint",
			map[string]string{
				"aimless": "Accepted=False/Invalid: the policy has no target reference",
				"lost":    "Accepted=False/TargetNotFound: gateway/demo/gone/web not found",
				"wrong":   "Accepted=False/Invalid: service/demo/web cannot be a target of the policy",
				"abroad":  "Accepted=False/Invalid: gateway/other/gw cannot be a target of the policy"}},
		"no grant": {
			[]string{
				"apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: other}\nspec: {ports: [{port: 80}]}",
				object("Seal", "p", 0, `targetRef: {group: "", kind: Service, name: web, namespace: other}, mode: x`)},
			"Seal",
			map[string]string{
				"p": "Accepted=False/RefNotPermitted: no ReferenceGrant permits the reference to service/other/web"}},
		"some references lead nowhere": {
			[]string{object("Paint", "p", 0,
				"targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}, "+
					"{group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: nope}], wall: red")},
			"Paint",
			map[string]string{"p": accepted +
				"; not found: httproute/demo/gone, gateway/demo/gw/nope | Programmed=True/Programmed: in force on all 4 paths"}},
		"conflicts": {
			[]string{object("Seal", "a", 2, onService+"mode: x"), object("Seal", "b", 1, onService+"mode: y"),
				object("Gloss", "a", 0, onRoute+"wall: x"), object("Gloss", "b", 0, onRoute+"wall: y")}, "Seal",
			map[string]string{
				"a": "Accepted=False/Conflicted: conflicts with demo/b, which is older",
				"b": accepted + " | Programmed=True/Programmed: in force on all 8 paths"}},
		"conflicts by name": {
			[]string{object("Gloss", "a", 0, onRoute+"wall: x"), object("Gloss", "b", 0, onRoute+"wall: y")}, "Gloss",
			map[string]string{
				"a": accepted + " | Programmed=True/Programmed: in force on all 4 paths",
				"b": "Accepted=False/Conflicted: conflicts with demo/a, which comes first (by name: no creation time)"}},
	} {
		r := resolved(t, tc.manifests...)
		for policyName, want := range tc.want {
			if got := usual(t, r, tc.kind, policyName); got != want {
				t.Errorf("%s: %s\n got %s\nwant %s", name, policyName, got, want)
			}
		}
	}
}

// A policy in error is not accepted, and nothing is said about its being in force.
func TestUsualOfAPolicyInError(t *testing.T) {
	r := resolved(t, object("Stain", "p", 0, onRoute+"wall: red"))
	kind(t, r, "Stain").Policies[0].Fault = "the colour is sold out"
	if got, want := usual(t, r, "Stain", "p"), "Accepted=False/Invalid: the colour is sold out"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A policy that sets nothing is reached all the same.
func TestUsualWithoutSettings(t *testing.T) {
	r := resolved(t, object("Stain", "p", 0, onGateway))
	if got, want := usual(t, r, "Stain",
		"p"),
		"Accepted=True/Accepted: the policy has been accepted | Holds=False/Idle: the policy has no settings"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A policy that is rejected on one target, and overridden on another one, is accepted.
func TestUsualOverriddenBesideConflict(t *testing.T) {
	r := resolved(t,
		"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: other, namespace: demo}\nspec: {parentRefs: [{name: gw}], rules: [{name: only}]}",
		object("Gloss", "a", 0, onRoute+"wall: red"),
		object("Gloss", "b", 0,
			"targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: other}], wall: blue"),
		object("Gloss", "c", 0,
			"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: other, sectionName: only}, wall: green"))
	if got := usual(t, r, "Gloss", "b"); !strings.HasPrefix(got, "Accepted=True/Accepted") ||
		!strings.Contains(got, "Programmed=False/Overridden") || !strings.Contains(got, "demo/c") {
		t.Error(got)
	}
}

// Up to five names, then a count (gep713 P37).
func TestSome(t *testing.T) {
	var refs []model.Ref
	for n, want := range []string{"its own condition", "demo/p0", "demo/p0, demo/p1", "demo/p0, demo/p1, demo/p2",
		"demo/p0, demo/p1, demo/p2, demo/p3",
		"demo/p0, demo/p1, demo/p2, demo/p3, demo/p4", "demo/p0, demo/p1, demo/p2, demo/p3, demo/p4, and 1 more",
		"demo/p0, demo/p1, demo/p2, demo/p3, demo/p4, and 2 more"} {
		if got := listPolicies(refs); got != want {
			t.Errorf("%d: %s", n, got)
		}
		refs = append(refs, model.Ref{Kind: "Paint", Namespace: "demo", Name: fmt.Sprintf("p%d", n)})
	}
	if got := listPolicies([]model.Ref{{Kind: "Cluster", Name: "wide"}}); got != "wide" {
		t.Errorf("without a namespace: %s", got)
	}
}

// A registered writer is used for the kinds that name it, and only for them.
func TestPoliciesWithAWriter(t *testing.T) {
	r := resolved(t, object("Paint", "p", 0, onRoute+"wall: red"), object("Stain", "s", 0, onRoute+"wall: red"))
	own := Ancestor{Controller: "example.com/painter", Conditions: []Condition{{"Dry", "True", "Waited", "it is dry"}}}
	kind(t, r, "Paint").Status.Func = "x.Dry"
	kind(t, r, "Stain").Status.Func = "x.Unknown"
	funcs := Functions{Writers: map[string]Writer{"x.Dry": func(in Input) []Ancestor {
		if in.Resolution != r || in.Kind.GroupKind.Kind != "Paint" || in.Outcome.Policy.Ref().Name != "p" {
			t.Errorf("called with %+v", in)
		}
		return []Ancestor{own}
	}}}
	got := PredictPolicies(r, r.Kinds, funcs)
	if len(got) != 2 || got[0].Ancestors[0].Controller != own.Controller ||
		got[0].Ancestors[0].Conditions[0] != own.Conditions[0] {
		t.Fatalf("%+v", got)
	}
	if c := got[1].Ancestors[0].Conditions; len(c) != 2 ||
		c[1] != (Condition{"Holds", "True", "Whole", "in force on all 4 paths"}) {
		t.Errorf("%+v", c)
	}
	if a := got[0].Affected; short(a) != "web shop shop/cart shop/rest" {
		t.Errorf("affected %v", a)
	}
}

// Marks become conditions of the object, or for every parent of a route an entry of their
// controller behind the others.
func TestObjectsWithMarks(t *testing.T) {
	r := resolved(t, object("Paint", "p", 0, onRoute+"wall: red"),
		"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: two, namespace: demo}\n"+
			"spec: {parentRefs: [{name: gw, sectionName: web}, {name: gw, sectionName: api, port: 81}], rules: [{name: only}]}")
	k := kind(t, r, "Paint")
	k.Status.Marks = "x.Mark"
	gw := model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "demo", Name: "gw"}
	two := model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "demo", Name: "two"}
	first, second := Condition{"A", "True", "Yes", "a"}, Condition{"B", "True", "Yes", "b"}
	replacing := Condition{"ResolvedRefs", "False", "Gone", "g"}
	funcs := Functions{Markers: map[string]Marker{"x.Mark": func(*resolve.Resolution, *resolve.Kind) []Mark {
		return []Mark{{Object: gw, Condition: first}, {Object: gw.WithSection("api"), Condition: second},
			{Object: two, Controller: "example.com/painter", Condition: first},
			{Object: two, Controller: "example.com/painter", Condition: second}, {Object: two,
				Controller: "example.com/controller", Condition: replacing, Replaces: true}}
	}}}
	got := map[model.Ref]Prediction{}
	for _, p := range PredictObjects(r, r.Kinds, funcs) {
		got[p.Object] = p
	}
	if c := got[gw].Ancestors[0].Conditions; len(c) != 2 || c[0].Type != "Accepted" || c[1] != first {
		t.Errorf("Gateway: %+v", c)
	}
	if c := got[gw.WithSection("api")].Ancestors[0].Conditions; len(c) != 3 || c[2] != second {
		t.Errorf("listener: %+v", c)
	}
	if c := got[gw.WithSection("web")].Ancestors[0].Conditions; len(c) != 2 {
		t.Errorf("a listener that is not marked: %+v", c)
	}
	a := got[two].Ancestors
	if len(a) != 4 {
		t.Fatalf("route: %+v", a)
	}
	for i, section := range []string{"web", "api"} {
		theirs, ours := a[i], a[i+2]
		if theirs.Ref.Section != section || theirs.Controller != "example.com/controller" ||
			len(theirs.Conditions) != 2 || theirs.Conditions[1] != replacing {
			t.Errorf("entry %d: %+v", i, theirs)
		}
		if ours.Ref.Section != section || ours.Port != theirs.Port || ours.Controller != "example.com/painter" ||
			len(ours.Conditions) != 2 || ours.Conditions[0] != first || ours.Conditions[1] != second {
			t.Errorf("entry %d: %+v", i+2, ours)
		}
	}
	if n := got[gw.WithSection("api")].AttachedRoutes; n == nil || *n != 2 {
		t.Errorf("attachedRoutes of api: %v", n)
	}
	kind(t, r, "Paint").Policies = nil
	for _, p := range PredictObjects(r, r.Kinds, funcs) {
		if p.Object == gw && len(p.Ancestors[0].Conditions) != 1 {
			t.Errorf("a kind without policies marks nothing: %+v", p)
		}
	}
}
