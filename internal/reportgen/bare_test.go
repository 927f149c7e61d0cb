package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// mixed has a route with a policy on one of two rules, one without, one that is attached to
// nothing, and one that hands over to another.
const mixed = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: kgateway}
spec: {controllerName: kgateway.dev/kgateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: a}
spec: {gatewayClassName: kgateway, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: half, namespace: a}
spec: {parentRefs: [{name: gw}], hostnames: [half.example.com], rules: [{name: with, matches: [{path: {value: /a}}], backendRefs: [{name: app, port: 80}]}, {name: without}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: none, namespace: a}
spec: {parentRefs: [{name: gw}], hostnames: [none.example.com], rules: [{name: r}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: unattached, namespace: a}
spec: {rules: [{name: r}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: root, namespace: a}
spec:
  parentRefs: [{name: gw}]
  hostnames: [root.example.com]
  rules:
  - name: hands-over
    matches: [{path: {value: /a}}]
    backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf, namespace: b}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: leaf, namespace: b}
spec: {rules: [{name: taken, matches: [{path: {value: /a/b}}]}]}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: p, namespace: a}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: half, sectionName: with}]
  cors: {by: p}
`

func TestBare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mixed.yaml")
	if err := os.WriteFile(file, []byte(mixed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"a/half without", "a/none r", "b/leaf taken"}},
		{[]string{"-n", "b"}, []string{"b/leaf taken"}},
		{[]string{"--policy-kind", "httplistenerpolicy"}, []string{"a/half with", "a/half without", "a/none r",
			"b/leaf taken"}},
	} {
		var report struct {
			Bare []struct{ Namespace, Name, Section string }
		}
		if err := json.Unmarshal(answer(t, file, append([]string{"report", "-o", "json"}, c.args...)...),
			&report); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ref := range report.Bare {
			got = append(got, fmt.Sprintf("%s/%s %s", ref.Namespace, ref.Name, ref.Section))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
}
