package metrics

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written is a file with manifests.
func written(t *testing.T, text string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: x
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
`

// route is a route with one rule, and a policy that names a Gateway that is not there. The namespace and the kind are written as they are.
func route(namespace, kind string) string {
	return fmt.Sprintf(`---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: %[1]s}
spec: {parentRefs: [{name: gw, namespace: infra}], rules: [{backendRefs: [{name: b, port: 80}]}]}
---
apiVersion: policies.example.com/v1
kind: %[2]s
metadata: {name: p, namespace: %[1]s}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gone}, wall: red}
`, namespace, kind)
}

// TestHostileNames: whatever objects are called, what is written can be read, and names are in no label. What the API server would refuse is
// only among the findings.
func TestHostileNames(t *testing.T) {
	names := []string{`"a\"b"`, `"a\\b"`, `"a\\\"} 1 # "`, `"a\nb"`, `"a\rb"`, `"a\u001b[31mb"`, `"\u202eevil"`, `"{x=\"y\"}"`,
		`"##teamcity[x]"`, `"ünïcödé"`, `"` + strings.Repeat("n", 400) + `"`, `"_other"`, `"a\\nb"`, `"a,b=c"`}
	text := strings.Replace(gateway, "name: gw,", "name: gw, annotations: {canary-key: canary-value},", 1)
	for _, name := range names {
		text += route(name, `"Odd\"Policy\\"`)
	}
	text += strings.Replace(route("fine", "PlainPolicy"), "name: r,", "name: canary-name,", 1)
	file := written(t, text)
	for _, command := range [][]string{{"check", "--config", "none"}, {"matrix"}, {"matrix", "--missing", "authentication"}} {
		args := append(command, "-A", "-f", file)
		got, _ := countMetrics(t, args...)
		out, _ := run(t, append(args, "-o", "openmetrics")...)
		if n := got.sum("dopolicy_route_rules", "namespace", "fine"); n != 1 {
			t.Errorf("%q: %d route rules", command, n)
		}
		if strings.Contains(out, "canary") || strings.Contains(out, `="r"`) || strings.Contains(out, "\x1b") {
			t.Errorf("%q: a name or a value of the input is written:\n%s", command, out)
		}
		if command[0] != "check" {
			continue
		}
		for _, namespace := range []string{`a"b`, `a\b`, `{x="y"}`, "ünïcödé", `a\nb`, "a,b=c", "fine"} {
			if got.sum("dopolicy_findings", "namespace", namespace) == 0 {
				t.Errorf("no finding of namespace %q has a series of its own", namespace)
			}
		}
		for _, id := range []string{"SchemaViolation", "TargetNotFound"} {
			if got.sum("dopolicy_findings", "namespace", "_other", "id", id) == 0 {
				t.Errorf("no %s of namespaces that cannot be shown", id)
			}
		}
	}
}

// TestManyNamespaces: ten thousand namespaces, and a hundred policy kinds, make few series; the totals are right, and the busiest namespace has
// series of its own.
func TestManyNamespaces(t *testing.T) {
	const namespaces = 10_000
	var text strings.Builder
	text.WriteString(gateway)
	plain := strings.Split(route("NAMESPACE", "PlainPolicy"), "---\n")[1]
	for i := range namespaces {
		text.WriteString("---\n" + strings.ReplaceAll(plain, "NAMESPACE", fmt.Sprintf("ns-%05d", i)))
	}
	for i := range 100 {
		text.WriteString(route(fmt.Sprintf("policies-%02d", i), fmt.Sprintf("Made%02dPolicy", i)))
	}
	for i := range 50 {
		text.WriteString(strings.Replace(route("zzz-busy", "Made00Policy"), "name: r,", fmt.Sprintf("name: r%d,", i), 1))
	}
	file := written(t, text.String())
	got, code := countMetrics(t, "check", "-A", "-f", file, "--config", "none", "--fail-on", "none")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	rules := 0
	for metric, samples := range got {
		if len(samples) > 5000 {
			t.Errorf("%s has %d series", metric, len(samples))
		}
		if metric == "dopolicy_route_rules" {
			rules = len(samples)
		}
	}
	if n := got.sum("dopolicy_route_rules"); n != namespaces+150 || rules < 500 {
		t.Errorf("%d route rules in %d series", n, rules)
	}
	if n := got.sum("dopolicy_route_rules", "namespace", "zzz-busy", "protection", "open") +
		got.sum("dopolicy_route_rules", "namespace", "zzz-busy", "protection", "undecided"); n != 50 {
		t.Errorf("%d route rules of the busiest namespace", n)
	}
	status, _ := ask(t, "check", "-A", "-f", file, "--config", "none")
	if n := got.sum("dopolicy_findings", "severity", "warning"); n != status.Summary.Warning {
		t.Errorf("%d warnings, in JSON %d", n, status.Summary.Warning)
	}
}

// TestFleet: each cluster has a label, a family is written once, and a cluster that does not answer is counted as such.
func TestFleet(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"eu": gateway + route("shop", "PlainPolicy"), `us"1`: gateway + route("app", "PlainPolicy"), "gone": "{"} {
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, code := countMetrics(t, "check", "--each", "-f", folder, "--config", "none")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for cluster, want := range map[string]int{"eu": 1, `us"1`: 1, "gone": 0} {
		answered := slices.IndexFunc(got["dopolicy_cluster_answered"], func(s sample) bool {
			return s.labels.Get("cluster") == cluster && int(s.value) == want
		})
		if answered < 0 {
			t.Errorf("%s: answered is not %d: %v", cluster, want, got["dopolicy_cluster_answered"])
		}
		if n := got.sum("dopolicy_route_rules", "cluster", cluster); n != want {
			t.Errorf("%s: %d route rules", cluster, n)
		}
	}
	read, _ := countMetrics(t, "matrix", "-A", "--each", "-f", filepath.Join(root, "test/duckdb/testdata/2026-01-31"))
	if times := read["dopolicy_read_timestamp_seconds"]; len(times) != 3 || times[0].value != 1769839200 {
		t.Errorf("snapshots were read at %v", times)
	}
}
