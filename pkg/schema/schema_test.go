package schema_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// head opens a definition of the kind Thing; what follows is the schema of its spec, by twelve
// spaces.
const head = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1alpha1, served: false, storage: false}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, default: {}, properties: {ready: {type: boolean}}}
          spec:
            type: object
`

const thing = `---
apiVersion: example.com/v1
kind: Thing
metadata: {name: a, namespace: n}
`

// read writes manifests to a file and reads it.
func read(t testing.TB, text string) *model.Snapshot {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := load.Files(context.Background(), load.Options{Paths: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// said is what is found, a line each: the code, the line of its place as one of text, the message,
// and the hint behind a bar.
func said(text string, found []model.Problem) string {
	lines := strings.Split(text, "\n")
	var out strings.Builder
	for _, p := range found {
		at := "?"
		if p.Origin != nil && p.Origin.Line > 0 {
			at = strings.TrimSpace(lines[p.Origin.Line-1])
		}
		fmt.Fprintf(&out, "%s at %q: %s\n", p.Code, at, p.Message)
	}
	return out.String()
}

// problems returns what is found of an input, with what is not judged.
func problems(in *model.Snapshot, further []*model.Object, steps int) []model.Problem {
	a := schema.NewAdmission(schema.Options{Lenient: true, Definitions: further, Steps: steps})
	found := append(a.Admit(in, nil).Problems, a.Unjudged(in, func(model.GroupKind) bool { return false })...)
	return model.SortProblems(slices.DeleteFunc(found, func(p model.Problem) bool {
		return slices.ContainsFunc(in.Problems, func(q model.Problem) bool {
			return q.Code == p.Code && q.Message == p.Message && model.ComparePointers(q.Ref, p.Ref,
				model.Ref.Compare) == 0
		})
	}))
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct{ name, schema, objects, want string }{
		{"nothing is wrong", `            properties: {a: {type: string}}
`, thing + "spec: {a: b}\n", ""},
		{"values", `            required: [a, z]
            properties: {a: {type: string, enum: [x, y]}, b: {type: integer, minimum: 3}, c: {type: string, pattern: "^c+$"}}
`, thing + "spec:\n  a: b\n  b: 2\n  c: d\n", `SchemaViolation at "a: b": spec.a: Unsupported value: "b": supported values: "x", "y"
SchemaViolation at "b: 2": spec.b: Invalid value: 2: spec.b in body should be greater than or equal to 3
SchemaViolation at "c: d": spec.c: Invalid value: "d": spec.c in body should match '^c+$'
SchemaViolation at "spec:": spec.z: Required value
`},
		{"types", `            properties: {a: {type: integer}, b: {type: integer}, c: {type: number}, d: {x-kubernetes-int-or-string: true}, e: {x-kubernetes-int-or-string: true}}
`, thing + "spec:\n  a: 1.0\n  b: 1.5\n  c: 2\n  d: 3\n  e: true\n", `SchemaViolation at "b: 1.5": spec.b: Invalid value: "number": spec.b in body must be of type integer: "number"
SchemaViolation at "e: true": spec.e: Invalid value: "boolean": spec.e in body must be of type integer,string: "boolean"
`},
		{"formats", `            properties: {a: {type: string, format: date-time}, b: {type: string, format: ipv4}, c: {type: string, format: ipv4}, d: {type: string, format: not-known}}
`, thing + "spec: {a: \"2020-01-01T00:00:00Z\", b: 10.0.0.1, c: ten, d: d}\n",
			`SchemaViolation at "spec: {a: \"2020-01-01T00:00:00Z\", b: 10.0.0.1, c: ten, d: d}": spec.c: Invalid value: "ten": spec.c in body must be of type ipv4: "ten"` + "\n"},
		{"unknown fields", `            properties:
              names: {type: array, items: {type: object, properties: {name: {type: string}}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              more: {type: object, additionalProperties: {type: object, properties: {ok: {type: boolean}}}}
`, thing + "extra: 1\nspec:\n  names:\n  - name: x\n  - nam: y\n  free: {a: b}\n  more:\n    a.b:\n      okay: true\n", `UnknownField at "extra: 1": unknown field "extra": the API server drops it
UnknownField at "okay: true": unknown field "spec.more.a.b.okay": the API server drops it
UnknownField at "- nam: y": unknown field "spec.names[1].nam": the API server drops it
`},
		{"a field of the metadata", `            properties: {}
`, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n  label: {a: b}\nspec: {}\n", `UnknownField at "label: {a: b}": unknown field "metadata.label": the API server drops it` + "\n"},
		{"the metadata", `            properties: {}
`, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: A_\n  labels:\n    a: no spaces\nspec: {}\n",
			`SchemaViolation at "labels:": metadata.labels: Invalid value: "no spaces": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
SchemaViolation at "name: A_": metadata.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
`},
		{"a name that is generated", `            properties: {}
`, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {generateName: a-}\nspec: {}\n", ""},
		{"metadata that cannot be read", `            properties: {}
`, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n  finalizers: x\n",
			`SchemaViolation at "metadata:": json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string` + "\n"},
		{"metadata that the API server sets itself", `            properties: {}
`, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, generation: -1}\n", ""},
		{"a status is dropped, once its fields are known", `            properties: {}
`, thing + "spec: {}\nstatus: {ready: 7, more: 1}\n", `UnknownField at "status: {ready: 7, more: 1}": unknown field "status.more": the API server drops it` + "\n"},
		{"a default of the status is dropped as well", `            properties: {}
        x-kubernetes-validations: [{rule: "!has(self.status)", message: there is a status}]
`, thing + "spec: {}\n", ""},
		{"a status that has to be there and is dropped", `            properties: {}
        required: [status]
`, thing + "spec: {}\nstatus: {ready: true}\n", `SchemaViolation at "status: {ready: true}": status: Required value` + "\n"},
		{"rules see defaults", `            x-kubernetes-validations: [{rule: "self.a < self.b", message: a is less than b}]
            properties: {a: {type: integer}, b: {type: integer, default: 5}}
`, thing + "spec: {a: 7}\n", `SchemaViolation at "spec: {a: 7}": spec: Invalid value: a is less than b` + "\n"},
		{"rules of entries", `            properties:
              l:
                type: array
                items: {type: object, x-kubernetes-validations: [{rule: "self.a != 'x'", message: not x, fieldPath: .a}], properties: {a: {type: string}}}
`, thing + "spec:\n  l:\n  - a: y\n  -\n    a: x\n", `SchemaViolation at "a: x": spec.l[1].a: Invalid value: not x` + "\n"},
		{"rules of entries beside a schema for other fields", `            properties:
              l:
                type: array
                items: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}
                additionalProperties: {type: string}
`, thing + "spec: {l: [-1]}\n", `SchemaViolation at "spec: {l: [-1]}": spec.l[0]: Invalid value: -1: failed rule: self > 0` + "\n"},
		{"a rule at the root", `            properties: {}
          x: {type: string}
        x-kubernetes-validations: [{rule: "self.metadata.name != 'a'", message: no a}]
`, thing + "spec: {}\n", `SchemaViolation at "apiVersion: example.com/v1": Invalid value: no a` + "\n"},
		{"rules about changes do not count for what is new", `            properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}}
`, thing + "spec: {a: b}\n", ""},
		{"rules wait for the values", `            x-kubernetes-validations: [{rule: "self.a < self.b"}]
            required: [a, b]
            properties: {a: {type: integer}, b: {type: integer}}
`, thing + "spec: {a: 7}\n", `SchemaViolation at "spec: {a: 7}": spec.b: Required value` + "\n"},
		{"lists", `            properties:
              s: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}
`, thing + "spec:\n  s: [a, b, a]\n  m:\n  - k: x\n  - k: x\n", `SchemaViolation at "- k: x": spec.m[1]: Duplicate value: {"k":"x"}
SchemaViolation at "s: [a, b, a]": spec.s[2]: Duplicate value: "a"
`},
		{"null where null may not be is left out", `            properties: {a: {type: string}, b: {type: string, default: x}}
`, thing + "spec: {a: null, b: null}\n", ""},
		{"too costly", `            properties:
              l:
                type: array
                items: {type: integer}
                x-kubernetes-validations: [{rule: "self.all(a, self.all(b, self.all(c, a + b + c < 9)))"}]
`, thing + "spec: {l: [" + strings.Repeat("1, ", 999) + "1]}\n", `SchemaViolation at "apiVersion: example.com/v1": Invalid value: validation failed due to running out of cost budget, no further validation rules will be run` + "\n"},
		{"a version that is not served", `            properties: {}
`, strings.ReplaceAll(thing, "/v1", "/v1alpha1") + "spec: {}\n", `SchemaViolation at "apiVersion: example.com/v1alpha1": Thing.example.com is not served in version "v1alpha1"` + "\n"},
		{"a rule that does not compile", `            properties: {l: {type: array, items: {type: object, x-kubernetes-validations: [{rule: "self.b == 'x'"}], properties: {a: {type: string}}}}}
`, thing + "spec: {l: [{a: 7}]}\n" + strings.ReplaceAll(thing, "name: a", "name: b") + "spec: {l: [{a: a}, {a: b}]}\n", `SchemaViolation at "spec: {l: [{a: 7}]}": spec.l[0].a: Invalid value: "integer": spec.l[0].a in body must be of type string: "integer"
InvalidSchema at "- name: v1": version v1: spec.l[*]: rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'b'
`},
		{"not structural", `            properties: {a: {anyOf: [{type: string}]}}
`, thing + "spec: {a: 7}\n", `InvalidSchema at "- name: v1": version v1: its schema is not structural: [spec.versions[v1].schema.openAPIV3Schema.properties[spec].properties[a].anyOf[0].type: Forbidden: must be empty to be structural, spec.versions[v1].schema.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields]` + "\n"},
		{"no schema", `            properties: {}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Other, plural: others}, versions: [{name: v1, served: true, storage: true}]}
`, "---\napiVersion: example.com/v1\nkind: Other\nmetadata: {name: a}\n", `InvalidSchema at "spec: {group: example.com, scope: Cluster, names: {kind: Other, plural: others}, versions: [{name: v1, served: true, storage: true}]}": version v1: it has no schema` + "\n"},
		{"other kinds", `            properties: {}
`, "---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a}\n" +
			"---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: HTTPRoute\nmetadata: {name: b}\n",
			`NoSchema at "apiVersion: gateway.networking.k8s.io/v1": cannot validate 2 objects: no schema for HTTPRoute.gateway.networking.k8s.io` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := head + c.schema + c.objects
			in := read(t, text)
			times := 3 // maps are walked in another order every time
			if c.name == "too costly" {
				times = 1
			}
			for range times {
				if got := said(text, problems(in, nil, 0)); got != c.want {
					t.Fatalf("got:\n%s\nwant:\n%s", got, c.want)
				}
			}
		})
	}
}

func TestSchemasOfWhatScales(t *testing.T) {
	scaled := strings.Replace(head, "subresources: {status: {}}", "subresources: {scale: {specReplicasPath: .spec.n, "+
		"statusReplicasPath: .status.n, labelSelectorPath: .status.selector}}", 1) +
		"            x-kubernetes-preserve-unknown-fields: true\n"
	scaled = strings.Replace(scaled, "{ready: {type: boolean}}",
		"{selector: {x-kubernetes-preserve-unknown-fields: true}}", 1)
	for object, want := range map[string]string{
		"spec: {n: 1}\nstatus: {selector: a=b}\n": "",
		"spec: {n: -1}\n":                         `SchemaViolation at "spec: {n: -1}": .spec.n: Invalid value: -1: should be a non-negative integer` + "\n",
		"spec: {n: 4294967296}\n":                 `SchemaViolation at "spec: {n: 4294967296}": .spec.n: Invalid value: 4294967296: should be less than or equal to 2147483647` + "\n",
		"status: {selector: 7}\n":                 `SchemaViolation at "status: {selector: 7}": .status.selector: Invalid value: "": .status.selector accessor error: 7 is of the type int64, expected string` + "\n",
		"spec: {n: one}\n":                        `SchemaViolation at "spec: {n: one}": .spec.n: Invalid value: 0: .spec.n accessor error: one is of the type string, expected int64` + "\n",
		"spec: {}\nstatus: null\n":                "",
	} {
		if got := said(scaled+thing+object, problems(read(t, scaled+thing+object), nil, 0)); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
}

func TestSchemasOfOldDefinitions(t *testing.T) {
	for from, to := range map[string]string{"apiextensions.k8s.io/v1": "apiextensions.k8s.io/v1beta1",
		"  group: example.com": "  preserveUnknownFields: true\n  group: example.com"} {
		text := strings.Replace(head, from, to, 1) + "            properties: {a: {type: string}}\n" + thing +
			"spec: {a: 7}\n"
		found := problems(read(t, text), nil, 0)
		if len(found) != 1 || found[0].Code != model.InvalidSchema {
			t.Errorf("%s: %v", to, found)
		}
	}
}

func TestSchemasSayWhatToDo(t *testing.T) {
	text := head +
		"            required: [name]\n            properties: {name: {type: string}}\n            x-kubernetes-validations: [{rule: \"self.name != ''\"}]\n" + thing + "spec: {nam: b}\n"
	found := problems(read(t, text), nil, 0)
	if len(found) != 2 {
		t.Fatalf("%v", found)
	}
	for i, want := range []string{"validation rules are evaluated when this is mended; by version v1 of customresourcedefinition/things.example.com (", "did you mean name?"} {
		if !strings.HasPrefix(found[i].Hint, want) {
			t.Errorf("%q does not begin with %q", found[i].Hint, want)
		}
	}
}

func TestSchemasOfFurtherDefinitions(t *testing.T) {
	strict, loose := head+"            properties: {a: {type: string}}\n", head+
		"            x-kubernetes-preserve-unknown-fields: true\n"
	further := read(t, loose).Objects
	if found := problems(read(t, strict+thing+"spec: {a: 7}\n"), further, 0); len(found) != 1 {
		t.Errorf("the input's own definition does not count: %v", found)
	}
	if found := problems(read(t, thing+"spec: {a: 7}\n"), read(t, strict).Objects, 0); len(found) != 1 {
		t.Errorf("the further definition alone does not count: %v", found)
	}
	if found := problems(read(t, thing+"spec: {a: 7}\n"), nil, 0); found != nil {
		t.Errorf("without definitions: %v", found)
	}
}

func TestSchemasLeaveAloneWhatAClusterHas(t *testing.T) {
	in := read(t, head+"            properties: {a: {type: string}}\n"+thing+"spec: {a: 7}\n"+strings.Replace(thing,
		"name: a", "name: b", 1)+"spec: {a: 7}\n")
	in.Cluster = &model.Cluster{}
	at := slices.IndexFunc(in.Objects, func(o *model.Object) bool { return o.Ref.Name == "b" })
	in.Objects[at].Origin = model.Origin{Cluster: "prod"}
	if found := problems(in, nil, 0); len(found) != 1 || found[0].Ref.Name != "a" {
		t.Errorf("files over a cluster: %v", found)
	}
	if found := problems(in, in.Definitions(), 0); len(found) != 2 || found[1].Code != model.NoSchema {
		t.Errorf("asked for what cannot be done: %v", found)
	}
}

// The validator keeps to the API server's bounds for names of namespaces, whether one is written,
// assumed, or means nothing.
func TestNamespaces(t *testing.T) {
	text := "            properties: {}\n"
	for _, head := range []string{head, strings.Replace(head, "scope: Namespaced", "scope: Cluster", 1)} {
		for _, object := range []string{thing, strings.Replace(thing, ", namespace: n", "", 1)} {
			if found := problems(read(t, head+text+object+"spec: {}\n"), nil, 0); len(found) != 0 {
				t.Error(found)
			}
		}
	}
}
