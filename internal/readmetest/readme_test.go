// Package readmetest holds the README against the program and the tree.
package readmetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

func readme(t *testing.T) string {
	t.Helper()
	t.Chdir("../..")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs the words behind "kubectl dopolicy".
func run(t *testing.T, line string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := start(line, &out, &errs); code != cli.ExitAnswered && code != cli.ExitFindings {
		t.Errorf("%s: exit %d: %s", line, code, errs.String())
	}
	return out.String()
}

// start runs the words behind "kubectl dopolicy", and returns the exit code.
func start(line string, out, errs io.Writer) int {
	env := func(name string) (string, bool) { return map[string]string{"LANG": "C.UTF-8"}[name], name == "LANG" }
	words := strings.Fields(line)
	if strings.Contains(line, "'") {
		var err error
		if words, err = shell.Fields(line, nil); err != nil {
			fmt.Fprintln(errs, err)
			return cli.ExitUsage
		}
	}
	return cli.App{Plugins: plugins.All()}.Run(context.Background(), words, cli.Streams{Out: out, Err: errs,
		LookupEnv: env})
}

// TestTranscript runs the command of the first code block; every line of the block, up to "…",
// stands in the output, in order.
func TestTranscript(t *testing.T) {
	text := readme(t)
	_, block, _ := strings.Cut(text, "```\n$ kubectl dopolicy ")
	block, _, _ = strings.Cut(block, "```")
	command, want, _ := strings.Cut(block, "\n")
	if at := strings.Count(text[:strings.Index(text, "$ kubectl")], "\n"); at > 25 {
		t.Errorf("the transcript starts at line %d, it belongs into the first 25", at)
	}
	got := run(t, command)
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		if line == "" || line == "…" {
			continue
		}
		before, after, found := strings.Cut(got, line+"\n")
		if !found {
			t.Fatalf("the README shows %q, which the program does not print (any more, or there):\n%s", line, before)
		}
		got = after
	}
}

// TestWhatIf runs the deletion that the README shows: the block is all of what is printed.
func TestWhatIf(t *testing.T) {
	_, block, found := strings.Cut(readme(t), "$ kubectl dopolicy diff ")
	command, want, _ := strings.Cut(block, "\n")
	want, _, _ = strings.Cut(want, "```")
	var out, errs bytes.Buffer
	if code := start("diff "+command, &out, &errs); !found || code != cli.ExitFindings || out.String() != want ||
		errs.Len() > 0 {
		t.Errorf("diff %s: exit %d, %s\n%s\nthe README shows\n%s", command, code, errs.String(), out.String(), want)
	}
}

// TestCommands runs every command that the README shows on the demo.
func TestCommands(t *testing.T) {
	commands := regexp.MustCompile("`kubectl dopolicy ([^`|\\\\]*)").FindAllStringSubmatch(readme(t), -1)
	if len(commands) < 5 {
		t.Fatalf("only %d commands found", len(commands))
	}
	for _, c := range commands {
		if strings.Contains(c[1], "--live") || strings.Contains(c[1], "--contexts") ||
			strings.HasPrefix(c[1], "history") || c[1] == "audit -A" || strings.Contains(c[1], "--as") ||
			strings.HasPrefix(c[1], "snapshot") || strings.HasPrefix(c[1], "publish") {
			continue // of clusters, or of snapshots of one
		}
		if strings.HasPrefix(c[1], "diff ") {
			continue // of two inputs
		}
		command := strings.TrimSuffix(strings.ReplaceAll(c[1], " -f manifests/", ""), " ")
		demo := " -f testdata/demo"
		if strings.Contains(command, "--dataplane ") {
			command, demo = strings.ReplaceAll(command, "config_dump.json",
				"testdata/audit/proxy-1.json"), " -f testdata/audit/manifests.yaml"
		}
		if strings.Contains(command, "--from ") { // a connection of pods, of which the demo has none
			demo = " -f testdata/vendors-demo/networkpolicy"
		}
		if out := run(t, command+demo); out == "" {
			t.Errorf("%s prints nothing", c[1])
		}
	}
}

// TestVendors holds the vendors' folders, their vectors and the rows of the support table equal.
func TestVendors(t *testing.T) {
	text := readme(t)
	specifications := []string{"gatewayapi", "gep713"} // have vectors of their own
	names := func(pattern string) []string {
		folders, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range folders {
			if info, err := os.Stat(f); err == nil && info.IsDir() &&
				!slices.Contains(specifications, filepath.Base(f)) {
				out = append(out, filepath.Base(f))
			}
		}
		return out
	}
	code, vectors := names("plugins/*"), names("testdata/vendors/*")
	if !slices.Equal(code, vectors) {
		t.Errorf("vendors %v have code, %v have vectors", code, vectors)
	}
	for _, vendor := range code {
		if !strings.Contains(text, "](docs/vendors/"+vendor+".md) |") {
			t.Errorf("the README's support table has no row for %s", vendor)
		}
		if _, err := os.Stat("docs/vendors/" + vendor + ".md"); err != nil {
			t.Errorf("%s has no page: %v", vendor, err)
		}
	}
}
