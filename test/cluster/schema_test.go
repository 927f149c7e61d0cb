package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// trialDefinition has what the schemas of the Gateway API have not.
const trialDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trials.schema.example.com}
spec:
  group: schema.example.com
  scope: Namespaced
  names: {kind: Trial, plural: trials, singular: trial, listKind: TrialList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - {rule: "!has(self.spec.min) || self.spec.min < 100 || self.metadata.name == 'x'", message: too much}
        properties:
          spec:
            type: object
            required: [when]
            x-kubernetes-validations:
            - {rule: "self.min <= self.max", message: min is above max}
            - {rule: "self.tags.size() < 4", messageExpression: "self.max > 3 ? 'too many tags' : 'tags'", reason: FieldValueForbidden, fieldPath: .tags}
            - {rule: "self.min >= oldSelf.min"}
            properties:
              when: {type: string, format: date-time}
              min: {type: integer, format: int32, default: 1}
              max: {type: integer, default: 5, maximum: 50}
              port: {x-kubernetes-int-or-string: true}
              ratio: {type: number, multipleOf: 0.5}
              tags: {type: array, default: [], maxItems: 20, x-kubernetes-list-type: set, items: {type: string, maxLength: 3}}
              entries:
                type: array
                maxItems: 3
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, value: {type: string, nullable: true}, kind: {type: string, default: plain, enum: [plain, other]}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: boolean}}}
              labels: {type: object, maxProperties: 2, additionalProperties: {type: string, pattern: "^[a-z]+$"}}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              either: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}
          status: {type: object, properties: {ready: {type: boolean}}}
`

// trials are objects that a server takes; each is tried with every part of it changed.
const trials = `
apiVersion: schema.example.com/v1
kind: Trial
metadata: {name: x, namespace: default, labels: {a: b}, annotations: {c: d}}
spec:
  when: "2024-01-01T00:00:00Z"
  min: 2
  max: 7
  port: 80
  ratio: 1.5
  tags: [a, b, c]
  entries: [{name: a, value: x}, {name: b, value: null}, {name: c, kind: other}]
  free: {known: true, more: [1, {a: b}]}
  labels: {a.b: c}
  template: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}
  either: {a: x}
status: {ready: true}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: x, namespace: default}
spec:
  gatewayClassName: any
  addresses: [{type: IPAddress, value: 10.0.0.1}]
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {a: b}}}, kinds: [{kind: HTTPRoute}]}}
  - {name: https, port: 443, protocol: HTTPS, tls: {mode: Terminate, certificateRefs: [{name: cert}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: x, namespace: default}
spec:
  parentRefs: [{name: gw, namespace: infra, sectionName: http}]
  hostnames: [a.example.com]
  rules:
  - name: first
    matches: [{path: {type: PathPrefix, value: /a}, headers: [{name: x-a, value: b}, {name: x-b, value: c}], method: GET}]
    filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: a, value: b}]}}, {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}]
    timeouts: {request: 10s, backendRequest: 5s}
    backendRefs: [{name: a, port: 80, weight: 3}, {group: example.com, kind: Thing, name: b}]
  - filters: [{type: RequestRedirect, requestRedirect: {scheme: https, statusCode: 301}}]
`

// TestSchemasAsTheServer: of every object that is tried, what is found is what the API server says when it is to create it.
func TestSchemasAsTheServer(t *testing.T) {
	c := Start(t)
	c.InstallGatewayAPI()
	c.MustApply(trialDefinition)
	trial, err := c.trial()
	if err != nil {
		t.Fatal(err)
	}
	objects := variants(t)
	found := findings(t, objects)
	wrong, refused, dropping := 0, 0, 0
	for _, o := range objects {
		_, server, err := trial.Create(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ours := found[o.GetName()]
		if slices.ContainsFunc(server, func(s string) bool { return !strings.HasPrefix(s, "unknown field") }) {
			refused++
		} else if len(server) > 0 {
			dropping++
		}
		if !slices.Equal(ours, server) {
			if wrong++; wrong <= 20 {
				text, _ := json.Marshal(o)
				t.Errorf("%s\nfound:\n  %s\nthe server says:\n  %s", text, strings.Join(ours, "\n  "), strings.Join(server, "\n  "))
			}
		}
	}
	t.Logf("%d objects, %d refused, %d with unknown fields, %d judged otherwise than by the server", len(objects), refused, dropping, wrong)
	if refused < 100 || dropping < 20 {
		t.Error("too few objects are refused to show anything")
	}
}

// variants are the trials, and every one with one part left out, replaced, or something added to it. Their names tell them apart.
func variants(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	parsed, err := parse(trials)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	add := func(o map[string]any) {
		u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o)}
		u.SetName(fmt.Sprintf("v%d", len(out)))
		out = append(out, u)
	}
	for _, o := range parsed {
		add(o.Object)
		for _, part := range []string{"spec", "status"} {
			if inner, ok := o.Object[part]; ok {
				each(inner, func(v any) { o.Object[part] = v }, func() { add(o.Object) })
			}
		}
		metadata, _ := o.Object["metadata"].(map[string]any)
		metadata["labels"] = map[string]any{"a": "not a label"}
		add(o.Object)
		metadata["labels"], metadata["unknown"] = map[string]any{}, "x"
		add(o.Object)
	}
	return out
}

// each sets a part, and every part of it, to other values, calls try for each, and puts it back.
func each(v any, set func(any), try func()) {
	for _, other := range []any{nil, "", "a b", strings.Repeat("x", 300), int64(-1), int64(70000), 1.5, 2.0, true, []any{}, map[string]any{}, []any{"a", "a"}, map[string]any{"a": "b"}} {
		set(other)
		try()
	}
	set(v)
	switch t := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			inner := t[key]
			delete(t, key)
			try()
			t[key] = inner
			each(inner, func(v any) { t[key] = v }, try)
		}
		t["unknown"] = map[string]any{"a": int64(1)}
		try()
		delete(t, "unknown")
	case []any:
		for i, inner := range t {
			each(inner, func(v any) { t[i] = v }, try)
		}
		if len(t) > 0 {
			set(append(slices.Clone(t), t[0]))
			try()
			set(slices.Repeat(t, 20))
			try()
			set(v)
		}
	}
}

// findings are what is found of objects, by their names: as the server says it.
func findings(t *testing.T, objects []*unstructured.Unstructured) map[string][]string {
	t.Helper()
	texts, err := gatewayDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	definitions := read(t, "crds.yaml", strings.Join(append(texts, trialDefinition), "\n---\n"))
	var lines []string
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	out := map[string][]string{}
	for _, p := range schema.Problems(read(t, "in.yaml", strings.Join(lines, "\n---\n")), definitions.Objects, schema.DefaultSteps) {
		message := strings.TrimSuffix(p.Message, ": the API server drops it")
		out[p.Ref.Name] = append(out[p.Ref.Name], message)
	}
	for _, messages := range out {
		slices.Sort(messages)
	}
	return out
}

func read(t *testing.T, name, text string) *model.Snapshot {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := load.Files(context.Background(), load.Options{Paths: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
