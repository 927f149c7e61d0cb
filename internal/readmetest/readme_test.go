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

// width is that of a terminal in which the transcripts of the README fit.
const width = 100

func readme(t *testing.T) string {
	t.Helper()
	t.Chdir("../..")
	return readPage(t, "README.md")
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs the words behind "kubectl dopolicy".
func run(t *testing.T, line string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := start(line, 0, &out, &errs); code != cli.ExitAnswered && code != cli.ExitFindings {
		t.Errorf("%s: exit %d: %s", line, code, errs.String())
	}
	return out.String()
}

// start runs the words behind "kubectl dopolicy" on a terminal with so many columns, 0: on none, and
// returns the exit code.
func start(line string, columns int, out, errs io.Writer) int {
	env := func(name string) (string, bool) { return map[string]string{"LANG": "C.UTF-8"}[name], name == "LANG" }
	words := strings.Fields(line)
	if strings.Contains(line, "'") {
		var err error
		if words, err = shell.Fields(line, nil); err != nil {
			fmt.Fprintln(errs, err)
			return cli.ExitUsage
		}
	}
	return cli.App{Plugins: plugins.All()}.Run(context.Background(), words, cli.Streams{In: strings.NewReader(""),
		Out: out, Err: errs, OutIsTTY: columns > 0, Width: columns, LookupEnv: env})
}

// TestTranscripts runs the commands of the code blocks that begin with one; every line of a block, up
// to "…", stands in the output of its command, in order.
func TestTranscripts(t *testing.T) {
	text := readme(t)
	blocks := strings.Split(text, "```\n$ kubectl dopolicy ")
	if at := strings.Count(blocks[0], "\n"); at > 25 || len(blocks) < 3 {
		t.Errorf("%d transcripts, of which the first starts at line %d; it belongs into the first 25", len(blocks)-1, at)
	}
	if lines := strings.Count(text, "\n"); lines > 120 {
		t.Errorf("%d lines are more than two screens", lines)
	}
	for _, block := range blocks[1:] {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		var out, errs bytes.Buffer
		code := start(command+" --color never", width, &out, &errs)
		if code != cli.ExitAnswered && code != cli.ExitFindings {
			t.Errorf("%s: exit %d: %s", command, code, errs.String())
		}
		got := out.String()
		for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
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
}

// TestCommands runs every command that the README and the page of questions show on the demo.
func TestCommands(t *testing.T) {
	text := readme(t) + readPage(t, "docs/questions.md")
	commands := regexp.MustCompile("`kubectl dopolicy ([^`|\\\\]*)").FindAllStringSubmatch(text, -1)
	if len(commands) < 5 {
		t.Fatalf("only %d commands found", len(commands))
	}
	for _, c := range commands {
		if strings.Contains(c[1], "--live") || strings.Contains(c[1], "--contexts") ||
			strings.HasPrefix(c[1], "history") || c[1] == "audit -A" || strings.Contains(c[1], "--as") ||
			strings.HasPrefix(c[1], "snapshot") || strings.HasPrefix(c[1], "publish") {
			continue // of clusters, or of snapshots of one
		}
		if strings.HasPrefix(c[1], "diff ") || c[1] == "mcp" {
			continue // of two inputs, or of a client
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
	readme(t)
	text := readPage(t, "docs/vendors/README.md")
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
	withVectors := slices.DeleteFunc(slices.Clone(code), func(vendor string) bool {
		return vendor == "ingressnginx" // has no policy kinds; internal/ingresstest has its cases
	})
	if !slices.Equal(withVectors, vectors) {
		t.Errorf("vendors %v have code, %v have vectors", code, vectors)
	}
	for _, vendor := range code {
		if !strings.Contains(text, "]("+vendor+".md)") {
			t.Errorf("docs/vendors/README.md has no row for %s", vendor)
		}
		if _, err := os.Stat("docs/vendors/" + vendor + ".md"); err != nil {
			t.Errorf("%s has no page: %v", vendor, err)
		}
	}
}
