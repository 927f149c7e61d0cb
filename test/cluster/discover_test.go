package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// discovered are a policy kind that only its definition tells of, and the kind that it targets.
func discovered(kind, plural, label string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.test.example.com, labels: {%[3]s}}
spec:
  group: test.example.com
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s, singular: %[4]s}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
`, kind, plural, label, strings.ToLower(kind))
}

// TestDiscoveredTargets: a kind that a discovered policy targets is listed as well, and nothing of its objects but who they are is kept.
func TestDiscoveredTargets(t *testing.T) {
	c := Shared(t)
	c.MustApply(discovered("PaintPolicy", "paintpolicies", "gateway.networking.k8s.io/policy: Direct"),
		discovered("Widget", "widgets", ""))
	c.MustApply(`
apiVersion: test.example.com/v1
kind: Widget
metadata: {name: w, namespace: discovered}
spec: {password: hunter2}
---
apiVersion: test.example.com/v1
kind: PaintPolicy
metadata: {name: p, namespace: discovered}
spec: {targetRef: {group: test.example.com, kind: Widget, name: w}, color: blue}
`)
	kubeconfig := "KUBECONFIG=" + c.Kubeconfig("admin", "discovered")
	start := time.Now()
	got := Run(t,
		[]string{"status", "-o", "jsonpath={range .items[*]}{.object.name} {.ancestors[0].conditions[0].status}{end}"},
		kubeconfig)
	if got.Stdout != "p True" {
		t.Errorf("status %q, want p True; %s", got.Stdout, got.Stderr)
	}
	lists := 0
	for _, r := range c.Requests("admin", start) {
		if strings.HasSuffix(r.Path, "/widgets") {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("%d lists of the target's kind", lists)
	}
	if dump := Run(t, []string{"snapshot", "-o", "-"}, kubeconfig).Stdout; strings.Contains(dump, "hunter2") ||
		!strings.Contains(dump, "name: w") {
		t.Errorf("the snapshot holds what a target says, or not the target:\n%s", dump)
	}
}
