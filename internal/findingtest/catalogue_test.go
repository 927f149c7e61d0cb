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
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestEveryRuleIsWhole: an id has one rule, which says all that it should, in clauses.
func TestEveryRuleIsWhole(t *testing.T) {
	for i, r := range catalogue {
		if i > 0 && catalogue[i-1].ID == r.ID {
			t.Errorf("%s is documented twice", r.ID)
		}
		if len(r.Severities) == 0 || r.Summary == "" || r.Fix == "" || strings.HasSuffix(r.Summary, ".") ||
			strings.HasSuffix(r.Fix, ".") {
			t.Errorf("%s: severities %v, summary %q, fix %q", r.ID, r.Severities, r.Summary, r.Fix)
		}
	}
}

// TestCatalogueIsComplete: the core documents the codes that it has, a vendor those that it
// declares, and neither any others.
func TestCatalogueIsComplete(t *testing.T) {
	core := slices.DeleteFunc(codes(t, "../../pkg"), func(id string) bool {
		// why a property holds or not; of audit, as check reads no dumps; of a cluster that is not
		// checked; of single requests, which check does not ask
		return gate.Code(id).VerdictOf() != "" || strings.HasPrefix(id, "Dataplane") ||
			id == string(model.ClusterFailed) || id == string(model.ImplementationsDiffer)
	})
	if len(core) < 40 {
		t.Fatalf("only %d codes found: does the test still look where they are?", len(core))
	}
	same(t, "pkg", core, check.NewCatalogue(nil))
	for _, p := range plugins.All() {
		same(t, p.Name, codes(t, filepath.Join("../../plugins", p.Name)), plugin.FindingRules([]plugin.Plugin{p}))
	}
}

// same holds the codes that are declared against those that are documented.
func same(t *testing.T, where string, declared []string, documented check.Catalogue) {
	t.Helper()
	for _, id := range documented.IDs() {
		if !slices.Contains(declared, id) {
			t.Errorf("%s: %s is documented and nowhere declared", where, id)
		}
	}
	for _, id := range declared {
		if _, known := documented.Rule(id); !known {
			t.Errorf("%s: %s is not documented", where, id)
		}
	}
}

// TestNoVendorsCodeInCore: a code that the core has is reported by the core, or by more than one
// vendor.
func TestNoVendorsCodeInCore(t *testing.T) {
	users := map[string][]string{}
	for _, root := range []string{"../../pkg", "../../plugins"} {
		eachNode(t, root, func(file string, n ast.Node) {
			if sel, ok := n.(*ast.SelectorExpr); ok && named(sel.X, "model") &&
				!strings.Contains(file, "/check/catalogue_") {
				user := "pkg"
				if root != "../../pkg" {
					user = filepath.Dir(file)
				}
				users[sel.Sel.Name] = append(users[sel.Sel.Name], user)
			}
		})
	}
	for _, r := range check.NewCatalogue(nil) {
		by := users[string(r.ID)]
		slices.Sort(by)
		if by = slices.Compact(by); len(by) == 0 || len(by) == 1 && by[0] != "pkg" {
			t.Errorf("%s is reported by %v only: it belongs there", r.ID, by)
		}
	}
}

// codes are what the Go files of a folder declare: constants of type Code, and the texts that stand
// where a code or the id of a rule is wanted.
func codes(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	eachNode(t, root, func(file string, n ast.Node) {
		if filepath.Base(filepath.Dir(file)) != "gate" { // whose codes are reasons of verdicts
			out = append(out, codesIn(n)...)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// eachNode visits the syntax of the Go files of a folder, tests aside.
func eachNode(t *testing.T, root string, visit func(file string, n ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			visit(name, n)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// codesIn are the codes that a declaration, a conversion or a literal states.
func codesIn(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.ValueSpec:
		if values := texts(n.Values...); named(n.Type, "Code") || len(values) == 1 && values[0] == n.Names[0].Name &&
			strings.HasPrefix(values[0], "Requirement") {
			return values
		}
	case *ast.CallExpr:
		if named(n.Fun, "Code") {
			return texts(n.Args...)
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok && (named(pair.Key, "Code") || named(n.Type, "Rule") &&
				named(pair.Key, "ID")) {
				return texts(pair.Value)
			}
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
