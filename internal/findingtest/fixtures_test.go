// Package findingtest holds the catalogue of findings against the program: every id has an input in
// which it is found and one in which it is not, below testdata/findings. It has tests only.
package findingtest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const folder = "../../testdata/findings"

// catalogue has the findings of the program with all its vendors.
var catalogue = check.NewCatalogue(plugin.FindingRules(plugins.All()))

// TestFixtures checks testdata/findings/<ID>/fails.yaml, which has the finding, and passes.yaml,
// which has not. A first line "# args: FLAGS" gives more flags; {dir} in it is the folder of the
// file.
func TestFixtures(t *testing.T) {
	for _, rule := range catalogue {
		id := string(rule.ID)
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			found := run(t, filepath.Join(folder, id, "fails.yaml"))
			at := slices.IndexFunc(found, func(f check.Finding) bool { return f.ID == id })
			if at < 0 {
				t.Errorf("fails.yaml has only %s", idsOf(found))
			}
			for _, f := range found {
				if f.ID == id && !slices.Contains(rule.Severities, f.Severity) {
					t.Errorf("severity %s is not in the catalogue: %s", f.Severity, f.Message)
				}
			}
			for _, f := range run(t, filepath.Join(folder, id, "passes.yaml")) {
				if f.ID == id {
					t.Errorf("passes.yaml has it: %s", f.Message)
				}
			}
		})
	}
}

// TestNoOtherFixtures: a folder without a rule is one whose id has been renamed.
func TestNoOtherFixtures(t *testing.T) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, known := catalogue.Rule(e.Name()); !known {
			t.Errorf("%s is in no catalogue", e.Name())
		}
	}
}

// run checks one file and returns what is found.
func run(t *testing.T, file string) []check.Finding {
	t.Helper()
	var out check.Report
	if err := json.Unmarshal(report(t, file, "json"), &out); err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// report is what a check of one file or folder prints.
func report(t *testing.T, file, format string) []byte {
	t.Helper()
	args := []string{"check", "-f", file, "-o", format, "--config", "none"}
	if text, err := os.ReadFile(file); err == nil {
		first, _, _ := strings.Cut(string(text), "\n")
		if more, ok := strings.CutPrefix(first, "# args: "); ok {
			args = append(args, strings.Fields(strings.ReplaceAll(more, "{dir}", filepath.Dir(file)))...)
		}
	}
	return answer(t, args...)
}

// answer is what a command writes.
func answer(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), args, cli.Streams{In: strings.NewReader(""),
		Out: &out, Err: &errs,
		LookupEnv: func(string) (string, bool) { return "", false }})
	if code != cli.ExitAnswered && code != cli.ExitFindings {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.Bytes()
}

func idsOf(found []check.Finding) string {
	var ids []string
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	if ids == nil {
		return "nothing"
	}
	return strings.Join(slices.Compact(ids), ", ")
}
