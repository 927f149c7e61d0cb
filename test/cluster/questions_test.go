package cluster

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// written is what a program has written so far.
type written struct {
	lock sync.Mutex
	text strings.Builder
}

func (o *written) Write(p []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.text.Write(p)
}

// after is what was written behind the first n bytes.
func (o *written) after(n int) string {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.text.String()[n:]
}

// String is all that was written.
func (o *written) String() string { return o.after(0) }

// watching starts the plugin, and returns what waits until it has written a text anew.
func watching(t *testing.T, kubeconfig string, args ...string) (await func(text string)) {
	t.Helper()
	out := &written{}
	cmd := exec.Command(Plugin(t), args...)
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	seen := 0
	return func(text string) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			got := out.after(seen)
			if strings.Contains(got, text) {
				seen += len(got)
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("%s: no %q within 20 seconds, but\n%s", strings.Join(args, " "), text, got)
			}
		}
	}
}

// TestWatchOfQuestions adds a rule to a route under status, reach and matrix: each prints its answer again.
func TestWatchOfQuestions(t *testing.T) {
	c := Shared(t)
	one := strings.ReplaceAll(watchedRoute, "watched", "questions")
	c.MustApply(one, strings.ReplaceAll(watchedPolicy("one"), "watched", "questions"))
	kubeconfig := c.Kubeconfig("admin", "questions")
	status := watching(t, kubeconfig, "status", "-w", "limits")
	reach := watching(t, kubeconfig, "reach", "-w", "limits")
	matrix := watching(t, kubeconfig, "matrix", "-w")
	status("yes (1 rule)")
	reach("in force on 1 of 1 route rule")
	matrix("checkout")
	time.Sleep(2 * time.Second) // so that the watches are there
	c.MustApply(strings.Replace(one, "rules: [{name: checkout}]",
		"rules: [{name: checkout}, {name: payment, matches: [{path: {value: /pay}}]}]", 1))
	status("yes (2 rules)")
	reach("in force on 2 of 2 route rules")
	matrix("payment")
}

// TestNothingSelected asks about a namespace that is not in the cluster, and about one without anything.
func TestNothingSelected(t *testing.T) {
	c := Shared(t)
	c.MustApply("apiVersion: v1\nkind: Namespace\nmetadata: {name: vacant}\n", strings.ReplaceAll(watchedRoute,
		"watched", "selected"),
		strings.ReplaceAll(watchedPolicy("one"), "watched", "selected"))
	kubeconfig := c.Kubeconfig("admin", "default")
	for _, args := range [][]string{{"effective", "-n", "selectde"}, {"effective", "cart", "-n", "selectde"},
		{"status", "-n", "selectde"}, {"matrix", "-n", "selectde"}, {"matrix", "-w", "-n", "selectde"},
		{"overridden", "-n", "selectde"}, {"reach", "limits", "-n", "selectde"}, {"check", "-n", "selectde"}} {
		near := "did you mean selected?"
		if args[0] == "reach" {
			near = "there is ratelimitpolicy/selected/limits"
		}
		got := Run(t, args, environment(kubeconfig))
		if got.Code != 3 || got.Stdout != "" || !strings.Contains(got.Stderr, `no namespace "selectde" in cluster`) ||
			!strings.Contains(got.Stderr, near) {
			t.Errorf("%s: exit %d, %q\n%s", strings.Join(args, " "), got.Code, got.Stdout, got.Stderr)
		}
	}
	for said, args := range map[string][]string{
		"no routes in namespace vacant":                  {"effective", "-n", "vacant"},
		"no policies in namespace vacant":                {"status", "-n", "vacant"},
		"no route rule that is asked about gets traffic": {"matrix", "-n", "vacant"},
	} {
		got := Run(t, args, environment(kubeconfig))
		if got.Code != 0 || !strings.Contains(got.Stdout+got.Stderr, said) {
			t.Errorf("%s: exit %d, %q\n%s", strings.Join(args, " "), got.Code, got.Stdout, got.Stderr)
		}
	}
}
