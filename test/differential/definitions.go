package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
	"sigs.k8s.io/yaml"
)

// definitionsFile says where definitions are.
const definitionsFile = "definitions.txt"

// definition is a CustomResourceDefinition: what objects of its kind say, and its text.
type definition struct {
	version, kind string // the stored version, as apiVersion has it
	schema        object // of the whole object
	text          string
}

// definitions are those of all vendors, in the order of the file. Their modules are downloaded when they are first asked for.
var definitions = sync.OnceValues(func() ([]definition, error) {
	text, err := os.ReadFile(definitionsFile)
	if err != nil {
		return nil, err
	}
	var out []definition
	for line := range strings.Lines(string(text)) {
		module, folder, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || module == "#" {
			continue
		}
		more, err := definitionsOf(module, folder)
		if err != nil {
			return nil, fmt.Errorf("definitions of %s: %w", module, err)
		}
		out = append(out, more...)
	}
	return out, nil
})

// definitionsOf reads the YAML files of a folder of a module.
func definitionsOf(module, folder string) ([]definition, error) {
	at, err := program.Download(context.Background(), os.TempDir(), module) // outside of this module, which does not need the other one
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(at.Dir, folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no files in %s: %w", folder, err)
	}
	slices.Sort(files)
	var out []definition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for doc := range strings.SplitSeq(plain(string(text)), "\n---\n") {
			if d, ok, err := readDefinition(doc); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			} else if ok {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// plain is a text without the lines that only a template engine reads.
func plain(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "{{") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// readDefinition reads one document. One that is no definition is passed over.
func readDefinition(doc string) (definition, bool, error) {
	var crd struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name    string
				Storage bool
				Schema  struct {
					OpenAPIV3Schema object `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(doc), &crd); err != nil {
		return definition{}, false, err
	}
	if crd.Kind != "CustomResourceDefinition" {
		return definition{}, false, nil
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return definition{version: crd.Spec.Group + "/" + v.Name, kind: crd.Spec.Names.Kind, schema: v.Schema.OpenAPIV3Schema, text: doc}, true, nil
		}
	}
	return definition{}, false, fmt.Errorf("%s has no stored version", crd.Spec.Names.Kind)
}
