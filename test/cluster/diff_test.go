package cluster

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// difference is what the tests read of an answer to diff.
type difference struct {
	Complete bool
	Summary  struct {
		RouteRules, Unchanged int
		Unprotected           []struct {
			PolicyKind string
			Count      int
		}
	}
	Items []struct {
		PolicyKind, Change string
		Target             struct{ Namespace, Name, Section string }
		Unprotected        bool
		Unread             []string
	}
}

// askDiff runs diff, which has to exit with the code.
func askDiff(t *testing.T, kubeconfig string, code int, args ...string) *difference {
	t.Helper()
	args = slices.Concat([]string{"diff"}, args, []string{"-o", "json"})
	got := Run(t, args, environment(kubeconfig))
	if got.Code != code {
		t.Fatalf("%s: exit %d, want %d\n%s", strings.Join(args, " "), got.Code, code, got.Stderr)
	}
	out := &difference{}
	if code > 1 {
		return out
	}
	if err := json.Unmarshal([]byte(got.Stdout), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDiff compares a cluster with itself as it would be, with a snapshot of it, and with folders.
func TestDiff(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	admin := c.Kubeconfig("admin", "")
	folder, err := filepath.Abs(demo) // the plugin runs elsewhere
	if err != nil {
		t.Fatal(err)
	}

	since := time.Now()
	d := askDiff(t, admin, 1, "--delete", "authpolicy/infra/gw-auth")
	lists := 0
	for _, r := range c.Requests("admin", since) {
		if strings.HasSuffix(r.Path, "/authpolicies") && r.Query.Get("continue") == "" {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("AuthPolicies are listed %d times: a side that is named twice is read once", lists)
	}
	if len(d.Summary.Unprotected) != 1 || d.Summary.Unprotected[0].Count != 2 || d.Summary.RouteRules != 4 ||
		!d.Complete {
		t.Errorf("without the Gateway's policy: %+v", d.Summary)
	}

	if d := askDiff(t, admin, 0, "-f", folder); len(d.Items) > 0 || d.Summary.Unchanged == 0 {
		t.Errorf("the manifests that were applied, over the cluster, change %+v", d.Items)
	}
	snapshot := filepath.Join(t.TempDir(), "cluster.tgz")
	ask(t, admin, "snapshot", "-o", snapshot)
	if d := askDiff(t, admin, 0, "--from", snapshot); len(d.Items) > 0 || d.Summary.Unchanged == 0 {
		t.Errorf("the cluster differs from its snapshot: %+v", d.Items)
	}
	if d := askDiff(t, admin, 0, folder, "live"); len(d.Items) > 0 {
		t.Errorf("the cluster differs from the manifests that were applied: %+v", d.Items)
	}
	askDiff(t, admin, 2, "--delete", "authpolicy/gw-auht")
}
