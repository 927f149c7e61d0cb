package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// code is a word of the page that is written as code.
var code = regexp.MustCompile("`([^`\\s]+)`")

// TestMapNamesFiles: every file of Go that docs/architecture.md names where it says where to make a change is there. A name without a folder is
// a file beside the one before it.
func TestMapNamesFiles(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## Where to make a change")
	if !found {
		t.Fatal("the section is gone")
	}
	named := 0
	for row := range strings.Lines(section) {
		folder := ""
		for _, m := range code.FindAllStringSubmatch(row, -1) {
			if !strings.HasSuffix(m[1], ".go") {
				continue
			}
			file := strings.NewReplacer("<vendor>", "*", "<name>", "*").Replace(m[1])
			if !strings.Contains(file, "/") {
				file = path.Join(folder, file)
			}
			folder = path.Dir(file)
			named++
			if at, err := filepath.Glob(filepath.Join("../..", file)); err != nil || len(at) == 0 {
				t.Errorf("%s is not there, which this row names: %s", file, row)
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d files are named", named)
	}
}
