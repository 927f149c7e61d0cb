package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompletion completes live names: by the program itself, and through the real kubectl, which runs the script that is shipped.
func TestCompletion(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles("../../testdata/demo")
	kubeconfig := "KUBECONFIG=" + c.Kubeconfig("admin", "shop")
	for _, x := range []struct{ words, want string }{
		{"effective c", "cart"},
		{"effective httproute/", "httproute/cart httproute/assistant httproute/search"},
		{"effective cart/", "cart/checkout cart/refund cart/rule-3"},
		{"reach authpolicy/", "authpolicy/cart-auth"},
		{"reach cart-auth/", "cart-auth/rules.authorization.geo"},
		{"effective -n bak", "bakery"},
		{"effective --policy-kind rate", "ratelimitpolicy"},
	} {
		got := completions(t, Run(t, append([]string{"__complete"}, strings.Fields(x.words)...), kubeconfig))
		for _, want := range strings.Fields(x.want) {
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("%s: %v does not offer %s", x.words, got, want)
			}
		}
	}
}

// TestCompletionOfKubectl completes `kubectl dopolicy effective ca`.
func TestCompletionOfKubectl(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles("../../testdata/demo")
	folder := t.TempDir()
	script, err := filepath.Abs("../../completion/kubectl_complete-dopolicy")
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"kubectl-dopolicy": Plugin(t), "kubectl_complete-dopolicy": script,
		"kubectl": Kubectl(t)} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"KUBECONFIG=" + c.Kubeconfig("admin", "shop"), "PATH=" + folder + ":" + os.Getenv("PATH")}
	got := completions(t, RunProgram(t, filepath.Join(folder, "kubectl"), []string{"__complete", "dopolicy",
		"effective", "ca"}, env...))
	if !slices.Contains(got, "cart") {
		t.Errorf("kubectl offers %v, not cart", got)
	}
}

// completions are the words that a completion offers.
func completions(t *testing.T, r Result) []string {
	t.Helper()
	if r.Code != 0 {
		t.Fatalf("exit %d: %s", r.Code, r.Stderr)
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(r.Stdout), "\n") {
		if !strings.HasPrefix(line, ":") {
			word, _, _ := strings.Cut(line, "\t")
			out = append(out, word)
		}
	}
	return out
}
