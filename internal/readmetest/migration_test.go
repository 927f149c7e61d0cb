package readmetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
)

// TestMigration runs the steps of docs/migration.md for a pull request on the example of the page:
// each fails for its mistakes, and none does once they are repaired.
func TestMigration(t *testing.T) {
	text, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`kubectl-dopolicy diff [^\n]*`).FindAllString(string(text), -1)
	if len(lines) < 2 {
		t.Fatalf("only %d steps found", len(lines))
	}
	dir := t.TempDir()
	for copied, example := range map[string]string{"ingresses": "old", "gateway": "new", "repair": "repair"} {
		if err := os.CopyFS(filepath.Join(dir, copied), os.DirFS("../../testdata/migration/"+example)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " > ")
		if out, errs, code := runWords(t, line); code != cli.ExitFindings ||
			!strings.Contains(out, "4 get access that they did not have") {
			t.Errorf("%s: exit %d, %s\n%s", line, code, errs, out)
		}
		if out, errs, code := runWords(t, line+" -f repair"); code != cli.ExitAnswered ||
			!strings.Contains(out, "equivalent: ") {
			t.Errorf("%s -f repair: exit %d, %s\n%s", line, code, errs, out)
		}
	}
}
