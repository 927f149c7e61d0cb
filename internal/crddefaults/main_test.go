package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const crd = `{{- if .Values.crds }}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Lamp}
  versions:
  - name: v1
    storage: true
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              watts: {type: integer, default: 40}
              cord: {type: object, default: {length: 2}, properties: {length: {type: integer, default: 1}}}
              bulbs: {type: array, items: {properties: {colour: {type: string, default: ""}}}}
              rooms: {type: object, additionalProperties: {properties: {dim: {type: boolean, default: false}}}}
              hours: {type: array, default: [8, 18], items: {type: integer}}
              labels: {type: object, additionalProperties: true}
{{- end }}
`

const kinds = `kind: Vendor
---
for: Lamp.example.com
rules: ["**"]
defaults:
- {path: spec.gone, value: 1}
checks: [x]
variants: []
---
for: Other.example.com
defaults:
- {path: spec.own, value: 1}
---
for: Lamp.example.com
variants: []
`

const want = `kind: Vendor
---
for: Lamp.example.com
rules: ["**"]
defaults:
- {path: spec.bulbs.*.colour, value: ""}
- {path: spec.cord, value: {length: 2}}
- {path: spec.cord.length, value: 1}
- {path: spec.hours, value: [8, 18]}
- {path: spec.rooms.*.dim, value: false}
- {path: spec.watts, value: 40}
checks: [x]
variants: []
---
for: Other.example.com
defaults:
- {path: spec.own, value: 1}
---
for: Lamp.example.com
defaults:
- {path: spec.bulbs.*.colour, value: ""}
- {path: spec.cord, value: {length: 2}}
- {path: spec.cord.length, value: 1}
- {path: spec.hours, value: [8, 18]}
- {path: spec.rooms.*.dim, value: false}
- {path: spec.watts, value: 40}
variants: []
`

func TestFilled(t *testing.T) {
	kind, values, err := read([]byte(crd))
	if err != nil || kind != "Lamp.example.com" {
		t.Fatal(kind, err)
	}
	got := filled([]byte(kinds), map[string][]value{kind: values})
	if string(got) != want {
		t.Fatalf("%s", got)
	}
	if again := filled(got, map[string][]value{kind: values}); !bytes.Equal(got, again) {
		t.Errorf("a second time:\n%s", again)
	}
}

func TestSource(t *testing.T) {
	got, err := sourceOf(
		[]byte(
			"# A vendor's kinds.\n# defaults: example.com/m@v1.2.0 config/crd Lamp.example.com Shade.example.com\nkind: Vendor\n"))
	if want := (source{"example.com/m@v1.2.0", "config/crd", []string{"Lamp.example.com",
		"Shade.example.com"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := sourceOf([]byte("kind: Vendor\n")); err == nil {
		t.Error("no source is none")
	}
}

// TestFresh: every kinds.yaml that names definitions has their defaults. It needs the module in the
// module cache, and loads nothing.
func TestFresh(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip(err)
	}
	files, _ := filepath.Glob("../../plugins/*/kinds.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		from, err := sourceOf(text)
		if err != nil {
			continue // it names none
		}
		definitions, err := from.read(filepath.Join(strings.TrimSpace(string(cache)), from.module))
		if err != nil {
			t.Skipf("%s is not in the module cache: %v", from.module, err)
		}
		if !bytes.Equal(text, filled(text, definitions)) {
			t.Errorf("%s has not the defaults of %s (make vendor-defaults)", file, from.module)
		}
	}
}
