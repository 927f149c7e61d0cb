package cluster

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// auditable are objects as they are applied, before any controller has seen them.
const auditable = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: audited}
spec: {controllerName: example.com/audited}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: audited}
spec: {gatewayClassName: audited, listeners: [{name: web, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: audited}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: audited}
spec: {parentRefs: [{name: gw}], rules: [{name: cart, backendRefs: [{name: shop, port: 80}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: audited}
spec: {targetRefs: [{group: "", kind: Service, name: shop}], validation: {wellKnownCACertificates: System, hostname: shop.example.com}}`

// reported are the same objects with the statuses that a controller writes.
func reported() string {
	const fine = `conditions:
    - {type: Accepted, status: "True", reason: Accepted, message: fine, observedGeneration: 1, lastTransitionTime: "2025-01-01T00:00:00Z"}
    - {type: ResolvedRefs, status: "True", reason: ResolvedRefs, message: fine, observedGeneration: 1, lastTransitionTime: "2025-01-01T00:00:00Z"}`
	statuses := []string{"", `
status:
  conditions:
  - {type: Accepted, status: "True", reason: Accepted, message: fine, observedGeneration: 1, lastTransitionTime: "2025-01-01T00:00:00Z"}
  - {type: Programmed, status: "False", reason: AddressNotAssigned, message: none, observedGeneration: 1, lastTransitionTime: "2025-01-01T00:00:00Z"}
  listeners:
  - name: web
    attachedRoutes: 1
    supportedKinds: [{kind: HTTPRoute}, {kind: GRPCRoute}]
    ` + fine, "", `
status:
  parents:
  - parentRef: {name: gw}
    controllerName: example.com/audited
    ` + fine, `
status:
  ancestors:
  - ancestorRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw}
    controllerName: example.com/audited
    ` + fine}
	objects := strings.Split(auditable, "\n---\n")
	for i := range objects {
		objects[i] += statuses[i]
	}
	return strings.Join(objects, "\n---\n")
}

// verdicts are the objects of an audit that differ, each with the kinds of its differences.
func verdicts(t *testing.T, result Result) []string {
	t.Helper()
	if result.Code > 1 {
		t.Fatalf("exit %d: %s", result.Code, result.Stderr)
	}
	var out []string
	for _, item := range readAnswer(t, result.Stdout).Items {
		found, _ := item["differences"].([]any)
		for _, d := range found {
			out = append(out, nameOf(item["object"])+" "+d.(map[string]any)["kind"].(string))
		}
	}
	if (len(out) > 0) != (result.Code == 1) {
		t.Errorf("exit %d with %q", result.Code, out)
	}
	return out
}

// TestAudit holds what is predicted against the statuses that a server stores, live and from snapshots, redacted ones too.
func TestAudit(t *testing.T) {
	c := Shared(t)
	kubeconfig := c.Kubeconfig("admin", "audited")
	question := []string{"status", "-n", "audited", "--all", "--audit", "-o", "json"}
	for _, step := range []struct {
		name, apply string
		want        []string
	}{
		{"no controller", auditable, []string{"BackendTLSPolicy/audited/tls/ Missing", "Gateway/audited/gw/ Missing",
			"HTTPRoute/audited/shop/ Missing"}},
		{"as predicted", reported(), nil},
		{"one condition turned over", strings.Replace(reported(),
			`{type: ResolvedRefs, status: "True", reason: ResolvedRefs`,
			`{type: ResolvedRefs, status: "False", reason: InvalidCertificateRef`, 1),
			[]string{"Gateway/audited/gw/web Different"}},
		{"a change that nobody has seen", strings.Replace(reported(), "rules: [{name: cart,", "rules: [{name: till,",
			1), []string{"HTTPRoute/audited/shop/ Stale"}},
	} {
		c.MustApply(step.apply)
		live := Run(t, question, environment(kubeconfig))
		if got := verdicts(t, live); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q\n%s", step.name, got, step.want, live.Stdout)
		}
		for _, redact := range []bool{false, true} {
			file := filepath.Join(t.TempDir(), "cluster.yaml")
			ask(t, kubeconfig, append([]string{"snapshot", "-o", file},
				map[bool][]string{true: {"--redact"}}[redact]...)...)
			from := Run(t, append(slices.Clone(question), "-f", file))
			if !redact && (from.Stdout != live.Stdout || from.Code != live.Code) {
				t.Errorf("%s: a snapshot answers otherwise, exit %d and %d:\n%s\n%s", step.name, from.Code, live.Code,
					from.Stdout, live.Stdout)
			}
			if got := verdicts(t, from); !slices.Equal(got, step.want) {
				t.Errorf("%s: redacted %t: %q, want %q\n%s", step.name, redact, got, step.want, from.Stderr)
			}
		}
	}
}

// TestAuditSilent: where no controller runs, each has one line.
func TestAuditSilent(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	got := Run(t, []string{"audit", "-A"}, environment(c.Kubeconfig(admin, "")))
	if got.Code != 1 || strings.Count(got.Stdout, "Missing") != 2 ||
		!strings.Contains(got.Stdout, "controller example.com/gateway-controller reports nothing") {
		t.Errorf("%+v", got)
	}
	wide := Run(t, []string{"audit", "-A", "-o", "wide"}, environment(c.Kubeconfig(admin, "")))
	if strings.Count(wide.Stdout, "Missing") < 24 || strings.Contains(wide.Stdout, "reports nothing:") {
		t.Errorf("-o wide: %+v", wide)
	}
	nothing := Run(t, []string{"audit", "-n", "default"}, environment(c.Kubeconfig(admin, "")))
	if nothing.Code != 3 || !strings.Contains(nothing.Stderr, "nothing was compared") {
		t.Errorf("a namespace without objects: %+v", nothing)
	}
}
