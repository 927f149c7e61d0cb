package load_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestLists(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"List",
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: a, namespace: m}\n- " + indent(loadtest.Thing("b")),
			[]string{"service/m/a stdin:4", "thing/ns/b stdin:7"}},
		{"items take the type of a FooList",
			"apiVersion: example.com/v1\nkind: ThingList\nitems:\n- metadata: {name: a, namespace: m}\n- kind: Other\n  metadata: {name: b, namespace: m}\n",
			[]string{"thing/m/a stdin:4", "error NotAnObject stdin:5: not used: it has no apiVersion (give it one, or leave the file out if it is for another program)"}},
		{"items of a kind that is no list",
			"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nitems:\n- metadata: {name: a, namespace: m}\n- apiVersion: v1\n  kind: Other\n  metadata: {name: b, namespace: m}\n  items: {}\n",
			[]string{"other/m/b stdin:6", "thing/m/a stdin:5"}},
		{"no items", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nitems: null\n",
			[]string{
				"error NotAnObject stdin:4: not used: kubectl takes what has items for a list, and this one is empty (take items out)"}},
		{"lists in lists",
			"kind: List\nitems:\n- kind: List\n  items:\n  - kind: ThingList\n    apiVersion: example.com/v1\n    items:\n    -\n      metadata: {name: a, namespace: m}\n",
			[]string{"thing/m/a stdin:9",
				"error NotAnObject stdin:3: a list within a list: kubectl refuses both (write its items into the outer list)",
				"error NotAnObject stdin:5: a list within a list: kubectl refuses both (write its items into the outer list)"}},
		{"items that are none", "apiVersion: v1\nkind: List\nitems:\n- a\n- null\n- b: 1\n- kind: Service\n- " +
			indent(loadtest.Thing("b")),
			[]string{"thing/ns/b stdin:8",
				"error NotAnObject stdin:6: not used: it has neither apiVersion nor kind (write an object with apiVersion, kind and metadata.name, or remove it)",
				"error NotAnObject stdin:7: not used: it has no apiVersion (give it one, or leave the file out if it is for another program)",
				"error NotAnObject stdin:4: not used: not an object (write an object with apiVersion, kind and metadata.name, or remove it)",
				"error NotAnObject stdin:5: not used: not an object (write an object with apiVersion, kind and metadata.name, or remove it)"}},
		{"items that are no list", "apiVersion: v1\nkind: List\nitems: {a: b}\n",
			[]string{"error WrongType stdin:3: not used: items is not a list (write every object as an entry of a list)"}},
		{"a kind that ends in List", "apiVersion: v1\nkind: AllowList\nmetadata: {name: a, namespace: m}\n",
			[]string{"allowlist/m/a stdin:1"}},
		{"items behind an alias", "apiVersion: v1\nkind: List\nx: &x\n- " + indent(loadtest.Thing("b")) + "items: *x\n",
			[]string{"thing/ns/b stdin:4"}},
		{"items that are merged", "apiVersion: v1\nkind: List\n<<:\n  items:\n  - " +
			strings.ReplaceAll(loadtest.Thing("b"), "\n", "\n    "),
			[]string{"thing/ns/b stdin:5"}},
		{"odd keys belong to their item", "kind: List\non: 1\nitems:\n- " + indent(loadtest.Thing("a")+
			"spec: {y: 1}\n") + "- kind: Thing\n  no: 1\n- " + indent(loadtest.Thing("b")+"spec:\n  n: 1\n"),
			[]string{"thing/ns/a stdin:4", "thing/ns/b stdin:10",
				"error NotAnObject stdin:8: not used: it has no apiVersion (give it one, or leave the file out if it is for another program)",
				`warning WrongType thing/ns/a stdin:7: the key y is taken as text; kubectl reads it as "true" (quote it if it is meant as text: "y")`,
				`warning WrongType thing/ns/b stdin:14: the key n is taken as text; kubectl reads it as "false" (quote it if it is meant as text: "n")`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Same(t, loadtest.Describe(stdin(t, tt.text, load.Limits{})),
				tt.want...)
		})
	}
}

// indent makes a document an item of a list.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

func TestJSON(t *testing.T) {
	object := "{\n\t\"apiVersion\": \"example.com/v1\",\n\t\"kind\": \"Thing\",\n\t\"metadata\": {\"name\": \"a\", \"namespace\": \"ns\"},\n" +
		"\t\"spec\": {\n\t\t\"on\": true,\n\t\t\"text\": \"\\ud83d\\ude00\\t\\/\",\n\t\t\"n\": [1, 1.0, 1.5, 1e3, 18446744073709551616, null, false, \"1\", {}, []]\n\t}\n}\n"
	s := stdin(t, "\n"+object, load.Limits{})
	loadtest.Same(t, loadtest.Describe(s), "thing/ns/a stdin:2")
	want := map[string]any{"on": true, "text": "😀\t/", "n": []any{
		int64(1), int64(1), 1.5, int64(1000), 18446744073709551616.0, nil, false, "1", map[string]any{}, []any{},
	}}
	if got := s.Objects[0].Get("spec"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	if line := s.Objects[0].OriginOf("spec", "n", "8").Line; line != 9 {
		t.Errorf("line %d", line)
	}
	second := strings.Replace(object, `"a"`, `"b"`, 1)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"values one after the other", object + second, []string{"thing/ns/a stdin:1", "thing/ns/b stdin:11"}},
		{"between markers", "---\n" + object + "---\n" + second, []string{"thing/ns/a stdin:2", "thing/ns/b stdin:13",
			"error InvalidYAML stdin:8: kubectl cannot read it, as it reads JSON behind --- as YAML: found invalid Unicode character escape code (write it as YAML, or into a file of its own)",
			"error InvalidYAML stdin:19: kubectl cannot read it, as it reads JSON behind --- as YAML: found invalid Unicode character escape code (write it as YAML, or into a file of its own)"}},
		{"a key written twice", strings.Replace(object, `"text"`, `"on"`, 1),
			[]string{`error InvalidYAML stdin:7: not used: key "on" is written twice, on lines 6 and 7`}},
		{"a broken second value", object + "{\n\"a\": }", []string{"thing/ns/a stdin:1",
			"error InvalidYAML stdin:12: not used: invalid character '}' looking for beginning of value"}},
		{"flow style", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: m}}",
			[]string{"service/m/a stdin:1"}},
		{"almost JSON",
			"{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"a\", \"namespace\": \"m\"},}\n# end\n", []string{"service/m/a stdin:1"}},
		{"a number that is none", `{"a": 1e999}`,
			[]string{"error InvalidYAML stdin:1: not used: a number that JSON cannot express; quote it if it is text"}},
		{"an array", "[\n{\"kind\": \"Service\"}]", []string{
			"warning NotAnObject stdin:1: not used: a list, not an object (write the objects as documents of their own, with --- between them, or as items of kind: List)"}},
		{"list", "{\"kind\": \"ThingList\", \"apiVersion\": \"example.com/v1\", \"items\": [\n" +
			"{\"metadata\": {\"name\": \"a\", \"namespace\": \"m\"}},\n{\"metadata\": {\"name\": \"b\", \"namespace\": \"m\"}}]}",
			[]string{"thing/m/a stdin:2", "thing/m/b stdin:3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Same(t, loadtest.Describe(stdin(t, tt.text, load.Limits{})),
				tt.want...)
		})
	}
}

func TestPlaces(t *testing.T) {
	s := stdin(t, `# comment
---
kind: List
apiVersion: v1
items:
- apiVersion: example.com/v1
  kind: Thing
  metadata: {name: a, namespace: m}
  spec: &spec
    rules:
    # about the first
    - name: x
      text: |
        a
        b
      matches: [{a: 1}, {
        b: 2}]
    -
      name: y
    on:
      deep: 1
    ? long
    : short
- apiVersion: example.com/v1
  kind: Thing
  metadata: {name: b, namespace: m}
  spec:
    <<: *spec
    own: 1
`, load.Limits{})
	a, b := s.Objects[0], s.Objects[1]
	tests := []struct {
		o    *model.Object
		path string
		line int
	}{
		{a, "", 6}, {a, "kind", 7}, {a, "metadata", 8}, {a, "metadata.name", 8}, {a, "spec", 9}, {a, "spec.rules", 10},
		{a, "spec.rules.0", 12}, {a, "spec.rules.0.text", 13}, {a, "spec.rules.0.matches.1.b", 17}, {a,
			"spec.rules.1", 19},
		{a, "spec.rules.1.name", 19}, {a, "spec.rules.2", 10}, {a, "spec.rules.x", 10}, {a, "spec.true.deep", 21}, {a,
			"spec.long", 22},
		{a, "gone", 6}, {a, "spec.rules.0.gone.more", 12},
		{b, "", 24}, {b, "spec", 27}, {b, "spec.own", 29}, {b, "spec.rules.0.name", 12}, {b, "spec.true", 20},
	}
	for _, tt := range tests {
		var path []string
		if tt.path != "" {
			path = strings.Split(tt.path, ".")
		}
		if got := tt.o.OriginOf(path...); got.Line != tt.line || got.File != "stdin" {
			t.Errorf("%s %s: got %s, want line %d", tt.o.Ref, tt.path, got, tt.line)
		}
	}
}

func TestDuplicates(t *testing.T) {
	other := func(name, spec string) string { return loadtest.Thing(name) + "spec: {a: " + spec + "}\n" }
	tests := []struct {
		name string
		docs []string
		want []string
	}{
		{"equal copies count once", []string{other("a", "1"), "# x\n" + other("a", "1.0")},
			[]string{"thing/ns/a stdin:2"}},
		{"different ones not at all", []string{other("a", "1"), other("b", "1"), other("a", "2")},
			[]string{"thing/ns/b stdin:7",
				"error DuplicateObject thing/ns/a stdin:2: thing/ns/a: stdin:2 and stdin:12 define it differently; both are ignored (keep one of them)"}},
		{"more than two", []string{other("a", "1"), other("a", "1"), other("a", "2")}, []string{
			"error DuplicateObject thing/ns/a stdin:2: thing/ns/a: stdin:2, stdin:7 and stdin:12 define it differently; all are ignored (keep one of them)"}},
		{"a version is a difference", []string{loadtest.Thing("a"), strings.Replace(loadtest.Thing("a"), "/v1", "/v2",
			1)}, []string{
			"error DuplicateObject thing/ns/a stdin:2: thing/ns/a: stdin:2 and stdin:6 define it differently; both are ignored (keep one of them)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Same(t, loadtest.Describe(stdin(t, "---\n"+strings.Join(tt.docs, "---\n"), load.Limits{})),
				tt.want...)
		})
	}
}

func TestAssumedNamespaceCountsForDuplicates(t *testing.T) {
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: default}\n"
	loadtest.Same(t, loadtest.Describe(stdin(t, text, load.Limits{})), "service/default/a stdin:1",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed (another can be given with -n)")
}

func TestShuffledDocuments(t *testing.T) {
	docs := []string{
		loadtest.Thing("a"), loadtest.Thing("b") + "spec: {a: 1}\n", loadtest.Thing("b") +
			"spec: {a: 2}\n", loadtest.Thing("c"), loadtest.Thing("c"), "kind: Thing\n", "a: [\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: x}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: default}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: w}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: w}\ndata: {a: b}\n",
		"kind: List\nitems:\n- " + indent(loadtest.Thing("d")) + "- " + indent(loadtest.Thing("e")+"spec: {on: 1}\n"),
		loadtest.Thing("f") +
			"metadata: {}\n", "apiVersion: example.com/v1\nkind: Zone\nmetadata: {name: z, namespace: m}\n",
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: zones}\nspec: {group: example.com, names: {kind: Zone}, scope: Cluster}\n",
		loadtest.Thing("g") +
			"spec: {<<: {a: 1}, no: 1, !!str on: 2}\n",
		"{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"j\", \"namespace\": \"m\"}}\n",
	}
	var want string
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		shuffled := slices.Clone(docs)
		r.Shuffle(len(docs), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got := withoutLines(stdin(t, strings.Join(shuffled, "---\n"), load.Limits{}))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("seed %d:\n%s\n%s", seed, got, want)
		}
	}
}

// withoutLines is everything in a snapshot except lines.
func withoutLines(s *model.Snapshot) string {
	var b strings.Builder
	for _, o := range s.Objects {
		body := o.Body.Value()
		// as written; of two copies, one may leave it out
		delete(model.Get(body, "metadata").(map[string]any), "namespace")
		fmt.Fprintln(&b, o.Ref, o.Version, o.Labels, o.Annotations, o.Created, o.Origin.File, body)
	}
	var problems []string
	for _, p := range s.Problems {
		message := p.Message
		if p.Code == model.InvalidYAML || p.Code == model.DuplicateObject {
			message = strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return -1
				}
				return r
			}, message)
		}
		problems = append(problems, fmt.Sprintln(p.Severity, p.Code, p.Ref, message, p.Hint))
	}
	slices.Sort(problems)
	fmt.Fprintln(&b, problems)
	return b.String()
}

func TestOrderOfFiles(t *testing.T) {
	loadtest.Write(t, map[string]string{"a.yaml": loadtest.Thing("x"), "b.yaml": loadtest.Thing("x") + "---\n" +
		loadtest.Thing("z")})
	for _, paths := range [][]string{{"a.yaml", "b.yaml"}, {"b.yaml", "a.yaml"}} {
		s, err := load.Files(context.Background(), load.Options{Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		loadtest.Same(t, loadtest.Describe(s), "thing/ns/x a.yaml:1", "thing/ns/z b.yaml:5")
	}
}
