package cluster

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestKubectlPlugin: kubectl finds the plugin without complaint, and runs it with its connection flags.
func TestKubectlPlugin(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	kubectl, env := Kubectl(t), []string{"PATH=" + filepath.Dir(Plugin(t)), environment(c.Kubeconfig("admin", "shop"))}
	list := RunProgram(t, kubectl, []string{"plugin", "list"}, env...)
	if list.Code != 0 || !strings.Contains(list.Stdout, Plugin(t)) ||
		strings.Contains(list.Stdout+list.Stderr, "warning") {
		t.Errorf("plugin list: %+v", list)
	}
	for _, args := range [][]string{
		{"version"}, {"effective", "-A"}, {"effective", "cart"}, {"effective", "cart/checkout"}, {"status",
			"-A"}, {"reach", "gw-auth", "-n", "infra"},
		{"effective", "cart", "--context", contextName}, {"effective", "baker", "-n", "bakery"},
	} {
		by, direct := RunProgram(t, kubectl, append([]string{"dopolicy"}, args...), env...), Run(t, args, env...)
		if by.Code != 0 || by.Stdout == "" || by.Stdout != direct.Stdout {
			t.Errorf("%v: %+v", args, by)
		}
	}
	wrong := RunProgram(t, kubectl, []string{"dopolicy", "effective", "no-such-route"}, env...)
	if wrong.Code != 2 || wrong.Stdout != "" {
		t.Errorf("a route that is not there: %+v", wrong)
	}
}
