package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// module is the path that the module's packages begin with.
const module = "github.com/dopolicy/kubectl-dopolicy/"

// sources reads what Go files say about types: their comments, and the constants that there are of
// them.
type sources struct {
	root      string // folder of the module
	read      map[string]bool
	comments  map[string]string // of types and fields, by package/Type and package/Type.Field
	constants map[string][]string
}

func newSources() (*sources, error) {
	root, err := moduleRoot()
	return &sources{root, map[string]bool{}, map[string]string{}, map[string][]string{}}, err
}

// comment is that of a type or, if field is not "", of one of its fields.
func (s *sources) comment(t reflect.Type, field string) (string, error) {
	at := t.PkgPath() + "/" + t.Name()
	if field != "" {
		at += "." + field
	}
	err := s.load(t.PkgPath())
	return s.comments[at], err
}

// words are the texts of the constants of a type, as they are declared.
func (s *sources) words(t reflect.Type) ([]string, error) {
	err := s.load(t.PkgPath())
	return s.constants[t.PkgPath()+"/"+t.Name()], err
}

// load reads the files of a package once.
func (s *sources) load(pkg string) error {
	if s.read[pkg] {
		return nil
	}
	s.read[pkg] = true
	files, err := filepath.Glob(filepath.Join(s.root, strings.TrimPrefix(pkg, module), "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				s.declared(pkg+"/", d)
			}
		}
	}
	return nil
}

// declared notes the structs and the constants of a declaration.
func (s *sources) declared(pkg string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.comments[pkg+spec.Name.Name] = sentence(d.Doc, spec.Doc)
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						s.comments[pkg+spec.Name.Name+"."+name.Name] = sentence(f.Doc, f.Comment)
					}
				}
			}
		case *ast.ValueSpec:
			of, ok := spec.Type.(*ast.Ident)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if word, err := strconv.Unquote(lit.Value); err == nil {
						s.constants[pkg+of.Name] = append(s.constants[pkg+of.Name], word)
					}
				}
			}
		}
	}
}

// sentence is what comments say, in one line.
func sentence(groups ...*ast.CommentGroup) string {
	var words []string
	for _, g := range groups {
		words = append(words, strings.Fields(g.Text())...)
	}
	return strings.Join(words, " ")
}
