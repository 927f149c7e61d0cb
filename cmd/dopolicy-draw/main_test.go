package main

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// built is the program, built once.
var built string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "dopolicy-draw")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = filepath.Join(folder, "dopolicy-draw.exe")
	if out, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// run runs the program with a home and a folder for temporary files of its own.
func run(t *testing.T, home, temp, in string, args ...string) (out []byte, said string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(built, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp, "HOME="+home, "XDG_CACHE_HOME=",
		"LocalAppData="+home)
	err = cmd.Run()
	return stdout.Bytes(), stderr.String(), err
}

func TestPictures(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	svg, said, err := run(t, home, temp, `digraph { a -> b [label="<x>"] }`)
	if err != nil || !bytes.Contains(svg, []byte("&lt;x&gt;</text>")) || said != "" {
		t.Errorf("%s %s %v", svg, said, err)
	}
	out, said, err := run(t, home, temp, `digraph { a -> b }`, "-format", "png")
	if err != nil || said != "" {
		t.Fatal(said, err)
	}
	if _, err := png.Decode(bytes.NewReader(out)); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		in, said string
		code     int
		args     []string
	}{
		{in: "digraph {", said: "error: reading the graph: ", code: 1},
		{in: "", said: "error: reading the graph: ", code: 1},
		{args: []string{"-format", "gif"}, said: "usage: ", code: 2},
		{args: []string{"file.dot"}, said: "usage: ", code: 2},
	} {
		out, said, err := run(t, t.TempDir(), t.TempDir(), c.in, c.args...)
		exit, failed := err.(*exec.ExitError)
		if len(out) > 0 || !failed || exit.ExitCode() != c.code || !strings.HasPrefix(said, c.said) {
			t.Errorf("%q %v: %q %q %v", c.in, c.args, out, said, err)
		}
	}
}

// TestEndOfInput: a drawing ends when the input behind a graph of known length does.
func TestEndOfInput(t *testing.T) {
	graph := `digraph { a [label="` + strings.Repeat("x", 3_000_000) + `"] }`
	cmd := exec.Command(built, "-bytes", strconv.Itoa(len(graph)))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, graph); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // it draws
	began := time.Now()
	_ = in.Close()
	_ = cmd.Wait()
	if took := time.Since(began); took > time.Second || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v after %s", cmd.ProcessState, took)
	}
}

// TestCache holds where the compiled code is kept: with the user alone, or nowhere; never in the
// folder for temporary files.
func TestCache(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the user's cache is elsewhere")
	}
	own := filepath.Join(".cache", "kubectl-dopolicy", "draw")
	for _, c := range []struct {
		name string
		home func(t *testing.T) string
		kept bool
	}{
		{"kept with the user", func(t *testing.T) string { return t.TempDir() }, true},
		{"no home", func(*testing.T) string { return "" }, false},
		{"a home that cannot be written to", func(t *testing.T) string { return filepath.Join(os.DevNull, "home") },
			false},
		{"a folder that others can write to", func(t *testing.T) string {
			home := t.TempDir()
			above := filepath.Join(home, filepath.Dir(own))
			if err := os.MkdirAll(above, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(above, 0o777); err != nil {
				t.Fatal(err)
			}
			return home
		}, false},
		{"a link to elsewhere", func(t *testing.T) string {
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, filepath.Dir(own)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(t.TempDir(), filepath.Join(home, own)); err != nil {
				t.Fatal(err)
			}
			return home
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, temp := c.home(t), t.TempDir()
			if _, said, err := run(t, home, temp, "digraph { a }"); err != nil {
				t.Fatal(said, err)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("in the folder for temporary files: %v %v", left, err)
			}
			kept, _ := filepath.Glob(filepath.Join(home, own, "*"))
			if (len(kept) > 0) != c.kept {
				t.Errorf("kept: %v", kept)
			}
			if info, err := os.Stat(filepath.Join(home, own)); c.kept && (err != nil || info.Mode().Perm() != 0o700) {
				t.Errorf("the folder: %v %v", info, err)
			}
		})
	}
}
