package readmetest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRequirements holds the files that docs/requirements.md shows against testdata/requirements,
// and runs there the commands that it shows with their output. With UPDATE_GOLDEN it writes the
// output into the page.
func TestRequirements(t *testing.T) {
	page := "../../docs/requirements.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("../../testdata/requirements")
	if err != nil {
		t.Fatal(err)
	}
	page, err = filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	files := regexp.MustCompile("(?s)```yaml\n# (\\S+\\.yaml)\n(.*?)```\n").FindAllStringSubmatch(string(text), -1)
	if len(files) < 4 {
		t.Errorf("only %d files found", len(files))
	}
	for _, m := range files {
		if want, err := os.ReadFile(m[1]); err != nil || string(want) != m[2] {
			t.Errorf("the page shows another %s than testdata/requirements has (%v)", m[1], err)
		}
	}
	commands := regexp.MustCompile("(?s)```\n\\$ kubectl dopolicy (.*?)\n(.*?)\n```\n").FindAllStringSubmatch(
		string(text), -1)
	if len(commands) < 2 {
		t.Errorf("only %d commands found", len(commands))
	}
	updated := string(text)
	for _, c := range commands {
		var out bytes.Buffer
		start(c[1], 0, &out, &out)
		got := strings.TrimSuffix(out.String(), "\n")
		if got != c[2] && os.Getenv("UPDATE_GOLDEN") == "" {
			t.Errorf("%s prints\n%s\nand not\n%s", c[1], got, c[2])
		}
		updated = strings.Replace(updated, c[1]+"\n"+c[2], c[1]+"\n"+got, 1)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(page, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
