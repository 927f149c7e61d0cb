package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	mostMethods = 30 // of a type
	mostNames   = 60 // that a package exports, methods and fields not counted
)

// reason is how the comment of a package says why it exports more: these words, and what follows.
var reason = regexp.MustCompile(`exports more than 60 names\W+\w+ \w+`)

// TestSizes: no type under pkg or plugins has more methods, and no package exports more names, than one can keep in mind.
func TestSizes(t *testing.T) {
	large := tooLarge(sources(t))
	for _, what := range slices.Sorted(maps.Keys(large)) {
		t.Error(what + " " + large[what])
	}
}

// tooLarge says of types and packages how large they are, if that is too large.
func tooLarge(files []source) map[string]string {
	methods, names, explained := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, s := range files {
		if !s.in("pkg") && !s.in("plugins") {
			continue
		}
		dir := s.dir()
		if s.file.Doc != nil && reason.MatchString(strings.Join(strings.Fields(s.file.Doc.Text()), " ")) {
			explained[dir] = true
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[dir+"."+receiver(f)]++
				continue
			}
			for _, name := range declared(d) {
				if name.IsExported() {
					names[dir]++
				}
			}
		}
	}
	out := map[string]string{}
	for what, n := range methods {
		if n > mostMethods {
			out[what] = fmt.Sprintf("has %d methods; at most %d are allowed", n, mostMethods)
		}
	}
	for what, n := range names {
		if n > mostNames && !explained[what] {
			out[what] = fmt.Sprintf("exports %d names; more than %d need a reason in the package comment: \"%s exports more than 60 names: …\"", n, mostNames, path.Base(what))
		}
	}
	return out
}

// receiver is the name of a method's type, without its type parameters.
func receiver(f *ast.FuncDecl) string {
	for at := f.Recv.List[0].Type; ; {
		switch t := at.(type) {
		case *ast.StarExpr:
			at = t.X
		case *ast.IndexExpr:
			at = t.X
		case *ast.IndexListExpr:
			at = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// declared are the names that a declaration at the top of a file makes.
func declared(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		var out []*ast.Ident
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				out = append(out, spec.Name)
			case *ast.ValueSpec:
				out = append(out, spec.Names...)
			}
		}
		return out
	}
	return nil
}

func TestTooLarge(t *testing.T) {
	many := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line+"\n", i)
		}
		return b.String()
	}
	const why = "// Package acme makes everything. It exports more than 60\n// names because users write most of them.\n"
	for _, c := range []struct{ name, path, text, want string }{
		{"a large type", "pkg/acme/a.go", "package acme\n" + many(31, "func (t *box[T]) m%d() {}"), "pkg/acme.box has 31 methods"},
		{"as large as allowed", "pkg/acme/a.go", "package acme\n" + many(30, "func (t box) m%d() {}") + many(15, "func F%d() {}\nvar A%[1]d, B%[1]d int\ntype T%[1]d int\ntype t%[1]d int"), ""},
		{"a large package", "plugins/acme/a.go", "package acme\nconst (\n" + many(61, "C%d = 1") + ")\n", "plugins/acme exports 61 names"},
		{"with a reason", "pkg/acme/doc.go", why + "package acme\nconst (\n" + many(61, "C%d = 1") + ")\n", ""},
		{"elsewhere", "internal/acme/a.go", "package acme\nconst (\n" + many(61, "C%d = 1") + ")\n", ""},
	} {
		s, err := parse(c.path, c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for what, size := range tooLarge([]source{s}) {
			got += what + " " + size
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
