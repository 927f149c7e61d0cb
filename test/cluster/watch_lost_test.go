package cluster

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// watchText is a watching plugin with all that it writes.
type watchText struct {
	t        *testing.T
	out, err written
}

func watchAsText(t *testing.T, kubeconfig string, args ...string) *watchText {
	t.Helper()
	w := &watchText{t: t}
	cmd := exec.Command(Plugin(t), args...)
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = &w.out, &w.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return w
}

// await waits until a text is written.
func (w *watchText) await(of *written, text string, most time.Duration) {
	w.t.Helper()
	for end := time.Now().Add(most); !strings.Contains(of.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%q is not written within %s:\n%s%s", text, most, &w.out, &w.err)
		}
	}
}

// TestWatchMarksChanges: rows that came and went are marked, and nothing else.
func TestWatchMarksChanges(t *testing.T) {
	c := Shared(t)
	c.MustApply(watchedRoute, watchedPolicy("one"))
	w := watchAsText(t, c.Kubeconfig(admin, "watched"), "effective", "-w", "cart")
	w.await(&w.out, "limits.one", 20*time.Second)
	time.Sleep(2 * time.Second)
	c.MustApply(watchedPolicy("a-much-longer-name", "one"))
	w.await(&w.out, "limits.a-much-longer-name", 20*time.Second)
	c.MustApply(watchedPolicy("one"))
	w.await(&w.out, "\n- ", 20*time.Second)
	parts := strings.Split(w.out.String(), "\nchanged at ")
	if len(parts) != 3 {
		t.Fatalf("%d answers:\n%s", len(parts), &w.out)
	}
	marks := func(answer string) (out []string) {
		for _, line := range strings.Split(answer, "\n") {
			if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
				out = append(out, strings.Join(strings.Fields(line)[:4], " "))
			}
		}
		return out
	}
	if got := marks(parts[1]); len(got) != 1 || !strings.HasPrefix(got[0], "+ checkout") ||
		!strings.Contains(parts[1], ": 1 new (+), 0 gone (-)\n") {
		t.Errorf("a setting was added, and marked is %q:\n%s", got, parts[1])
	}
	if got := marks(parts[2]); len(got) != 1 || !strings.HasPrefix(got[0], "- checkout") {
		t.Errorf("a setting was removed, and marked is %q:\n%s", got, parts[2])
	}
}

// TestWatchLost: within five seconds it is said that the connection is lost, whether the server closes it or says nothing any more, and since when
// the answer is old; then that it is back, and what has changed meanwhile.
func TestWatchLost(t *testing.T) {
	for name, state := range map[string]linkState{"closed": linkDown, "silent": linkSilent} {
		t.Run(name, func(t *testing.T) {
			c := Shared(t)
			c.MustApply(watchedRoute, watchedPolicy("one"))
			link := c.Link()
			w := watchAsText(t, c.LinkKubeconfig(link, admin, "watched"), "effective", "-w", "cart")
			w.await(&w.out, "limits.one", 20*time.Second)
			time.Sleep(3 * time.Second)
			if said := w.err.String(); said != "" {
				t.Errorf("while all is well: %s", said)
			}
			link.setState(state)
			cut := time.Now()
			w.await(&w.err, "warning: the connection to cluster test is lost: the answer is that of ", 5*time.Second)
			_, since, _ := strings.Cut(w.err.String(), "is that of ")
			at, err := time.ParseInLocation(time.TimeOnly, since[:len(time.TimeOnly)], time.Local)
			seconds := func(t time.Time) int { return t.Hour()*3600 + t.Minute()*60 + t.Second() }
			if late := seconds(cut) - seconds(at); err != nil || late < 0 || late > 4 {
				t.Errorf("cut at %s, and said to be that of %s", cut.Format(time.TimeOnly), since)
			}
			c.MustApply(watchedPolicy("one", "two"))
			time.Sleep(3 * time.Second)
			if n := strings.Count(w.err.String(), "\n"); n != 1 {
				t.Errorf("%d lines are written while it is lost:\n%s", n, &w.err)
			}
			link.setState(linkUp)
			w.await(&w.err, "note: cluster test answers again", 10*time.Second)
			w.await(&w.out, "limits.two", 10*time.Second)
			if !strings.Contains(w.out.String(), "1 new (+), 0 gone (-)") {
				t.Errorf("what changed meanwhile is not marked:\n%s", &w.out)
			}
		})
	}
}
