package readmetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTranscriptsOfPages runs what the vendors' pages and those of the matrix, of audits, of
// proofs, of changes, of migrations, of publishing and of health show: a code block that begins with
// "$ kubectl dopolicy" has the whole output of the command behind it, asked in the root of the
// repository. With UPDATE_GOLDEN it is written anew.
func TestTranscriptsOfPages(t *testing.T) {
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/vendors/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	pages = append(pages, "docs/matrix.md", "docs/audit.md", "docs/prove.md", "docs/behavior.md", "docs/migration.md",
		"docs/publish.md", "docs/schemas.md", "docs/health.md", "docs/metrics.md")
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		const open = "```\n$ kubectl dopolicy "
		var out strings.Builder
		rest, shown := string(raw), 0
		for {
			before, block, found := strings.Cut(rest, open)
			out.WriteString(before)
			if !found {
				break
			}
			block, rest, found = strings.Cut(block, "\n```\n")
			command, want, _ := strings.Cut(block, "\n")
			if !found {
				t.Errorf("%s: the block of %q has no end", page, command)
				break
			}
			shown++
			got := strings.TrimSuffix(run(t, command), "\n")
			if got != want && os.Getenv("UPDATE_GOLDEN") == "" {
				t.Errorf("%s: %s prints\n%s\nand not\n%s", page, command, got, want)
			}
			out.WriteString(open + command + "\n" + got + "\n```\n")
		}
		if shown == 0 && filepath.Base(page) != "README.md" { // which lists the other pages
			t.Errorf("%s shows no command with its output", page)
		}
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(page, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
