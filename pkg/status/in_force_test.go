package status

import (
	"fmt"
	"testing"
)

// TestForce: at how many targets a policy is in force, wholly or in part, and what that comes to.
func TestForce(t *testing.T) {
	const away = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: away, namespace: demo}\nspec: {parentRefs: [{name: elsewhere}], rules: [{name: only}]}"
	const onAway = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: away}, "
	for name, tc := range map[string]struct {
		manifests []string
		want      map[string]string // state, targets, wholly, partly, role; by policy
	}{
		"alone": {[]string{object("Paint", "p", 0, onGateway+"wall: red, door: blue")},
			map[string]string{"p": "Everywhere 2 2 0 rule"}},
		"one rule of two": {[]string{object("Paint", "p", 0, onGateway+"wall: red"),
			object("Paint", "q", 0, onCart+"wall: green")},
			map[string]string{"p": "Partly 2 1 0 rule", "q": "Everywhere 1 1 0 rule"}},
		"one setting of two, at one of two": {[]string{object("Paint", "p", 0,
			onGateway+"defaults: {strategy: merge, wall: red, door: blue}"), object("Paint", "q", 0, onCart+
			"wall: green")},
			map[string]string{"p": "Partly 2 1 1 rule"}},
		"on one way of two": {[]string{object("Paint", "p", 0, onGateway+"wall: red"),
			object("Paint", "q", 0, onAPI+"wall: green")},
			map[string]string{"p": "Partly 2 0 2 rule", "q": "Everywhere 2 2 0 rule"}},
		"beaten": {[]string{object("Paint", "p", 0, onGateway+"overrides: {wall: red}"),
			object("Paint", "q", 0, onRoute+"wall: green")},
			map[string]string{"p": "Everywhere 2 2 0 rule", "q": "Nowhere 2 0 0 rule"}},
		"without settings": {[]string{object("Paint", "p", 0, onGateway)},
			map[string]string{"p": "Nowhere 0 0 0 "}},
		"no such target": {[]string{object("Paint", "p", 0,
			"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}, wall: red")},
			map[string]string{"p": "Nowhere 0 0 0 "}},
		"the Gateway is in another repository": {[]string{away, object("Paint", "p", 0, onAway+"wall: red")},
			map[string]string{"p": "Unknown 0 0 0 "}},
	} {
		t.Run(name, func(t *testing.T) {
			r := resolved(t, tc.manifests...)
			for policy, want := range tc.want {
				f := computeInForce(Input{r, kind(t, r, "Paint"), fate(t, r, "Paint", policy)})
				if got := fmt.Sprintf("%s %d %d %d %s", f.State, f.Targets, f.Wholly, f.Partly, f.Role); got != want {
					t.Errorf("%s: got %s, want %s", policy, got, want)
				}
			}
		})
	}
}
