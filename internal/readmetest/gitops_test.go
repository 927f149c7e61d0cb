package readmetest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestGitOps runs the commands of docs/gitops.md on the repositories of the script that holds them
// against what they are rendered to. Each must find the route in its namespace. A program that
// knows what this one chart makes stands in for helm.
func TestGitOps(t *testing.T) {
	page, err := os.ReadFile("../../docs/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("../../testdata/script/gitops/same.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, bin, chart := t.TempDir(), t.TempDir(), ""
	for _, f := range archive.Files {
		at := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if f.Name == "helm/charts/cart/templates/cart.yaml" {
			chart = strings.NewReplacer("{{ .Release.Name }}", "cart", "{{ .Release.Namespace }}", "shop",
				"{{ .Values.host }}", "cart.example.com", "{{ .Values.limit }}", "5").Replace(string(f.Data))
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "helm"), []byte("#!/bin/sh\ncat <<'END'\n"+chart+"END\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(dir)
	ran := 0
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```\n").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(m[1]) {
			words := strings.Fields(line)
			if words[0] == "helm" {
				if err := os.WriteFile(words[len(words)-1], []byte(chart), 0o600); err != nil {
					t.Fatal(err)
				}
				continue
			}
			ran++
			var out, errs bytes.Buffer
			code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), words[1:],
				cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: os.LookupEnv})
			if code != cli.ExitAnswered || words[1] != "effective" ||
				!strings.Contains(out.String()+errs.String(), "shop") {
				t.Errorf("%s: exit %d: %s%s", line, code, out.String(), errs.String())
			}
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands found", ran)
	}
}
