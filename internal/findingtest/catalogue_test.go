package findingtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
)

// TestCatalogueIsComplete: the catalogue documents the codes that the program has, and no others.
func TestCatalogueIsComplete(t *testing.T) {
	codes := codes(t)
	if len(codes) < 40 {
		t.Fatalf("only %d codes found: does the test still look where they are?", len(codes))
	}
	var documented []string
	for _, r := range check.Catalogue() {
		if slices.Contains(documented, r.ID) {
			t.Errorf("%s is documented twice", r.ID)
		}
		documented = append(documented, r.ID)
		if !slices.Contains(codes, r.ID) {
			t.Errorf("%s is documented and nowhere reported", r.ID)
		}
		if len(r.Severities) == 0 || r.Summary == "" || r.Fix == "" || strings.HasSuffix(r.Summary, ".") || strings.HasSuffix(r.Fix, ".") {
			t.Errorf("%s: severities %v, summary %q, fix %q", r.ID, r.Severities, r.Summary, r.Fix)
		}
	}
	for _, code := range codes {
		if !slices.Contains(documented, code) {
			t.Errorf("%s is not documented", code)
		}
	}
}

// codes are the constants of type Code of the program, and the texts that stand where one is wanted.
func codes(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, root := range []string{"../../pkg", "../../plugins"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				out = append(out, codesIn(n)...)
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// codesIn are the codes that a declaration, a conversion or a field of a literal states.
func codesIn(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.ValueSpec:
		if values := texts(n.Values...); named(n.Type, "Code") || len(values) == 1 && values[0] == n.Names[0].Name && strings.HasPrefix(values[0], "Requirement") {
			return values
		}
	case *ast.CallExpr:
		if named(n.Fun, "Code") {
			return texts(n.Args...)
		}
	case *ast.KeyValueExpr:
		if named(n.Key, "Code") {
			return texts(n.Value)
		}
	}
	return nil
}

func named(e ast.Expr, name string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == name
	case *ast.SelectorExpr:
		return e.Sel.Name == name
	}
	return false
}

func texts(values ...ast.Expr) []string {
	var out []string
	for _, v := range values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
	}
	return out
}
