//go:build linux

package hostiletest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// loads are inputs that are much of one thing, and have to be read in about the time that ordinary
// manifests of that size take.
var loads = []struct {
	name string
	file func() []byte
}{
	{"a map of a million entries", million("\n", "  k%d: v\n", "")},
	{"a map of a million entries in JSON", func() []byte { return jsonMap(1_000_000) }},
	{"200,000 small documents", func() []byte {
		var b bytes.Buffer
		for i := range 200_000 {
			fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d, namespace: a}\n", i)
		}
		return b.Bytes()
	}},
	{"11 MB of tiny documents", repeated("---\na: 1\n", 1_222_222)},
	{"11 MB of tiny documents in flow style", repeated("---\n{a: b}\n", 1_000_000)},
	{"11 MB of JSON values", repeated("{\"a\":1}\n", 1_375_000)},
}

func jsonMap(n int) []byte {
	b := bytes.NewBufferString(
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"first": "v"`)
	for i := range n {
		fmt.Fprintf(b, `,"k%d":"v"`, i)
	}
	b.WriteString("}}")
	return b.Bytes()
}

var objectName = regexp.MustCompile(`name: ([a-z0-9-]+)`)

// ordinary are the manifests of the demo, over and over with other names.
func ordinary(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("../../testdata/demo/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var demo, out bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		demo.WriteString("\n---\n")
		demo.Write(text)
	}
	for i := 0; out.Len() < 11_000_000; i++ {
		out.Write(objectName.ReplaceAll(demo.Bytes(), fmt.Appendf(nil, "name: ${1}-%d", i)))
	}
	return out.Bytes()
}

// TestLinear: much of one thing takes check at most one and a half times as long for a byte as
// ordinary manifests, side by side.
func TestLinear(t *testing.T) {
	folder := t.TempDir()
	written := func(name string, text []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	usual := written("ordinary.yaml", ordinary(t))
	least := perMegabyte(t, usual)
	for i, l := range loads {
		file := written(fmt.Sprintf("%d.yaml", i), l.file())
		got := perMegabyte(t, file)
		for again := 0; again < 2 && 2*got > 3*least; again++ { // other programs may have disturbed it
			got, least = min(got, perMegabyte(t, file)), max(least, perMegabyte(t, usual))
		}
		t.Logf("%s: %.2f times the time of ordinary manifests", l.name, float64(got)/float64(least))
		if 2*got > 3*least {
			t.Errorf("%s: %s for a megabyte, ordinary manifests %s", l.name, got, least)
		}
	}
}

// perMegabyte is the processor time that check takes for a megabyte of a file.
func perMegabyte(t *testing.T, file string) time.Duration {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 12*mostTime)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], "check", "--config", "none", "-f", file)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	_ = cmd.Run()
	info, err := os.Stat(file)
	if err != nil || cmd.ProcessState == nil || !cmd.ProcessState.Exited() {
		t.Fatalf("%v, %v", err, cmd.ProcessState)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) * 1000 / time.Duration(info.Size()/1000)
}
