package cluster

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

// everyCommand is a question of each command about the demo.
var everyCommand = [][]string{
	{"effective", "-A"}, {"effective", "cart", "-n", "shop"}, {"reach", "gw-auth", "-n", "infra"}, {"overridden",
		"-A"}, {"explain", "cart", "-n", "shop"},
	{"status", "-A"}, {"graph", "-A"}, {"kinds"},
}

// TestSnapshotRoundTrip: every command answers byte for byte the same from a snapshot, for who may read everything and for who may not.
func TestSnapshotRoundTrip(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	var all []rbacv1.PolicyRule
	for _, group := range groups {
		all = append(all, reading(group))
	}
	c.User("snapshot-dev")
	c.Allow("snapshot-dev", "shop", all...)
	c.Allow("snapshot-dev", "infra", reading("gateway.networking.k8s.io", "gateways"))
	for _, user := range []string{"admin", "snapshot-dev"} {
		kubeconfig := c.Kubeconfig(user, "shop")
		for _, name := range []string{"cluster.yaml", "cluster.json", "cluster.tgz"} {
			file := filepath.Join(t.TempDir(), name)
			ask(t, kubeconfig, "snapshot", "-o", file)
			for _, question := range everyCommand {
				t.Run(user+" "+name+" "+strings.Join(question, " "), func(t *testing.T) {
					question := append(slices.Clone(question), "-o", "json")
					live := Run(t, question, environment(kubeconfig))
					from := Run(t, append(question, "-f", file))
					if live.Stdout != from.Stdout || live.Code != from.Code {
						t.Errorf("exit %d live, %d from the snapshot; %d and %d bytes\n%s\n%s", live.Code, from.Code,
							len(live.Stdout), len(from.Stdout), live.Stderr, from.Stderr)
					}
					if user == "admin" && live.Code != 0 {
						t.Errorf("exit %d: %s", live.Code, live.Stderr)
					}
				})
			}
			text := readSnapshot(t, file)
			for _, never := range []string{"managedFields", "replace-me", "partner-key"} {
				if strings.Contains(text, never) {
					t.Errorf("%s has %s in it", name, never)
				}
			}
		}
	}
}

// readSnapshot is the text of a snapshot, unpacked.
func readSnapshot(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(file, ".tgz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSnapshotRedacted: no value of a policy is in there, and who sets what and who lost stays.
func TestSnapshotRedacted(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	kubeconfig, folder := c.Kubeconfig("admin", "shop"), t.TempDir()
	for _, name := range []string{"cluster.yaml", "cluster.json", "cluster.tgz"} {
		file := filepath.Join(folder, name)
		ask(t, kubeconfig, "snapshot", "--redact", "-o", file)
		text := readSnapshot(t, file)
		for _, value := range []string{"x-country", "allow {", "limit: 500", `"limit":500`, `"window":"10s"`,
			"window: 10s"} {
			if strings.Contains(text, value) {
				t.Errorf("%s has the value %s in it", name, value)
			}
		}
		for _, question := range []string{"effective", "overridden"} {
			want, got := ownership(askJSON(t, kubeconfig, question, "-A")), ownership(askJSON(t, "", question,
				"-A", "-f", file))
			if !slices.Equal(want, got) {
				t.Errorf("%s of %s:\n%s\nwant\n%s", question, name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// ownership is who set and who lost what where.
func ownership(a *answer) []string {
	var out []string
	for _, item := range a.Items {
		where := nameOf(item["target"]) + " " + item["policyKind"].(string)
		if rule, ok := item["rule"].(string); ok { // of overridden
			out = append(out, where+" "+rule+" "+nameOf(item["source"].(map[string]any)["policy"])+" "+
				item["reason"].(string))
			continue
		}
		for _, r := range item["rules"].([]any) {
			rule := r.(map[string]any)
			for _, role := range []string{"sources", "lost"} {
				for _, s := range rule[role].([]any) {
					out = append(out, where+" "+rule["name"].(string)+" "+role+" "+nameOf(s.(map[string]any)["policy"]))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// nameOf writes a reference.
func nameOf(ref any) string {
	m, _ := ref.(map[string]any)
	var out []string
	for _, key := range []string{"kind", "namespace", "name", "section"} {
		text, _ := m[key].(string)
		out = append(out, text)
	}
	return strings.Join(out, "/")
}

// TestLiveOverlay: files over the cluster give the answer that applying them gives.
func TestLiveOverlay(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	kubeconfig := c.Kubeconfig("admin", "shop")
	time.Sleep(1100 * time.Millisecond) // creation times are whole seconds: what is applied from now on is younger
	for name, text := range map[string]string{
		"new":     `{apiVersion: kuadrant.io/v1, kind: AuthPolicy, metadata: {name: overlaid, namespace: shop}, spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: search}, rules: {authentication: {overlaid: {anonymous: {}}}}}}`,
		"changed": `{apiVersion: kuadrant.io/v1, kind: AuthPolicy, metadata: {name: gw-auth, namespace: infra}, spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: external}, overrides: {strategy: merge, rules: {authorization: {geo: {opa: {rego: "deny"}}}}}}}`,
		"route":   `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: baker, namespace: bakery}, spec: {parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: internal, namespace: infra}], rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [{group: "", kind: Service, weight: 1, name: baker, port: 8080}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "over.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			before := map[string]*answer{}
			over := map[string]*answer{}
			for _, q := range questions {
				before[q[0]] = askJSON(t, kubeconfig, q...)
				over[q[0]] = askJSON(t, kubeconfig, append(slices.Clone(q), "--live", "-f", file)...)
			}
			inner := &Cluster{server: c.server, tb: t}
			inner.MustApply(text)
			t.Cleanup(func() {
				if err := inner.Delete(); err != nil {
					t.Error(err)
				}
			})
			for _, q := range questions {
				applied := askJSON(t, kubeconfig, q...)
				sameAnswer(t, q[0], applied, over[q[0]])
				if q[0] == "effective" && len(differences(t, before[q[0]].Items, applied.Items)) == 0 {
					t.Error("the file changes nothing")
				}
			}
		})
	}
}
