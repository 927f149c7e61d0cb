package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// shopOf has a route with a policy of its own in namespace shop, below one on its Gateway in namespace infra.
func shopOf(limit string) string {
	return `
apiVersion: v1
kind: Namespace
metadata: {name: infra}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec: {parentRefs: [{name: gw, namespace: infra}], rules: [{name: checkout}]}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}
  limits: {all: {rates: [{limit: ` + limit + `, window: 1m}]}}
`
}

// contexts makes one kubeconfig of several, with a context for each.
func contexts(t *testing.T, files map[string]string) string {
	t.Helper()
	all := clientcmdapi.NewConfig()
	for name, file := range files {
		one, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Clusters[name], all.AuthInfos[name] = one.Clusters[contextName], one.AuthInfos[contextName]
		all.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "shop"}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*all, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFleet asks three clusters: one as the administrator, one as a user who may read one namespace, one that is down.
func TestFleet(t *testing.T) {
	whole, part, down := Shared(t), Start(t), Start(t)
	part.InstallGatewayAPI()
	part.InstallPolicyKinds()
	whole.MustApply(shopOf("5"))
	part.MustApply(shopOf("7"))
	part.User("dev")
	part.Allow("dev", "shop", reading("gateway.networking.k8s.io"), reading("kuadrant.io"), reading(""))
	kubeconfig := contexts(t, map[string]string{"prod-eu": whole.Kubeconfig("admin", ""),
		"prod-us": part.Kubeconfig("dev", ""), "prod-asia": down.Kubeconfig("admin",
			""), "staging": part.Kubeconfig("admin", "")})
	down.Stop()

	got := Run(t, []string{"effective", "cart", "--contexts", "prod-*", "-o", "json", "--request-timeout", "20s"},
		environment(kubeconfig))
	if got.Code != 0 || !strings.Contains(got.Stderr, "error: cluster prod-asia: ") {
		t.Errorf("exit %d\n%s", got.Code, got.Stderr)
	}
	var answer struct {
		Complete bool
		Clusters []struct {
			Cluster, ReadAt string
			Complete        bool
		}
		Items    []struct{ Cluster, ID string }
		Problems []struct{ Cluster, Code, Severity string }
	}
	if err := json.Unmarshal([]byte(got.Stdout), &answer); err != nil {
		t.Fatalf("%v\n%s", err, got.Stdout)
	}
	complete := map[string]bool{}
	for _, c := range answer.Clusters {
		complete[c.Cluster] = c.Complete
		if (c.ReadAt == "") != (c.Cluster == "prod-asia") {
			t.Errorf("%s was read at %q", c.Cluster, c.ReadAt)
		}
	}
	if answer.Complete || len(complete) != 3 || !complete["prod-eu"] || complete["prod-us"] || complete["prod-asia"] {
		t.Errorf("complete: %v, %v", answer.Complete, complete)
	}
	items := map[string]int{}
	for _, item := range answer.Items {
		items[item.Cluster]++
	}
	if len(items) != 2 || items["prod-eu"] != 1 || items["prod-us"] != 1 {
		t.Errorf("items %v", items)
	}
	codes := map[string]bool{}
	for _, p := range answer.Problems {
		codes[p.Cluster+" "+p.Code] = true
	}
	if !codes["prod-asia ClusterFailed"] || !codes["prod-us Forbidden"] || codes["prod-eu Forbidden"] {
		t.Errorf("problems %v", codes)
	}

	for _, c := range []struct {
		args string
		code int
	}{
		{"effective cart --contexts prod-* --strict", 3},
		{"effective cart --contexts prod-asia", 3},
		{"effective cart --contexts prod-eu,staging --strict", 0},
		{"matrix --missing RateLimitPolicy --contexts prod-eu,staging", 0},
		{"matrix --missing AuthPolicy --contexts prod-eu,staging", 1},
		{"effective cart --contexts nosuch", 2},
		{"effective nosuch --contexts prod-eu,staging", 2},
		{"diff --context staging --to-context prod-eu -n shop", 1},
		{"diff --context staging --to-context staging", 2},
		{"diff --context staging --to-context nosuch", 3},
	} {
		got := Run(t, append(strings.Fields(c.args), "--request-timeout", "20s"), environment(kubeconfig))
		if got.Code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s\n%s", c.args, got.Code, c.code, got.Stdout, got.Stderr)
		}
		if strings.HasPrefix(c.args, "diff --context staging --to-context prod-eu") &&
			(!strings.Contains(got.Stdout, "7 (shop/cart)") || !strings.Contains(got.Stdout, "5 (shop/cart)")) {
			t.Errorf("%s:\n%s", c.args, got.Stdout)
		}
	}
	// A snapshot of each says when it was read, and answers as the cluster does.
	folder := t.TempDir()
	for _, name := range []string{"prod-eu", "staging"} {
		if got := Run(t, []string{"snapshot", "--context", name, "-o", filepath.Join(folder, name+".tgz")},
			environment(kubeconfig)); got.Code != 0 {
			t.Fatal(got.Stderr)
		}
	}
	live := Run(t, []string{"effective", "cart", "--contexts", "prod-eu,staging"}, environment(kubeconfig))
	saved := Run(t, []string{"effective", "cart", "-n", "shop", "-f", filepath.Join(folder, "*.tgz")},
		"KUBECONFIG="+os.DevNull)
	if live.Stdout != saved.Stdout || !strings.Contains(live.Stdout, "staging") {
		t.Errorf("live:\n%s\nsaved:\n%s%s", live.Stdout, saved.Stdout, saved.Stderr)
	}
}
