//go:build linux

package hostiletest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// longName is a graph that takes long to draw.
func longName(size int) []byte {
	return []byte(strings.Replace(route, "name: x", "name: "+strings.Repeat("x", size), 1))
}

// TestDrawingEnds: the program that draws ends with the program that started it, however that ends.
func TestDrawingEnds(t *testing.T) {
	w := world{t.TempDir()}
	file := w.file(t, "route.yaml", longName(3_000_000))
	path := "PATH=" + drawing(t) + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, sent := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sent.String(), func(t *testing.T) {
			r := startRun(t, []string{path}, "graph", "-o", "svg", "-f", file)
			child := childOf(t, r.cmd.Process.Pid, "dopolicy-draw")
			took := r.end(t, sent)
			began := time.Now()
			for ; isRunning(child) && time.Since(began) < 10*mostEnding; time.Sleep(20 * time.Millisecond) {
			}
			if took += time.Since(began); took > mostEnding {
				t.Errorf("the program that draws went on for %s", took)
			}
		})
	}
}

// childOf waits for a process to start a program, and returns the id of that.
func childOf(t *testing.T, parent int, program string) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		files, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, file := range files {
			text, err := os.ReadFile(file) // id (program) state parent …
			_, about, _ := strings.Cut(string(text), " ("+program+") ")
			if fields := strings.Fields(about); err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
				return filepath.Base(filepath.Dir(file))
			}
		}
	}
	t.Fatalf("%s was not started", program)
	return ""
}

// isRunning reports whether a process is there and has not ended.
func isRunning(id string) bool {
	text, err := os.ReadFile("/proc/" + id + "/stat")
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// TestDrawingIsBounded: what a program that draws writes without end is not kept.
func TestDrawingIsBounded(t *testing.T) {
	w := world{t.TempDir()}
	file := w.file(t, "route.yaml", []byte(route))
	for name, c := range map[string]struct{ script, want string }{
		"pictures":   {"exec yes", "makes a picture of more than 128 MiB"},
		"complaints": {"exec yes >&2", "the picture could not be drawn: "},
	} {
		t.Run(name, func(t *testing.T) {
			programs := world{t.TempDir()}
			if err := os.Chmod(programs.file(t, "dopolicy-draw", []byte("#!/bin/sh\n"+c.script+"\n")), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", programs.in+string(os.PathListSeparator)+os.Getenv("PATH"))
			run(t, attack{exit: 3, want: c.want}, []string{"graph", "-o", "svg", "-f", file})
		})
	}
}

// TestChartsAreBounded: what a program that renders charts writes without end is not kept either.
func TestChartsAreBounded(t *testing.T) {
	w, programs := world{t.TempDir()}, world{t.TempDir()}
	w.file(t, "kustomization.yaml", []byte("helmCharts: [{name: c, releaseName: c}]\n"))
	w.file(t, "charts/c/Chart.yaml", []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n"))
	if err := os.Chmod(programs.file(t, "helm", []byte("#!/bin/sh\nexec yes\n")), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs.in+string(os.PathListSeparator)+os.Getenv("PATH"))
	run(t, attack{exit: 3, want: "it makes more than 67108864 bytes"}, []string{"effective", "-A", "-R", "-f", w.in,
		"--enable-helm"})
}
