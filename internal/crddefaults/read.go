package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is a default: where it stands below an object's root, and its YAML.
type value struct {
	path string // * is every entry of a list or a map
	text string
}

// definition is the part of a CustomResourceDefinition that is read.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Kind string }
		Versions []struct {
			Storage bool
			Schema  struct {
				OpenAPIV3Schema schema `yaml:"openAPIV3Schema"`
			}
		}
	}
}

type schema struct {
	Default    yaml.Node
	Properties map[string]schema
	Items      *schema
	Additional yaml.Node `yaml:"additionalProperties"`
}

// readFolder reads the definitions of a folder: the defaults of each kind, by KIND.GROUP.
func readFolder(folder string) (map[string][]value, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no definitions in %s", folder)
	}
	out := map[string][]value{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		kind, values, err := read(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out[kind] = values
	}
	return out, nil
}

// read reads one definition. Lines that only a template engine reads are left out.
func read(text []byte) (kind string, values []value, err error) {
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "{{") {
			lines = append(lines, line)
		}
	}
	var d definition
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "")), &d); err != nil {
		return "", nil, err
	}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			spec := v.Schema.OpenAPIV3Schema.Properties["spec"]
			values, err = spec.walk("spec", nil)
		}
	}
	sort.Slice(values, func(i, j int) bool { return values[i].path < values[j].path })
	return d.Spec.Names.Kind + "." + d.Spec.Group, values, err
}

// walk collects the defaults at a path and below it.
func (s schema) walk(path string, out []value) ([]value, error) {
	if !s.Default.IsZero() {
		s.Default.Style = yaml.FlowStyle
		text, err := yaml.Marshal(&s.Default)
		if err != nil {
			return nil, err
		}
		out = append(out, value{path, strings.TrimSpace(string(text))})
	}
	var err error
	for name, field := range s.Properties {
		if out, err = field.walk(path+"."+name, out); err != nil {
			return nil, err
		}
	}
	if s.Items != nil {
		if out, err = s.Items.walk(path+".*", out); err != nil {
			return nil, err
		}
	}
	if s.Additional.Kind == yaml.MappingNode {
		var entries schema
		if err := s.Additional.Decode(&entries); err != nil {
			return nil, err
		}
		return entries.walk(path+".*", out)
	}
	return out, nil
}

// filled is a kinds.yaml in which the defaults of every kind that has a definition are those of
// that, those of a whole object before those of its fields, as the API server fills them in.
// Nothing else of the text changes.
func filled(text []byte, definitions map[string][]value) []byte {
	docs := strings.Split(string(text), "\n---\n")
	for i, doc := range docs {
		kind := ""
		for line := range strings.Lines(doc) {
			if rest, found := strings.CutPrefix(line, "for: "); found {
				kind = strings.TrimSpace(rest)
			}
		}
		values, known := definitions[kind]
		if !known {
			continue
		}
		docs[i] = replaced(doc, values)
	}
	return []byte(strings.Join(docs, "\n---\n"))
}

// replaced is a document with other defaults: in the place of those that it has, else before its
// variants, else at the end.
func replaced(doc string, values []value) string {
	block := ""
	if len(values) > 0 {
		block = "defaults:\n"
		for _, v := range values {
			block += "- {path: " + v.path + ", value: " + v.text + "}\n"
		}
	}
	var before, after strings.Builder
	into, inside, placed := &before, false, false
	for line := range strings.Lines(strings.TrimSuffix(doc, "\n") + "\n") {
		switch top := line[0] != ' ' && line[0] != '-' && line[0] != '\n'; {
		case strings.HasPrefix(line, "defaults:"):
			inside, placed, into = true, true, &after
			continue
		case inside && !top:
			continue
		case !placed && strings.HasPrefix(line, "variants:"):
			placed, into = true, &after
		}
		inside = false
		into.WriteString(line)
	}
	out := before.String() + block + after.String()
	if !strings.HasSuffix(doc, "\n") {
		out = strings.TrimSuffix(out, "\n")
	}
	return out
}
