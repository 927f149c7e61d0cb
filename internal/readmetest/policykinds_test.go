package readmetest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPolicyKinds writes the files that docs/policy-kinds.md shows, each a block whose first line
// is a comment with the file's name, and runs the commands that it shows with their output in the
// folder of the files.
func TestPolicyKinds(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy-kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range regexp.MustCompile(
		"(?s)```yaml\n# (\\S+\\.yaml)(, from line 3)?\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		content := m[3]
		if m[2] != "" {
			content = "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\n" + content
		}
		if err := os.WriteFile(filepath.Join(dir, m[1]), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	commands := regexp.MustCompile("(?s)```\n\\$ kubectl dopolicy (.*?)\n(.*?)\n```\n").FindAllStringSubmatch(
		string(text), -1)
	if len(commands) < 3 { // the two examples and the mistakes
		t.Errorf("only %d commands found", len(commands))
	}
	for _, c := range commands {
		var out bytes.Buffer
		start(c[1], 0, &out, &out)
		if got := strings.TrimSuffix(out.String(), "\n"); got != c[2] {
			t.Errorf("%s prints\n%s\nand not\n%s", c[1], got, c[2])
		}
	}
}
