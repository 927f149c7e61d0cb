package cluster

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// aboutPods are policies, and an Ingress, for whose sake pods, and what makes or concerns them, are read.
const aboutPods = `
apiVersion: policy.networking.k8s.io/v1alpha2
kind: ClusterNetworkPolicy
metadata: {name: floor}
spec: {tier: Baseline, priority: 1, subject: {namespaces: {}}}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: all, namespace: infra}
spec: {rules: [{}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: old, namespace: infra}
spec: {defaultBackend: {service: {name: old, port: {number: 80}}}}
`

// TestRole gives a user the role that is shipped: every answer is complete and the same as an administrator's, and every permission in it for
// a kind that this server has is used.
func TestRole(t *testing.T) {
	text, err := os.ReadFile("../../docs/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = bytes.Cut(text, []byte("\n---\n")) // the role for asking proxies is apart
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatal(err)
	}
	c := Shared(t)
	c.ApplyFiles("../../testdata/demo/infra-gateways.yaml", "../../testdata/demo/infra-auth.yaml",
		"../../testdata/demo/shop-routes.yaml", "../../testdata/demo/infra-limits.yaml")
	c.MustApply(aboutPods)
	c.User("reader")
	c.Allow("reader", "", role.Rules...)
	start := time.Now()
	for _, args := range []string{"effective -A -o json", "status -A -o json", "overridden -A -o json",
		"graph -A -o json"} {
		want := Run(t, strings.Fields(args), "KUBECONFIG="+c.Kubeconfig("admin", ""))
		got := Run(t, strings.Fields(args), "KUBECONFIG="+c.Kubeconfig("reader", ""))
		if got.Code != 0 || got.Stdout != want.Stdout || strings.Contains(got.Stdout, `"Forbidden"`) {
			t.Errorf("%s: exit %d, %s\n%s", args, got.Code, got.Stderr, got.Stdout)
		}
	}
	listed := map[string]bool{}
	for _, r := range c.Requests("reader", start) {
		if r.Verb == "list" {
			listed[path.Base(r.Path)] = true
		} else if !strings.HasPrefix(r.Path, "/api") {
			t.Errorf("a request that no answer needs: %s %s", r.Verb, r.Path)
		}
	}
	served := Run(t, []string{"snapshot", "-o", "-"}, "KUBECONFIG="+c.Kubeconfig("admin", "")).Stdout
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			if strings.Contains(served, "\n  plural: "+resource+"\n") && !listed[resource] {
				t.Errorf("%s may be listed and is not", resource)
			}
		}
	}
}
