package archtest

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// code is a word of the page that is written as code.
var code = regexp.MustCompile("`([^`\\s]+)`")

// TestMapNamesFiles: every file of Go that docs/architecture.md names where it says where to make a
// change is there. A name without a folder is a file beside the one before it.
func TestMapNamesFiles(t *testing.T) {
	named, rows := 0, 0
	for row := range strings.Lines(section(t, "## Where to make a change")) {
		rows++
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
	if named < 40 {
		t.Errorf("only %d files are named", named)
	}
	if rows -= 5; rows > 30 { // the sentence before the table, and its head
		t.Errorf("%d rows: the table says only what the layout cannot say, in at most 30", rows)
	}
}

// TestContributingNamesFiles: every path of the repository that CONTRIBUTING.md names is there.
func TestContributingNamesFiles(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, m := range code.FindAllStringSubmatch(string(text), -1) {
		top, _, isPath := strings.Cut(m[1], "/")
		if _, err := os.Stat(filepath.Join("../..", top)); !isPath || err != nil {
			continue
		}
		named++
		pattern := strings.NewReplacer("<vendor>", "*", "<command>", "*", "<ID>", "*").Replace(m[1])
		if at, err := filepath.Glob(filepath.Join("../..", pattern)); err != nil || len(at) == 0 {
			t.Errorf("%s is not there", m[1])
		}
	}
	if named < 20 {
		t.Errorf("only %d paths are named", named)
	}
}

// TestWalkNamesFunctions: every step of the walk on the page names one function first, and it is
// there.
func TestWalkNamesFunctions(t *testing.T) {
	there := map[string]bool{}
	for _, s := range sources(t) {
		if !s.in("pkg") {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				there[path.Base(s.dir())+"."+qualified(f)] = true
			}
		}
	}
	steps := 0
	for line := range strings.Lines(section(t, "## The walk of one policy")) {
		_, step, numbered := strings.Cut(line, ". `")
		if !numbered {
			continue
		}
		steps++
		if name, _, _ := strings.Cut(step, "`"); !there[name] {
			t.Errorf("%s is not there, which this step names: %s", name, line)
		}
	}
	if steps < 6 || steps > 12 {
		t.Errorf("%d steps", steps)
	}
}

// qualified is the name of a function, that of a method with its type.
func qualified(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return receiver(f) + "." + f.Name.Name
}

// TestPackageTable: the table of packages has the packages, in the order of layers, and says which
// are of the core.
func TestPackageTable(t *testing.T) {
	var listed []string
	for line := range strings.Lines(section(t, "## Packages")) {
		name, ok := strings.CutPrefix(line, "| `pkg/")
		if !ok {
			continue
		}
		cells := strings.Split(name, "|")
		name = strings.Trim(cells[0], " `")
		listed = append(listed, name)
		if isCore := strings.TrimSpace(cells[3]) == "yes"; isCore != slices.Contains(core, name) {
			t.Errorf("%s: its last column does not say whether it is of the core", name)
		}
	}
	if !slices.Equal(listed, layers) {
		t.Errorf("the page lists %v, and the rule %v", listed, layers)
	}
}

// section is the part of docs/architecture.md under a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("the section %q is gone", heading)
	}
	out, _, _ := strings.Cut(rest, "\n## ")
	return out
}
