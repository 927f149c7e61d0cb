package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
)

// What the program of Traefik needs of its module, beside the packages that it imports.
const (
	traefikServer      = "pkg/server/server_entrypoint_tcp.go"
	traefikDefinitions = "integration/fixtures/k8s-gateway/00-experimental-v1.6.1.yml"
	traefikProvider    = "pkg/provider/kubernetes/gateway"
	traefikExtension   = "pkg/config/dynamic/ext"
)

// completeTraefik completes a copy of Traefik's module, in which the program lies in a folder:
//   - the module that Traefik's own builds replace to add fields of theirs, without such fields; the released archive leaves it out;
//   - a function in the package of the provider, whose client is not exported;
//   - what an entry point does to every path, out of a package that cannot be built: it needs modules that no module proxy has;
//   - the CustomResourceDefinitions of the Gateway API that Traefik is tested with.
func completeTraefik(module, program string) error {
	extension := filepath.Join(module, traefikExtension)
	handlers, err := declarations(filepath.Join(module, traefikServer), "denyOpaque", "denyFragment", "normalizePath", "sanitizePath", "unreservedCharacters")
	if err != nil {
		return err
	}
	load, err := os.ReadFile(filepath.Join("translators", "traefik", "gateway", "load.go"))
	if err != nil {
		return err
	}
	definitions, err := os.ReadFile(filepath.Join(module, traefikDefinitions))
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(extension, 0o755),
		os.WriteFile(filepath.Join(extension, "go.mod"), []byte("module github.com/traefik/traefik/dynamic/ext\n\ngo 1.26\n"), 0o644),
		os.WriteFile(filepath.Join(extension, "ext.go"), []byte("package ext\n\ntype HTTP struct{}\n\ntype Router struct{}\n"), 0o644),
		os.WriteFile(filepath.Join(module, traefikProvider, "dopolicy_load.go"), load, 0o644),
		os.WriteFile(filepath.Join(program, "entrypoint.go"), handlers, 0o644),
		os.WriteFile(filepath.Join(program, "definitions.yml"), definitions, 0o644),
	)
}

// declarations is a file of package main with some functions and variables of another file, which may need what is imported here.
func declarations(path string, names ...string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("package main\n\nimport (\n\t\"net/http\"\n\t\"strings\"\n\n\t\"github.com/rs/zerolog/log\"\n)\n")
	found := 0
	for _, d := range file.Decls {
		name := ""
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				name = d.Name.Name
			}
		case *ast.GenDecl:
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok && len(d.Specs) == 1 {
				name = v.Names[0].Name
			}
		}
		if !slices.Contains(names, name) {
			continue
		}
		found++
		out.WriteString("\n")
		if err := format.Node(&out, files, d); err != nil {
			return nil, err
		}
		out.WriteString("\n")
	}
	if found != len(names) {
		return nil, fmt.Errorf("%s has %d of %v", path, found, names)
	}
	return format.Source(out.Bytes())
}
