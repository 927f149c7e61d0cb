package load_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// files loads the paths, which must be possible.
func files(t testing.TB, paths ...string) *model.Snapshot {
	t.Helper()
	s, err := load.Files(context.Background(), load.Options{Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stdin loads a text from standard input; nothing readable in it is no failure.
func stdin(t testing.TB, text string, limits load.Limits) *model.Snapshot {
	t.Helper()
	s, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text),
		Limits: limits})
	if err != nil && !errors.Is(err, load.ErrNothingReadable) {
		t.Fatal(err)
	}
	return s
}

func TestDocuments(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty documents and comments say nothing", "---\n# a\n---\n\n---\nnull\n--- # b\n" + loadtest.Thing("a") +
			"...\n\n# end\n",
			[]string{"thing/ns/a stdin:8"}},
		{"first content line", "# licence\n\n---\n# about\n\n" + loadtest.Thing("a") + "---\n" + loadtest.Thing("b"),
			[]string{"thing/ns/a stdin:6", "thing/ns/b stdin:10"}},
		{"content behind the marker", "--- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n",
			[]string{
				"error InvalidYAML stdin:1: not used: kubectl stops here: --- is followed by something on its line (put --- on a line of its own)"}},
		{"directives", "%YAML 1.1\n---\n" + loadtest.Thing("a") + "---\n# x\n%YAML 1.1\n---\n" + loadtest.Thing("b"),
			[]string{"thing/ns/a stdin:3", "thing/ns/b stdin:10",
				"error InvalidYAML stdin:1: kubectl stops here: it reads no directives (%YAML, %TAG) (take the directive out)",
				"error InvalidYAML stdin:8: kubectl stops here: it reads no directives (%YAML, %TAG) (take the directive out)"}},
		{"carriage returns", strings.ReplaceAll("---\n"+loadtest.Thing("a")+"---\n"+loadtest.Thing("b"), "\n", "\r\n"),
			[]string{"thing/ns/a stdin:2", "thing/ns/b stdin:6"}},
		{"old carriage returns are no lines to an editor", strings.ReplaceAll(loadtest.Thing("a")+"---\n"+
			loadtest.Thing("b"), "\n", "\r"),
			[]string{"thing/ns/a stdin:1",
				"error InvalidYAML stdin:1: not used: kubectl reads one document between two lines ---, and this is a second one (put --- on a line of its own in front of it)"}},
		{"byte order mark", "\ufeff" + loadtest.Thing("a"), []string{"thing/ns/a stdin:1"}},
		{"separators inside block text",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata:\n  x: |\n    ---\n    kind: no\n",
			[]string{"configmap/b/a stdin:1"}},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n",
			[]string{"error NotAnObject stdin:1: not used: it has no kind (give it one, or leave the file out if it is for another program)"}},
		{"no apiVersion", "\nkind: Service\nmetadata: {name: a}\n",
			[]string{"error NotAnObject stdin:2: not used: it has no apiVersion (give it one, or leave the file out if it is for another program)"}},
		{"no name", "apiVersion: v1\nkind: Service\nmetadata:\n  namespace: b\n",
			[]string{"error NotAnObject stdin:3: not used: it has no metadata.name (give it one, or leave the file out if it is for another program)"}},
		{"names that the API server makes",
			strings.Repeat(
				"---\napiVersion: v1\nkind: Service\nmetadata: {generateName: a-, name: '', namespace: b}\n", 2),
			[]string{"service/b/a-* stdin:2", "service/b/a-*2 stdin:6",
				"warning InvalidObject service/b/a-* stdin:4: it has generateName and no name: kubectl create and Argo CD create it, kubectl apply and Flux refuse it (give it a name)",
				"warning InvalidObject service/b/a-*2 stdin:8: it has generateName and no name: kubectl create and Argo CD create it, kubectl apply and Flux refuse it (give it a name)"}},
		{"names that the API server makes are none that something refers to",
			"apiVersion: v1\nkind: Service\nmetadata: {generateName: a-, namespace: b}\nspec: ['b/a-*']\n",
			[]string{"service/b/a-** stdin:1",
				"warning InvalidObject service/b/a-** stdin:3: it has generateName and no name: kubectl create and Argo CD create it, kubectl apply and Flux refuse it (give it a name)"}},
		{"no metadata", "apiVersion: v1\nkind: Service\nmetadata:\n",
			[]string{"error NotAnObject stdin:3: not used: it has no metadata.name (give it one, or leave the file out if it is for another program)"}},
		{"metadata is text", "apiVersion: v1\nkind: Service\nmetadata: a\n",
			[]string{"error WrongType stdin:3: not used: metadata is not a map (write the name below it, as metadata.name)"}},
		{"name is a number", "apiVersion: v1\nkind: Service\nmetadata:\n  name: 7\n",
			[]string{"error WrongType stdin:4: not used: metadata.name is not text (quote it)"}},
		{"namespace is a list", "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  namespace: [a]\n",
			[]string{"error WrongType stdin:5: not used: metadata.namespace is not text (quote it)"}},
		{"kind is a boolean", "apiVersion: v1\nkind: yes\n",
			[]string{"error WrongType stdin:2: not used: kind is not text (quote it)"}},
		{"apiVersion with two groups", "apiVersion: a/b/c\nkind: Service\nmetadata: {name: a}\n",
			[]string{"error NotAnObject stdin:1: not used: apiVersion is not group/version (write v1 or GROUP/VERSION)"}},
		{"neither apiVersion nor kind", "\n\na: 1\n",
			[]string{"warning NotAnObject stdin:3: not used: it has neither apiVersion nor kind (leave the file out if it is for another program)"}},
		{"text", "hello\n", []string{"warning NotAnObject stdin:1: not used: not an object (leave the file out if it is for another program)"}},
		{"a list of objects", "- kind: a\n- kind: b\n",
			[]string{
				"warning NotAnObject stdin:1: not used: a list, not an object (write the objects as documents of their own, with --- between them, or as items of kind: List)"}},
		{"wrong types in metadata",
			"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  namespace: b\n  creationTimestamp: soon\n  labels:\n    a: \"1\"\n    b: 2\n    c:\n  annotations: [a]\n",
			[]string{"service/b/a stdin:1",
				"warning WrongType service/b/a stdin:11: metadata.annotations is not a map and is left out",
				"warning WrongType service/b/a stdin:6: metadata.creationTimestamp is not a time like 2006-01-02T15:04:05Z and is left out",
				"warning WrongType service/b/a stdin:9: metadata.labels.b is not text and is left out (quote the value)"}},
		{"a key written twice", loadtest.Thing("a") + "spec:\n  a: 1\n  b: 2\n  a: 3\n",
			[]string{`error InvalidYAML stdin:7: not used: key "a" is written twice, on lines 5 and 7`}},
		{"keys that mean the same", "---\n" + loadtest.Thing("a") + "spec:\n  on: 1\n  yes: 2\n",
			[]string{
				`error InvalidYAML stdin:7: not used: keys "on" on line 6 and "yes" on line 7 are both read as "true" (quote them)`}},
		{"a key that means something else", loadtest.Thing("a") +
			"spec:\n  on: 1\n  \"off\": 2\n  0777: 3\n  8080: 4\n  true: 5\n",
			[]string{
				`error InvalidYAML stdin:9: not used: keys "on" on line 5 and "true" on line 9 are both read as "true" (quote them)`}},
		{"odd keys", loadtest.Thing("a") + "spec:\n  on: 1\n  \"off\": 2\n  0777: 3\n  8080: 4\n",
			[]string{"thing/ns/a stdin:1",
				`warning WrongType thing/ns/a stdin:7: the key 0777 is read as "511" (quote it if it is meant as text: "0777")`,
				`warning WrongType thing/ns/a stdin:5: the key on is read as "true" (quote it if it is meant as text: "on")`}},
		{"a map as key", loadtest.Thing("a") + "spec:\n  {a: 1}: 2\n",
			[]string{"error InvalidYAML stdin:5: not used: a map or a list cannot be a key"}},
		{"not a number", loadtest.Thing("a") + "spec:\n  a: .nan\n",
			[]string{"error InvalidYAML stdin:5: not used: a number that JSON cannot express; quote it if it is text"}},
		{"a tag that does not fit", loadtest.Thing("a") + "spec:\n  a: !!int hunter2\n",
			[]string{"error InvalidYAML stdin:5: not used: a value is tagged !!int but is none"}},
		{"an unknown anchor", loadtest.Thing("a") + "spec:\n  a: *hunter2\n",
			[]string{
				"error InvalidYAML stdin:5: not used: an alias (*name) to an anchor that is not there; quote the text if it is none"}},
		{"an anchor in itself", loadtest.Thing("a") + "spec: &a\n  b: [*a]\n",
			[]string{"error InvalidYAML stdin:5: not used: an anchor contains an alias to itself"}},
		{"kustomization", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a]\n---\n" +
			loadtest.Thing("a"),
			[]string{"thing/ns/a stdin:5", "info NotKubernetes: 1 document is not a Kubernetes object: stdin"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Same(t, loadtest.Describe(stdin(t, tt.text, load.Limits{})),
				tt.want...)
		})
	}
}

func TestUTF16(t *testing.T) {
	text := "\xff\xfe"
	for _, r := range loadtest.Thing("ä") {
		text += string([]byte{byte(r), byte(r >> 8)})
	}
	loadtest.Same(t, loadtest.Describe(stdin(t, text, load.Limits{})), "thing/ns/ä stdin:1")
}

func TestIdentity(t *testing.T) {
	s := stdin(t, `apiVersion: gateway.networking.k8s.io/v1beta1
kind: HTTPRoute
metadata:
  name: a
  namespace: b
  creationTimestamp: 2024-01-02T03:04:05+01:00
  labels: {app: shop}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    note: hi
  managedFields: [{manager: x}]
spec:
  hostnames: [a.example.com]
`, load.Limits{})
	o := s.Get(model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "b", Name: "a"})
	if o == nil {
		t.Fatal(loadtest.Describe(s))
	}
	got := fmt.Sprint(o.Version, o.Labels, o.Annotations, o.Created, o.Body.Value())
	want := "v1beta1map[app:shop] map[note:hi] 2024-01-02 02:04:05 +0000 UTC map[apiVersion:gateway.networking.k8s.io/v1beta1 kind:HTTPRoute " +
		"metadata:map[annotations:map[note:hi] creationTimestamp:2024-01-02T03:04:05+01:00 labels:map[app:shop] name:a namespace:b] " +
		"spec:map[hostnames:[a.example.com]]]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBrokenDocumentCostsItself(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"a.yaml": loadtest.Thing("a"),
		"b.yaml": loadtest.Thing("b1") + "---\n" + loadtest.Thing("b2") + "---\n" + loadtest.Thing("b3") +
			"spec:\n  a: 1\n b: 2\n  c: 3\n---\n" + loadtest.Thing("b4"),
	})
	loadtest.Same(t, loadtest.Describe(files(t, "a.yaml", "b.yaml")),
		"thing/ns/a a.yaml:1", "thing/ns/b1 b.yaml:1", "thing/ns/b2 b.yaml:5", "thing/ns/b4 b.yaml:17",
		"error InvalidYAML b.yaml:14: not used: did not find expected key")
}

func TestErrorLines(t *testing.T) {
	tests := []struct {
		text string
		line int
	}{
		{"a: 1\nb: 2\nc: [1, 2\nd: 4\n", 3},
		{"a: 1\nb:\n  c: 1\n   d: 2\ne: 3\n", 4},
		{"a: 1\nb:\n  c: 1\n d: 2\ne: 3\n", 4},
		{"a: 1\nb:\n  x: 1\n  c: 'abc\ne: 3\nf: 1\n", 4},
		{"a: 1\nb:\n  x: 1\n\tc: abc\ne: 3\nf: 1\n", 4},
		{"a: 1\nb:\n  x: 1\n  c: a: b\ne: 3\nf: 1\n", 4},
		{"a: 1\nb:\n  x: 1\n  cab\ne: 3\nf: 1\n", 4},
		{"a: 1\nb:\n  - x: 1\n  c: 3\ne: 3\nf: 1\n", 4},
		{"a: 1\nb:\n  - x: 1\n    y: 2\n   - z: 3\nf: 1\n", 5},
		{"a: 1\nb: @foo\nc: 1\n", 2},
		{"a: b: c\n", 1},
		{"a: 1\nb: \"foo\\qbar\"\nc: 1\n", 2},
		{"a: 1\nb: \"foo\" bar\nc: 1\n", 2},
		{"a: 1\nb: |\n  foo\n bar\nc: 1\nd: 2\n", 4},
		{"a: 1\nb: \x01\nc: 1\nd: 2\n", 2},
		{"a: 1\nb: \xff\nc: 1\nd: 2\n", 2},
		{"a: 1\nb: 2\n]\nd: 2\n", 3},
		{"a: 1\n{{- if .x }}\nb: 2\n{{- end }}\n", 2},
		{"{\"a\": 1,\n\"b\": 2\n\"c\": 3}", 3},
		{"{\"a\": 1,\n\"b\": 2", 2},
		{"{\"a\": 1}\n{\"a\": 1,\n\"b\": nil}", 3},
	}
	for _, tt := range tests {
		s := stdin(t, "\n"+tt.text, load.Limits{})
		got := s.Problems[0]
		if got.Code != model.InvalidYAML || got.Origin.Line != tt.line+1 {
			t.Errorf("%q: %s %s: %s, want line %d", tt.text, got.Code, got.Origin, got.Message, tt.line+1)
		}
	}
}
