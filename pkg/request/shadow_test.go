package request

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What a delegating rule gets and the routes behind it do not match is left for the next rule: it
// shadows none, but is shadowed like any other.
func TestDelegationShadowsNothing(t *testing.T) {
	const to, own = "{name: a, backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]}",
		"{name: b, backendRefs: [{name: s, port: 80}]}"
	for _, c := range []struct {
		name, routes string
		want         []string
	}{
		{"delegating first", routeOf("HTTPRoute", "r", "rules: ["+to+", "+own+"]"), nil},
		{"delegating last", routeOf("HTTPRoute", "r", "rules: ["+own+", "+to+"]"), []string{"a"}},
		{"two delegating", routeOf("HTTPRoute", "r",
			"rules: ["+to+
				", {name: c, backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: other}]}]"), nil},
		{"behind both", routeOf("HTTPRoute", "r", "rules: ["+to+", "+own+
			", {name: c, backendRefs: [{name: s, port: 80}]}]"), []string{"c"}},
		{"of another route", routeOf("HTTPRoute", "q", "rules: ["+to+"]") + routeOf("HTTPRoute", "r",
			"rules: ["+own+"]"), nil},
		{"none delegates", routeOf("HTTPRoute", "r", "rules: ["+own+
			", {name: c, backendRefs: [{name: s, port: 80}]}]"), []string{"c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, plainGateway+c.routes, nil)
			var got []string
			for _, p := range Lint(w.graph, model.NewSettings(nil), Profiles{}) {
				if p.Code == model.RuleShadowed {
					got = append(got, p.Ref.Section)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("shadowed are %v, want %v", got, c.want)
			}
		})
	}
}
