package resolve

import (
	"slices"
	"testing"
)

// A policy that loses one target is out everywhere; what it names before that is not free, what it
// names behind is.
func TestRejectsPolicy(t *testing.T) {
	r := describedBy(t,
		"targets: [Gateway, HTTPRoute]\nsameTarget: conflict\nrejects: policy\nfold: bottomUp\nrules: fields\n",
		gateway("east", "a"), route("x", "east", "svc"), route("w", "east", "svc"), route("y", "east",
			"svc"), service("svc"),
		paint("app/a@1", "HTTPRoute/x", "wall: red"), paint("app/b@2", "HTTPRoute/w HTTPRoute/x HTTPRoute/y",
			"wall: blue"),
		paint("app/c@3", "HTTPRoute/y", "wall: green"), paint("app/d@4", "HTTPRoute/w", "wall: white"))
	for target, want := range map[string]string{
		"app:HTTPRoute/x/r1": "wall=red(a) -wall(b) Conflicted>a",
		"app:HTTPRoute/y/r1": "wall=green(c) -wall(b) Conflicted>c",
		"app:HTTPRoute/w/r1": "-wall(b) Conflicted> -wall(d) Conflicted>",
	} {
		if got := r.results(t, target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	k := r.Kinds[slices.IndexFunc(r.Kinds, func(k *Kind) bool { return k.GroupKind.Kind == "Paint" })]
	var lost []string
	for _, v := range k.Rejected {
		lost = append(lost, v.Attached.Policy.Ref().Name+"<"+v.By.Ref().Name)
	}
	slices.Sort(lost)
	if lost = slices.Compact(lost); !slices.Equal(lost, []string{"b<a", "d<b"}) {
		t.Error(lost)
	}
}
