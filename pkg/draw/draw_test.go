package draw

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// program writes a shell script that stands for the program.
func program(t *testing.T, script string) Program {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	path := filepath.Join(t.TempDir(), programName)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Program{Path: path}
}

func TestDraw(t *testing.T) {
	p := program(t, `echo "$@"; head -c "$4"`)
	got, err := p.Draw(t.Context(), SVG, []byte("digraph {}"))
	if err != nil || string(got) != "-format svg -bytes 10\ndigraph {}" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFailures holds that whatever becomes of the program is told, in words that say what.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"says why", "echo 'error: reading the graph: syntax error' >&2; exit 1",
			programName + ": reading the graph: syntax error (exit status 1)"},
		{"says much", "printf 'a\\nb\\nc\\nd\\n' >&2; exit 2", programName + ": a; b; c (exit status 2)"},
		{"says nothing", "exit 7", programName + ": exit status 7"},
		{"is killed", "kill -9 $$", programName + ": signal: killed"},
		{"draws nothing", "head -c 10 >/dev/null", "drew nothing"},
		{"draws without end", "exec yes", "makes a picture of more than 128 MiB"},
		{"complains without end", "echo 'error: no' >&2; exec yes >&2", programName + ": no; y; y (signal: broken pipe)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := program(t, c.script).Draw(t.Context(), PNG, []byte("digraph {}"))
			if got != nil || err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%q, %v; want an error that ends with %q", got, err, c.want)
			}
		})
	}
	if _, err := (Program{Path: "/none/here"}).Draw(t.Context(), SVG, nil); err == nil ||
		!strings.HasPrefix(err.Error(), "starting /none/here: ") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestHang holds that a program that never ends is ended, with what it started.
func TestHang(t *testing.T) {
	p := program(t, "sleep 60 & wait")
	p.Limit = 100 * time.Millisecond
	began := time.Now()
	_, err := p.Draw(t.Context(), SVG, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "did not finish in 100ms") {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.Draw(ended, SVG, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestFind(t *testing.T) {
	p := program(t, "true")
	t.Setenv("PATH", filepath.Dir(p.Path))
	if got, err := Find(); err != nil || got.Path != p.Path {
		t.Errorf("%+v, %v", got, err)
	}
	t.Setenv("PATH", t.TempDir())
	var missing *MissingError
	if _, err := Find(); !errors.As(err, &missing) ||
		!strings.HasPrefix(err.Error(), "the program dopolicy-draw, which draws, was not found: not in ") {
		t.Error(err)
	}
}
