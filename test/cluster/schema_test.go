package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
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
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}
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
              once: {type: string, maxLength: 400, x-kubernetes-validations: [{rule: "oldSelf.hasValue() || self.size() < 10", optionalOldSelf: true, message: too long at first}]}
              templates: {type: array, maxItems: 30, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "self.metadata.name != '' && self.kind != 'List'"}]}}
              replicas: {x-kubernetes-preserve-unknown-fields: true}
              both: {type: array, maxItems: 20, items: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}, additionalProperties: {type: string}}
              rows:
                type: array
                maxItems: 1000
                items:
                  type: string
                  maxLength: 1000
                  x-kubernetes-validations: # that cost a lot
                  - {rule: "(self + self + self + self + self + self).size() >= 0"}
                  - {rule: "(self + self + self + self + self + self).size() >= 1"}
                  - {rule: "(self + self + self + self + self + self).size() >= 2"}
                  - {rule: "(self + self + self + self + self + self).size() >= 3"}
                  - {rule: "(self + self + self + self + self + self).size() >= 4"}
                  - {rule: "(self + self + self + self + self + self).size() >= 5"}
          status: {type: object, properties: {ready: {type: boolean}, replicas: {x-kubernetes-preserve-unknown-fields: true}, selector: {x-kubernetes-preserve-unknown-fields: true}}}
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
  once: x
  templates: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {a: b}}}]
  replicas: 3
  both: [1]
  rows: [a, b]
status: {ready: true, replicas: 2, selector: a=b}
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

// metadatas are what some objects have beside their names.
var metadatas = []map[string]any{
	{"labels": map[string]any{"a": "not a label"}}, {"labels": map[string]any{"not a label": "a"}},
	{"labels": map[string]any{"a": int64(1)}}, {"labels": nil},
	{"annotations": map[string]any{"a/b/c": "d"}}, {"annotations": map[string]any{"a": "b"}}, {"annotations": []any{}},
	{"unknown": "x"}, {"label": map[string]any{"a": "b"}},
	{"finalizers": []any{"a b"}}, {"finalizers": "a"}, {"generation": int64(-1)}, {"generateName": "A_"},
	{"deletionGracePeriodSeconds": int64(-1)},
	{"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}}},
	{"ownerReferences": []any{map[string]any{"unknown": "x"}}},
	{"managedFields": []any{map[string]any{"manager": "x", "operation": "y"}}}, {"creationTimestamp": "yesterday"},
	{"creationTimestamp": nil},
}

// TestSchemasAsTheServer: of every object that is tried, what is found is what the API server says when it is to create it, and what is kept is
// what it would store. The objects are the trials with every part changed, and OBJECTS (5000) that are drawn with SEED (1) from the definitions
// that come with the program.
func TestSchemasAsTheServer(t *testing.T) {
	kinds := readReleased(t)
	seed, objects, versions := envNumber(t, "SEED", 1), envNumber(t, "OBJECTS", 5000), countVersions(kinds)
	total := &tally{}
	for first := true; len(kinds) > 0; first = false {
		now, later := storedAlike(kinds)
		j := newJury(t, now, total)
		if first {
			j.compare(variants(t))
			j.compareBudgets()
		}
		j.compareDrawn(newSketches(now, seed), objects*countVersions(now)/versions)
		kinds = later
	}
	t.Logf("%d objects, %d refused, %d with unknown fields, %d judged otherwise than by the server", total.objects,
		total.refused, total.dropping, total.wrong)
	if total.refused < total.objects/10 || total.objects-total.refused < total.objects/10 ||
		total.dropping < total.objects/50 {
		t.Error("too few objects are refused or taken to show anything")
	}
}

func envNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// tally counts objects.
type tally struct{ objects, refused, dropping, wrong int }

// jury compares what the program and a server make of objects.
type jury struct {
	*tally
	t               *testing.T
	trials          []*Trial // each asks on its own
	strict, lenient *schema.Admission
}

// newJury starts a server with the definitions of kinds, and that of the trials.
func newJury(t *testing.T, kinds []releasedKind, total *tally) *jury {
	t.Helper()
	c := Start(t)
	texts := []string{trialDefinition}
	for _, k := range kinds {
		text, err := json.Marshal(k.definition())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if err := c.install(texts); err != nil {
		t.Fatal(err)
	}
	j := &jury{tally: total, t: t}
	for range 4 {
		trial, err := c.trial()
		if err != nil {
			t.Fatal(err)
		}
		j.trials = append(j.trials, trial)
	}
	catalogue, err := plugin.Schemas(plugins.All())
	if err != nil {
		t.Fatal(err)
	}
	newest := map[string]*schema.Release{} // as the server has it; nothing is asked of older ones
	for _, vendor := range catalogue.Vendors() {
		newest[vendor] = catalogue.Releases(vendor)[0]
	}
	o := schema.Options{Catalogue: catalogue, Releases: newest, Definitions: read(t, "crds.yaml",
		trialDefinition).Objects}
	j.strict = schema.NewAdmission(o)
	o.Lenient = true
	j.lenient = schema.NewAdmission(o)
	return j
}

// verdict is what is made of an object: by a server or reader that refuses unknown fields, and by one that drops them.
type verdict struct {
	Unknown  []string // fields, for which the strict one refuses the object
	Messages []string // for which both refuse it
	Strict   bool     // the strict one takes it
	Kept     string   // of the other, without metadata and status; "": it is refused
}

// compare returns which objects the server takes. Their names tell them apart.
func (j *jury) compare(objects []*unstructured.Unstructured) []bool {
	j.t.Helper()
	theirs := make([]verdict, len(objects))
	var wait sync.WaitGroup
	for i, trial := range j.trials {
		wait.Go(func() {
			for k := i; k < len(objects); k += len(j.trials) {
				theirs[k] = j.ask(trial, objects[k])
			}
		})
	}
	ours := j.judge(objects)
	wait.Wait()
	taken := make([]bool, len(objects))
	for i, o := range objects {
		v := theirs[i]
		taken[i] = v.Strict
		j.objects++
		if len(v.Messages) > 0 {
			j.refused++
		}
		if len(v.Unknown) > 0 {
			j.dropping++
		}
		if got := ours[o.GetName()]; !reflect.DeepEqual(got, v) {
			if j.wrong++; j.wrong <= 10 {
				text, _ := json.Marshal(o)
				j.t.Errorf("%s%s", text, got.difference(v))
			}
		}
	}
	return taken
}

// difference is where a verdict is another one.
func (v verdict) difference(from verdict) string {
	var out strings.Builder
	add := func(what string, found, said any) {
		if !reflect.DeepEqual(found, said) {
			fmt.Fprintf(&out, "\n%s: found\n  %v\nthe server:\n  %v", what, found, said)
		}
	}
	add("unknown fields", v.Unknown, from.Unknown)
	add("messages", strings.Join(v.Messages, "\n  "), strings.Join(from.Messages, "\n  "))
	add("taken if strict", v.Strict, from.Strict)
	add("kept", v.Kept, from.Kept)
	return out.String()
}

// ask is the verdict of the server.
func (j *jury) ask(trial *Trial, o *unstructured.Unstructured) (out verdict) {
	stored, messages, err := trial.create(j.t.Context(), o, metav1.FieldValidationWarn)
	if err != nil {
		j.t.Error(err)
	}
	for _, m := range messages {
		if field, ok := strings.CutPrefix(m, "unknown field "); ok {
			out.Unknown = append(out.Unknown, field)
		} else {
			out.Messages = append(out.Messages, m)
		}
	}
	for _, m := range out.Messages {
		if _, said, isBudget := strings.Cut(m, "string\": "); isBudget &&
			strings.Contains(m, "cost budget") { // where, and what was evaluated before, is random
			out.Messages = []string{"Invalid value: " + said}
		}
	}
	if stored != nil {
		out.Kept = content(stored.Object)
	}
	if out.Strict = stored != nil; len(out.Unknown) == 0 {
		return out
	}
	stored, messages, err = trial.create(j.t.Context(), o, metav1.FieldValidationStrict)
	if err != nil {
		j.t.Error(err)
	}
	out.Strict = stored != nil
	for _, field := range out.Unknown { // these come before anything else
		if stored != nil || !strings.Contains(messages[0], "unknown field "+field) {
			j.t.Errorf("the strict server does not refuse %s, but says %q", field, messages)
		}
	}
	return out
}

// compareBudgets compares what the program and the server say of objects whose rules cost about as much as they may.
func (j *jury) compareBudgets() {
	j.t.Helper()
	var objects []*unstructured.Unstructured
	for _, n := range []int{mostRows, mostRows + 1} {
		rows := []any{}
		for i := range n {
			rows = append(rows, fmt.Sprintf("%01000d", i%(n/2))) // each is there twice
		}
		objects = append(objects,
			&unstructured.Unstructured{Object: map[string]any{"apiVersion": "schema.example.com/v1", "kind": "Trial",
				"metadata": map[string]any{"name": fmt.Sprintf("b%d", n),
					"namespace": "default"}, "spec": map[string]any{
					"when": "2024-01-01T00:00:00Z", "rows": rows}}})
	}
	if taken := j.compare(objects); !slices.Equal(taken, []bool{true, false}) {
		j.t.Errorf("of %d rows and one more the server takes: %v", mostRows, taken)
	}
}

// mostRows is how many rows of a thousand bytes the rules of a Trial may be evaluated for.
const mostRows = 830

// content is what counts of an object, as text.
func content(o map[string]any) string {
	o = maps.Clone(o)
	delete(o, "metadata")
	delete(o, "status")
	text, _ := json.Marshal(o)
	return string(text)
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
		u.SetNamespace("default")
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
		for _, metadata := range metadatas {
			o.Object["metadata"] = metadata
			add(o.Object)
		}
	}
	return out
}

// each sets a part, and every part of it, to other values, calls try for each, and puts it back.
func each(v any, set func(any), try func()) {
	for _, other := range []any{nil, "", "a b", strings.Repeat("x", 300), int64(-1), int64(70000), 1.5, 2.0, true,
		[]any{}, map[string]any{}, []any{"a", "a"}, map[string]any{"a": "b"}} {
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

// judge is the verdicts of the program, by the names of the objects.
func (j *jury) judge(objects []*unstructured.Unstructured) map[string]verdict {
	j.t.Helper()
	var lines []string
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			j.t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	in := read(j.t, "in.yaml", strings.Join(lines, "\n---\n"))
	out := map[string]verdict{}
	lenient := j.lenient.Admit(in, nil)
	for _, p := range lenient.Problems {
		switch {
		case p.Code == model.SchemaViolation || p.Code == model.UnknownField:
		case p.Code == model.WrongType: // of the metadata: said beside what the server says
			continue
		default:
			j.t.Errorf("%s: %s", p.Code, p.Message)
			continue
		}
		v := out[p.Ref.Name]
		if field, ok := strings.CutPrefix(p.Message, "unknown field "); ok {
			v.Unknown = append(v.Unknown, strings.TrimSuffix(field, ": the API server drops it"))
		} else {
			v.Messages = append(v.Messages, p.Message)
		}
		out[p.Ref.Name] = v
	}
	for _, o := range lenient.Objects {
		v := out[o.Ref.Name]
		v.Kept = content(o.Body.Value().(map[string]any))
		out[o.Ref.Name] = v
	}
	for _, o := range j.strict.Admit(in, nil).Objects {
		v := out[o.Ref.Name]
		v.Strict = true
		out[o.Ref.Name] = v
	}
	for _, v := range out {
		slices.Sort(v.Unknown)
		slices.Sort(v.Messages)
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
