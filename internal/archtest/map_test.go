package archtest

import (
	"go/ast"
	"go/token"
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

// TestMapNamesFiles: every file of Go that docs/architecture.md names where it says where to make a change is there. A name without a folder is
// a file beside the one before it.
func TestMapNamesFiles(t *testing.T) {
	named := 0
	for row := range strings.Lines(section(t, "## Where to make a change")) {
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

// TestWalkNamesFunctions: every step of the walk on the page names one function first, and it is there.
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

// TestPackageTable: the table of packages has the packages, in the order of layers, with what they import and whether they are of the core.
func TestPackageTable(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if from := layer(s.path); from >= 0 {
			s.imports(func(pkg string, _ token.Pos) {
				if target, ok := own(pkg); ok && layer(target) != from {
					imports[layers[from]] = append(imports[layers[from]], layers[layer(target)])
				}
			})
		}
	}
	var listed []string
	for line := range strings.Lines(section(t, "## Packages")) {
		name, ok := strings.CutPrefix(line, "| `pkg/")
		if !ok {
			continue
		}
		cells := strings.Split(name, "|")
		name = strings.Trim(cells[0], " `")
		listed = append(listed, name)
		said, _, _ := strings.Cut(strings.TrimSpace(cells[1]), ", and nothing but")
		if want := importText(imports[name], layers[:len(listed)-1]); said != want {
			t.Errorf("%s imports %s, and the page says %s", name, want, said)
		}
		if inCore := strings.TrimSpace(cells[3]) == "no"; inCore != slices.Contains(core, name) {
			t.Errorf("%s: its last column does not say whether it is of the core", name)
		}
	}
	if !slices.Equal(listed, layers) {
		t.Errorf("the page lists %v, and the rule %v", listed, layers)
	}
}

// importText is what the table says of the imports of a package below others.
func importText(imported, above []string) string {
	var in, out []string
	for _, name := range above {
		if slices.Contains(imported, name) {
			in = append(in, name)
		} else {
			out = append(out, name)
		}
	}
	switch {
	case len(in) == 0:
		return "nothing"
	case len(in) > 10:
		return "all of the above but " + strings.Join(out, ", ")
	}
	return strings.Join(in, ", ")
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
