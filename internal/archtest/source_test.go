package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/dopolicy/kubectl-dopolicy"

// source is one non-test Go file; its path is relative to the root of the module, with slashes.
type source struct {
	path string
	text string
	set  *token.FileSet
	file *ast.File
}

// breach is one broken rule at one place.
type breach struct {
	path string
	line int
	what string
}

func (b breach) String() string { return fmt.Sprintf("%s:%d: %s", b.path, b.line, b.what) }

// check finds what one file does against one rule.
type check func(source) []breach

func parse(path, text string) (source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{path: path, text: text, set: set, file: file}, err
}

func (s source) line(pos token.Pos) int { return s.set.Position(pos).Line }

func (s source) at(pos token.Pos, format string, args ...any) breach {
	return breach{s.path, s.line(pos), fmt.Sprintf(format, args...)}
}

// dir is the folder of s, relative to the root of the module.
func (s source) dir() string { return path.Dir(s.path) }

// in reports whether s lies in the folder or below it.
func (s source) in(folder string) bool { return strings.HasPrefix(s.path, folder+"/") }

// imports calls f with the path of everything that s imports.
func (s source) imports(f func(pkg string, pos token.Pos)) {
	for _, spec := range s.file.Imports {
		if pkg, err := strconv.Unquote(spec.Path.Value); err == nil {
			f(pkg, spec.Pos())
		}
	}
}

// selectors calls f with the package path and the name of every selector on an imported package,
// such as "os" and "Exit".
func (s source) selectors(f func(pkg, name string, pos token.Pos)) {
	byName := map[string]string{}
	for _, spec := range s.file.Imports {
		pkg, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(pkg)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		byName[name] = pkg
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && byName[x.Name] != "" {
				f(byName[x.Name], sel.Sel.Name, sel.Pos())
			}
		}
		return true
	})
}

// sources parses every non-test Go file of the module. Folders that the go command ignores, and
// nested modules, are left out.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skip(root, name, d)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(rel), string(text))
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func skip(root, name string, d fs.DirEntry) error {
	if name == root {
		return nil
	}
	if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
