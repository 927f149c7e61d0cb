package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestShop: the proxy does all that the manifests ask for, so that what is measured is a comparison
// of everything; a change of one timeout is one difference.
func TestShop(t *testing.T) {
	folder := t.TempDir()
	if err := (shop{routes: 30, rules: 2, own: 3}).save([]string{folder}); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(folder, "config_dump.json")
	audit := func(want int, words string) {
		t.Helper()
		var out, errs bytes.Buffer
		code := cli.App{Plugins: plugins.All()}.Run(t.Context(), []string{"audit", "--dataplane", dump, "-f",
			filepath.Join(folder, "manifests.yaml")},
			cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: func(string) (string,
				bool) {
				return "", false
			}})
		if code != want || !strings.Contains(out.String(), words) {
			t.Errorf("exit %d, without %q\n%s%s", code, words, out.String(), errs.String())
		}
	}
	audit(cli.ExitAnswered, "60 of 60 rules found in the proxy; 160 settings as predicted; no differences")
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dump, bytes.Replace(text, []byte(`"timeout": "10s"`), []byte(`"timeout": "11s"`), 1),
		0o600); err != nil {
		t.Fatal(err)
	}
	audit(cli.ExitFindings, "159 settings as predicted; 1 difference")
}
