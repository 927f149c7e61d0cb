package status

import (
	"cmp"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// facts are the parts of a fate that tests compare.
type facts struct {
	contexts, sets, holds     int
	lostTo, holders, affected string
	rejectedBy                string
}

func factsOf(f *PolicyOutcome) facts {
	return facts{f.Contexts, f.Sets, f.Holds, short(f.LostTo), short(f.Holders), short(f.Affected), short(f.RejectedBy)}
}

func TestFates(t *testing.T) {
	whole := "web gw shop/cart shop/rest"
	for name, tc := range map[string]struct {
		manifests []string
		kind      string
		want      map[string]facts
	}{
		"one policy holds everywhere: listeners that lead to one stack are one context": {
			[]string{object("Paint", "p", 0, onGateway+"wall: red, door: blue")}, "Paint",
			map[string]facts{"p": {contexts: 2, sets: 4, holds: 4, affected: whole}}},
		"a listener's policy makes a context of its own": {
			[]string{object("Paint", "p", 0, onGateway+"wall: red"),
				object("Paint", "q", 0, onAPI+"wall: green")}, "Paint",
			map[string]facts{
				"p": {contexts: 4, sets: 4, holds: 2, lostTo: "q", holders: "q", affected: whole},
				"q": {contexts: 2, sets: 2, holds: 2, affected: "web gw/api shop/cart shop/rest"}}},
		"rules count one by one, and once for every context": {
			[]string{object("Paint", "p", 0, onGateway+"defaults: {strategy: merge, wall: red, door: blue}"),
				object("Paint", "q", 0, onCart+"wall: green")}, "Paint",
			map[string]facts{
				"p": {contexts: 2, sets: 4, holds: 3, lostTo: "q", holders: "q", affected: whole},
				"q": {contexts: 1, sets: 1, holds: 1, affected: "web shop/cart"}}},
		"a rule that nobody has now is held by all that contribute, also by those that it never met": {
			[]string{object("Paint", "p", 0, onGateway+"defaults: {strategy: merge, wall: red}"),
				object("Paint", "q", 0, onRoute+"door: blue"),
				object("Paint", "r", 0, onCart+"roof: green")}, "Paint",
			map[string]facts{
				"p": {contexts: 2, sets: 2, holds: 2, affected: whole},
				"q": {contexts: 2, sets: 2, holds: 1, lostTo: "r", holders: "p r", affected: "web shop shop/rest"},
				"r": {contexts: 1, sets: 1, holds: 1, affected: "web shop/cart"}}},
		"the loser knows the first winner and the present holder": {
			[]string{object("Paint", "p", 0, onGateway+"overrides: {strategy: merge, wall: red}"),
				object("Paint", "q", 0, onRoute+"defaults: {strategy: merge, wall: blue}"),
				object("Paint", "r", 0, onCart+"wall: green")}, "Paint",
			map[string]facts{
				"p": {contexts: 2, sets: 2, holds: 2, affected: whole},
				"q": {contexts: 2, sets: 2, holds: 0, lostTo: "p r", holders: "p"},
				"r": {contexts: 1, sets: 1, holds: 0, lostTo: "p", holders: "p"}}},
		"a condition that does not hold is lost to nobody": {
			[]string{object("Paint", "p", 0, onGateway+"overrides: {when: 'false', wall: red}"),
				object("Paint", "q", 0, onRoute+"door: blue")}, "Paint",
			map[string]facts{
				"p": {contexts: 2, sets: 2, holds: 0, holders: "q"},
				"q": {contexts: 2, sets: 2, holds: 2, affected: "web shop shop/cart shop/rest"}}},
		"a deactivated rule is lost to the policy that deactivates it": {
			[]string{object("Paint", "p", 0, onGateway+"wall: red"),
				object("Paint", "q", 0, onRoute+"unset: [wall], door: blue")}, "Paint",
			map[string]facts{
				"p": {contexts: 2, sets: 2, holds: 0, lostTo: "q", holders: "q"},
				"q": {contexts: 2, sets: 2, holds: 2, affected: "web shop shop/cart shop/rest"}}},
		"a policy without settings is met, and sets nothing": {
			[]string{object("Paint", "p", 0, onGateway)}, "Paint",
			map[string]facts{"p": {contexts: 2}}},
		"a policy on a namespace affects the namespace, and what is in force in it": {
			[]string{"apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}",
				object("Paint", "p", 0, `targetRef: {group: "", kind: Namespace, name: demo}, wall: red`)}, "Paint",
			map[string]facts{"p": {contexts: 2, sets: 2, holds: 2, affected: "demo web shop/cart shop/rest"}}},
		"what is on no path has no context": {
			[]string{
				"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: stray, namespace: demo}\nspec: {rules: [{name: only}]}",
				object("Paint", "p", 0,
					"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: stray}, wall: red")}, "Paint",
			map[string]facts{"p": {}}},
		"others on the target are left out in silence": {
			[]string{object("Stain", "a", 2, onRoute+"wall: red"),
				object("Stain", "b", 1, onRoute+"wall: blue")}, "Stain",
			map[string]facts{
				"a": {},
				"b": {contexts: 2, sets: 2, holds: 2, affected: "web shop shop/cart shop/rest"}}},
		"others on the target are rejected": {
			[]string{object("Gloss", "a", 2, onRoute+"wall: red"), object("Gloss", "b", 1, onRoute+"wall: blue"),
				object("Gloss", "c", 3, onCart+"wall: green")}, "Gloss",
			map[string]facts{
				"a": {rejectedBy: "b"},
				"b": {contexts: 2, sets: 2, holds: 1, lostTo: "c", holders: "c", affected: "web shop shop/rest"},
				"c": {contexts: 1, sets: 1, holds: 1, affected: "web shop/cart"}}},
		"direct policies on a Service with a port, by age": {
			[]string{object("Seal", "a", 2, onService+"mode: x"), object("Seal", "b", 1, onService+"mode: y")}, "Seal",
			map[string]facts{
				"a": {contexts: 2, sets: 2, lostTo: "b", holders: "b", rejectedBy: "b"},
				"b": {contexts: 2, sets: 2, holds: 2, affected: "web web/http"}}},
	} {
		r := resolved(t, tc.manifests...)
		for policyName, want := range tc.want {
			if got := factsOf(fate(t, r, tc.kind, policyName)); got != want {
				t.Errorf("%s: %s\n got %+v\nwant %+v", name, policyName, got, want)
			}
		}
	}
}

// Fates come in the order of the kind's policies, with their targets and the references that led
// nowhere.
func TestFatesAndReferences(t *testing.T) {
	r := resolved(t,
		object("Paint", "z", 0, onRoute+"wall: red"),
		object("Paint", "b", 0,
			"targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}], wall: red"),
		object("Paint", "a", 0, "wall: red"))
	fates := Outcomes(r, kind(t, r, "Paint"))
	var names []string
	for _, f := range fates {
		names = append(names, f.Policy.Ref().Name)
	}
	if len(fates) != 3 || names[0] != "a" || names[1] != "b" || names[2] != "z" {
		t.Fatalf("order %v", names)
	}
	if a := fates[0]; len(a.Targets)+len(a.Missed) != 0 {
		t.Errorf("a policy without references: %+v", a)
	}
	if b := fates[1]; len(b.Targets) != 1 || len(b.Missed) != 1 || b.Missed[0].Ref.Name != "gone" {
		t.Errorf("one reference of two: %+v", b)
	}
	if ref := r.Node(fates[2].Targets[0]).Ref; ref.Name != "shop" || ref.Section != "" {
		t.Errorf("target %v", ref)
	}
}

// Each rule that is lost somewhere is named once, with who took it away, who has it now, and who
// stands where nobody has it.
func TestLostRules(t *testing.T) {
	r := resolved(t, object("Paint", "p", 0, onGateway+"overrides: {strategy: merge, wall: red}"),
		object("Paint", "q", 0, onRoute+"defaults: {strategy: merge, wall: blue, door: blue}"),
		object("Paint", "r", 0, onCart+"wall: green, unset: [door]"))
	for name, want := range map[string]string{"p": "",
		"q": "door to r now - beside p q r; wall to p r now p beside -; ", "r": "wall to p now p beside -; "} {
		got := ""
		for _, l := range fate(t, r, "Paint", name).Lost {
			got += l.Rule + " to " + cmp.Or(short(l.To), "-") + " now " + cmp.Or(short(l.Holders), "-") + " beside " +
				cmp.Or(short(slices.Concat(l.Beside...)), "-") + "; "
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// A kind without policies has no fates, and none of its contexts is looked at.
func TestFatesOfNobody(t *testing.T) {
	r := resolved(t)
	for _, name := range []string{"Paint", "Seal"} {
		if got := Outcomes(r, kind(t, r, name)); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := PredictPolicies(r, r.Kinds, Functions{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A refused policy takes no part: it has an item without conditions, and others do not lose to it.
func TestRefusedPolicies(t *testing.T) {
	r := resolved(t, object("Paint", "p", 0, onRoute+"wall: red"))
	k := kind(t, r, "Paint")
	k.Policies[0].Refused = true
	got := PredictPolicies(r, []*resolve.Kind{k}, Functions{})
	if len(got) != 1 || got[0].Object != (model.Ref{Group: "x.io", Kind: "Paint", Namespace: "demo", Name: "p"}) ||
		got[0].Ancestors != nil {
		t.Errorf("%+v", got)
	}
}
