package cluster

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// pluginFolder is where Plugin builds, "" before it does.
var pluginFolder string

// pluginEnv names a program to test in place of one that is built: that of a release.
const pluginEnv = "DOPOLICY_PLUGIN"

var buildPlugin = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(pluginEnv); path != "" {
		return path, nil
	}
	source, err := moduleFolder(project)
	if err != nil {
		return "", err
	}
	if pluginFolder, err = os.MkdirTemp("", "dopolicy-plugin"); err != nil {
		return "", err
	}
	path := filepath.Join(pluginFolder, "kubectl-dopolicy")
	_, err = output(source, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-tags",
		"kustomize_disable_go_plugin_support", "-o", path, "./cmd/kubectl-dopolicy")
	return path, err
})

// Plugin is the path of the program kubectl-dopolicy: what DOPOLICY_PLUGIN names, or one that is built from the sources beside this module once in
// a test process, which Main removes.
func Plugin(tb testing.TB) string {
	tb.Helper()
	path, err := buildPlugin()
	if err != nil {
		tb.Fatalf("building the plugin: %v", err)
	}
	return path
}

func removePlugin() error {
	if pluginFolder == "" {
		return nil
	}
	return os.RemoveAll(pluginFolder)
}

// Kubectl is the path of a real kubectl: the machine's own, else one built as the servers are.
func Kubectl(tb testing.TB) string {
	tb.Helper()
	if path, err := exec.LookPath("kubectl"); err == nil {
		return path
	}
	path, err := built("kubectl")
	if err != nil {
		tb.Fatalf("building kubectl: %v", err)
	}
	return path
}

// Result is what a program did.
type Result struct {
	Stdout, Stderr string
	Code           int
	Elapsed        time.Duration
}

// Run runs the plugin and waits for its end. Its environment is the PATH, an empty home and what env has, as NAME=VALUE; without a
// KUBECONFIG in it there is no cluster.
func Run(tb testing.TB, args []string, env ...string) Result {
	tb.Helper()
	return RunProgram(tb, Plugin(tb), args, env...)
}

// RunProgram is Run for another program, such as Kubectl.
func RunProgram(tb testing.TB, path string, args []string, env ...string) Result {
	tb.Helper()
	home := tb.TempDir()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, &stdout, &stderr
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, env...)
	began := time.Now()
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		tb.Fatalf("running %s: %v", path, err)
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
}
