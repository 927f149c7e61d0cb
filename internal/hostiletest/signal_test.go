//go:build linux

package hostiletest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// mostEnding is how long a command may take to end when it is told to.
const mostEnding = time.Second

// largeWorld are manifests that take every command longer than a test waits: routes with rules of their own, and
// policies of some of them.
func largeWorld(routes, rules, policies int) []byte {
	var b bytes.Buffer
	b.WriteString(strings.Replace(route, "metadata: {name: r}", "metadata: {name: r, namespace: a}", 1) +
		"---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: a}\n" +
		"spec:\n  gatewayClassName: c\n  listeners:\n")
	for i := range 50 {
		fmt.Fprintf(&b, "  - {name: l%d, port: 80, protocol: HTTP, hostname: '*.h%d.example.com'}\n", i, i)
	}
	for i := range routes {
		fmt.Fprintf(&b, "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"+
			"metadata: {name: r%d, namespace: a}\nspec:\n  parentRefs: [{name: g}]\n  rules:\n", i)
		for j := range rules {
			fmt.Fprintf(&b, "  - {matches: [{path: {type: PathPrefix, value: /%d/%d}}, {headers: [{name: h, value: v%d}]}]}\n",
				i, j, j)
		}
	}
	for i := range policies {
		fmt.Fprintf(&b, "---\napiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: p%d, namespace: a}\n"+
			"spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r%d}\n"+
			"  defaults: {rules: {authentication: {k%d: {apiKey: {selector: {matchLabels: {app: x}}}}}}}\n", i, i, i)
	}
	return b.Bytes()
}

// longRuns are what takes each command long, by the command.
var longRuns = map[string][]string{
	"audit":          {"-A", "-f", "@large"},
	"check":          {"-f", "@large", "--config", "none"},
	"check coverage": {"-f", "@large", "--requirements", "@requirements"},
	"check test":     {"@test"},
	"describe":       {"httproute/r1", "-n", "a", "-f", "@large"},
	"diff":           {"@large", "@changed"},
	"effective":      {"-A", "-f", "@large"},
	"explain":        {"httproute/r1", "-n", "a", "-f", "@large"},
	"graph":          {"-o", "dot", "-f", "@large"},
	"history":        {"r1", "-n", "a", "--snapshots", "@snapshots"},
	"kinds":          {"-f", "@large"},
	"matrix":         {"-A", "-f", "@large"},
	"overridden":     {"-A", "-f", "@large"},
	"prove":          {"--require", "AuthPolicy", "-f", "@large"},
	"publish":        {"-f", "@large", "--to", "stdout", "--config", "none"},
	"reach":          {"p1", "-n", "a", "-f", "@large"},
	"report":         {"-f", "@large", "--config", "none"},
	"request":        {"GET", "http://a.h1.example.com/1/1", "-f", "@large"},
	"snapshot":       {"--kubeconfig", "@cluster", "-o", "@none"},
	"status":         {"-A", "-f", "@large"},
	"why":            {"401", "http://a.h1.example.com/1/1", "-f", "@large"},
}

// short are commands that read nothing that could be long, and one that goes on until it is told to end.
var short = []string{"completion", "help", "mcp", "options", "version"}

// TestSignalToServer: a server ends soon when it is told to, as it should.
func TestSignalToServer(t *testing.T) {
	r := startRun(t, nil, "mcp", "--listen", "127.0.0.1:0", "-f", "none.yaml")
	time.Sleep(2 * time.Second)
	if took := r.end(t, syscall.SIGTERM); took > mostEnding || r.cmd.ProcessState.ExitCode() != 0 || r.out.Len() > 0 {
		t.Errorf("it ends with %v after %s: %s", r.cmd.ProcessState, took, r.said.String())
	}
}

// TestSignals: every command ends soon when it is told to, while it reads and while it computes, and
// what it has by then is not printed as its answer.
func TestSignals(t *testing.T) {
	w := world{t.TempDir()}
	large := largeWorld(1000, 16, 300)
	w.file(t, "snapshots/2.yaml", snapshotOf(2, large))
	files := strings.NewReplacer("@large", w.file(t, "large.yaml", large),
		"@changed", w.file(t, "changed.yaml", append(slices.Clone(large), "---\n"+route...)),
		"@requirements", w.file(t, "requirements.yaml", []byte(leafRequirements)),
		"@test", w.file(t, "test.yaml", []byte("apiVersion: dopolicy.dev/v1alpha1\nkind: RequirementTest\n"+
			"requirements: [requirements.yaml]\ntests:\n- {name: x, files: [large.yaml], met: [limits]}\n")),
		"@snapshots", filepath.Dir(w.file(t, "snapshots/1.yaml", snapshotOf(1, large))),
		"@none", filepath.Join(w.in, "none.yaml"), "@cluster", kubeconfig(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	for _, command := range commandsOf(cli.App{Plugins: plugins.All()}.Command(cli.Terminal()), "") {
		if slices.Contains(short, command) {
			continue
		}
		args, known := longRuns[command]
		if !known {
			t.Errorf("%s: there is no long run of it", command)
			continue
		}
		for i := range args {
			args[i] = files.Replace(args[i])
		}
		for name, wait := range map[string]time.Duration{"reading": 600 * time.Millisecond, "computing": 3 * time.Second} {
			for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
				if sent == syscall.SIGTERM && name == "computing" {
					continue // as SIGINT
				}
				t.Run(command+"/"+name+"/"+sent.String(), func(t *testing.T) {
					testSignal(t, append(strings.Fields(command), args...), wait, sent)
				})
			}
		}
	}
}

// testSignal sends a signal to a command. How long the end takes depends on what else the machine
// does: too long counts if it is too long every time.
func testSignal(t *testing.T, args []string, wait time.Duration, sent syscall.Signal) {
	t.Helper()
	var took time.Duration
	for range 3 {
		r := startRun(t, nil, args...)
		time.Sleep(wait)
		took = r.end(t, sent)
		if code := r.cmd.ProcessState.ExitCode(); r.out.Len() > 0 || !r.isKilled(sent) &&
			(code != 128+int(sent) || !strings.Contains(r.said.String(), "error: interrupted")) {
			t.Errorf("%v, with %d bytes of an answer: %.300s", r.cmd.ProcessState, r.out.Len(), r.said.String())
		}
		if took <= mostEnding {
			return
		}
	}
	t.Errorf("it ended after %s", took)
}

// isKilled reports whether the signal ended the process itself: it had only begun.
func (r *signalledRun) isKilled(sent syscall.Signal) bool {
	status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == sent
}

// snapshotOf is a snapshot of manifests at an hour.
func snapshotOf(hour int, manifests []byte) []byte {
	head := fmt.Sprintf(leafSnapshot, hour)
	objects := fmt.Sprintf("objects: %d", 1+bytes.Count(manifests, []byte("\n---\n")))
	return append([]byte(strings.Replace(head, "objects: 2", objects, 1)+"---\n"), manifests...)
}

// commandsOf are the commands that run, with the words before them.
func commandsOf(c *cobra.Command, before string) []string {
	var out []string
	for _, sub := range c.Commands() {
		name := strings.TrimSpace(before + " " + sub.Name())
		if sub.Runnable() && !sub.Hidden {
			out = append(out, name)
		}
		if sub.Name() != "completion" {
			out = append(out, commandsOf(sub, name)...)
		}
	}
	return out
}

// signalledRun is a run of the program that a test sends signals.
type signalledRun struct {
	cmd       *exec.Cmd
	out, said bytes.Buffer
	ended     chan struct{}
}

func startRun(t *testing.T, env []string, args ...string) *signalledRun {
	t.Helper()
	r := &signalledRun{cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	r.cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.said
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); <-r.ended })
	return r
}

// end sends a signal and returns how long it took the program to end.
func (r *signalledRun) end(t *testing.T, sent syscall.Signal) time.Duration {
	t.Helper()
	select {
	case <-r.ended:
		t.Fatalf("it ended before it was told to: %v: %.300s", r.cmd.ProcessState, r.said.String())
	default:
	}
	began := time.Now()
	if err := r.cmd.Process.Signal(sent); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-time.After(10 * mostEnding):
		t.Fatalf("after %s it has not ended", 10*mostEnding)
	}
	return time.Since(began)
}

// TestSecondSignal: the second signal kills at once.
func TestSecondSignal(t *testing.T) {
	w := world{t.TempDir()}
	r := startRun(t, nil, "effective", "-A", "-f", w.file(t, "large.yaml", largeWorld(1000, 16, 300)))
	time.Sleep(2 * time.Second)
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	took := r.end(t, syscall.SIGINT)
	if !r.isKilled(syscall.SIGINT) || took > 300*time.Millisecond {
		t.Errorf("%v after %s: %.300s", r.cmd.ProcessState, took, r.said.String())
	}
}

// TestSignalLeavesNoFiles: folders for temporary files are gone after a signal, though what is
// computed from them goes on.
func TestSignalLeavesNoFiles(t *testing.T) {
	for name, args := range map[string][]string{
		"a revision": {"check", "-R", "-f", ".", "--config", "none", "--new-from", "git:HEAD"},
		"a chart":    {"effective", "-A", "-R", "-f", ".", "--enable-helm"},
	} {
		t.Run(name, func(t *testing.T) {
			w, temp, programs := world{t.TempDir()}, t.TempDir(), world{t.TempDir()}
			t.Chdir(w.in)
			if name == "a revision" {
				w.file(t, "large.yaml", largeWorld(1000, 16, 300))
			} else {
				w.file(t, "kustomization.yaml", []byte("helmCharts: [{name: c, releaseName: c}]\n"))
				w.file(t, "charts/c/Chart.yaml", []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n"))
				if err := os.Chmod(programs.file(t, "helm", []byte("#!/bin/sh\nexec sleep 600\n")), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range []string{"init -q", "add .", "-c user.name=x -c user.email=x@example.com commit -q -m x"} {
				if out, err := exec.Command("git", strings.Fields(line)...).CombinedOutput(); err != nil {
					t.Fatalf("git %s: %v: %s", line, err, out)
				}
			}
			if name == "a revision" { // what is long is there only
				w.file(t, "large.yaml", []byte(route))
			}
			r := startRun(t, []string{"TMPDIR=" + temp, "PATH=" + programs.in + ":" + os.Getenv("PATH")}, args...)
			for began := time.Now(); len(entriesOf(t, temp)) == 0; time.Sleep(20 * time.Millisecond) {
				if time.Since(began) > 20*time.Second {
					t.Fatalf("there is no folder: %s", r.said.String())
				}
			}
			time.Sleep(500 * time.Millisecond)
			if took := r.end(t, syscall.SIGINT); took > mostEnding || r.cmd.ProcessState.ExitCode() != 130 {
				t.Errorf("%v after %s: %s", r.cmd.ProcessState, took, r.said.String())
			}
			if left := entriesOf(t, temp); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func entriesOf(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
