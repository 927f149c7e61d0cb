package load_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// readByKubectl is the objects that kubectl reads of a text, as the visitors of cli-runtime do it,
// and whether its decoder comes to the end. What has no type or no name is refused by itself.
func readByKubectl(text string) (objects []string, all bool) {
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var raw runtime.RawExtension
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return objects, true
		case err != nil:
			return objects, false
		}
		decoded, _, err := unstructured.UnstructuredJSONScheme.Decode(bytes.TrimSpace(raw.Raw), nil, nil)
		if err != nil {
			continue
		}
		items := []runtime.Object{decoded}
		if meta.IsListType(decoded) {
			if items, err = meta.ExtractList(decoded); err != nil || slices.ContainsFunc(items, meta.IsListType) {
				continue
			}
		}
		for _, item := range items {
			o := item.(*unstructured.Unstructured)
			name := o.GetName()
			if name == "" && o.GetGenerateName() != "" {
				name = o.GetGenerateName() + "*"
			}
			if o.GetAPIVersion() != "" && o.GetKind() != "" && name != "" {
				objects = append(objects, o.GetAPIVersion()+" "+o.GetKind()+" "+name)
			}
		}
	}
}

// FuzzReaderAgainstAPIMachinery: the objects that are read of a file are those that kubectl reads,
// or a problem says that the answer is incomplete.
func FuzzReaderAgainstAPIMachinery(f *testing.F) {
	const a = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n"
	const b = "apiVersion: v1\nkind: B\nmetadata: {name: b}\n"
	const one, two = `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}`,
		`{"apiVersion": "v1", "kind": "B", "metadata": {"name": "b"}}`
	for _, seed := range []string{
		a + "---\n" + b, a + "...\n" + b, a + "...\n---\n" + b, "...\n" + a, a + "---\n...\n---\n" + b, a + "...\r\n" +
			b, a + "... # c\n" + b,
		a + "\r---\r" + strings.ReplaceAll(b, "\n", "\r"), a + "\u0085---\u0085" + strings.ReplaceAll(b,
			"\n", "\u0085"),
		a + "\u2028---\u2028" + strings.ReplaceAll(b, "\n", "\u2028"), a + "\u2029---\u2029" + strings.ReplaceAll(b,
			"\n", "\u2029"),
		"# c\r" + strings.ReplaceAll(a, "\n", "\r"), "# c\u2028" + strings.ReplaceAll(a, "\n",
			"\u2028"), strings.ReplaceAll(a+"---\n"+b, "\n", "\r\n"), strings.ReplaceAll(a+"---\n"+b, "\n", "\r"),
		a + "--- # c\r" + strings.ReplaceAll(b, "\n", "\r"), "---\r# c\r" + strings.ReplaceAll(a, "\n",
			"\r"), a + "---\r" + b,
		"\ufeff" + a, a + "---\n\ufeff" + b, a + "---\n\ufeff---\n" + b, a + "\ufeff---\n" + b, "\ufeff\ufeff" +
			a, "---\n\ufeff\ufeff" + a, a + "---\n\ufeff" + two, "\ufeff" + one,
		a + "--- !!map\n" + b, a + "--- {apiVersion: v1, kind: B, metadata: {name: b}}\n", a + "--- # c\n" + b, a +
			"---#c\n" + b, "---#c\n" + a, "---\n---#c\n" + a, a + "---\v\n" + b, a + "---\u00a0\n" +
			b, a + "----\n" + b,
		a + "--- |\n" + b, "%YAML 1.1\n---\n" + a, a + "---\n%YAML 1.1\n---\n" + b, "%YAML 1.1\r---\r" +
			strings.ReplaceAll(a, "\n", "\r"), "%YAML 1.2\r---\r" + a, "---\n%a: b\n" + a,
		one + two, one + "\n" + two + "\n", one + "\n---\n" + two, one + two + "\n---\n" + a, one + "\n" + b, one +
			"\n---\n" + a, "# c\n" + one + two, "---\n" + one + "\n" + two, a + "---\n" + one + two, one +
			"\n# c\n" + two,
		one + "\n...\n" + two, "\u00a0" + one, "\v{apiVersion: v1, kind: A, metadata: {name: a}}", "\n \n" +
			one, strings.Repeat(" ", 4097) + one +
			two, "{apiVersion: v1, kind: A, metadata: {name: a}}\n{apiVersion: v1, kind: B, metadata: {name: b}}\n",
		a + "---\n" + strings.Replace(two, `"b"`, `"\ud83d\ude00"`, 1), a + "---\n" + strings.ReplaceAll(two, " ",
			"\t"), a + "---\n" + strings.Replace(two, `"b"`, `"b\/"`, 1), "[" + one + "]", "[" + one + "]\n---\n" + a,
		a + "---\nx\n---\n" + b, a + "---\na: 1\n---\n" + b, a + "---\n{}\n---\n" + b, a + "---\n\n---\n# c\n---\n" +
			b, a + "---\n- kind: B\n", a + "---\nkind: B\n", a + "---\napiVersion: v1\nkind: B\n",
		"apiVersion: v1\nkind: A\nmetadata: {generateName: a-}\n",
		"apiVersion: v1\nkind: A\nmetadata: {name: '', generateName: a-}\n",
		"apiVersion: v1\nkind: A\nmetadata: {name: 1, generateName: a-}\n", a +
			"---\nkind: A\nmetadata: {generateName: a-}\n",
		a + "items:\n- " + strings.ReplaceAll(b, "\n", "\n  "), a + "items:\n- metadata: {name: b}\n", a +
			"items: null\n", a + "items: {}\n", a + "items: [1]\n", a + "items: [null]\n", a +
			"items: [{kind: B, metadata: {name: b}}]\n",
		"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: b}\n- " + strings.ReplaceAll(a, "\n",
			"\n  "), "apiVersion: v1\nkind: AList\nitems:\n- metadata: {name: b}\n- kind: 5\n  metadata: {name: a}\n",
		"apiVersion: v1\nkind: List\n", "apiVersion: v1\nitems:\n- " + strings.ReplaceAll(a, "\n",
			"\n  "), "items:\n- " + strings.ReplaceAll(a, "\n", "\n  "),
		"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - " + strings.ReplaceAll(a,
			"\n", "\n    "),
		"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  items: {}\n",
		a + "x: |\n  ---\n  ...\n", a + "x: \"a\n---\nb\"\n", a + "x: \"a\n...\nb\"\n", "a\n---\n---#c\n---\n" +
			a, "apiVersion: v1\nkind: A\nmetadata:\n  name: |\n    a", "? {a: b}\n: c\n" + a, a +
			"x: !!binary aGk=\n", a + "x: .nan\n", "&a\n" + a + "x: *b\n",
		"a: &a {name: b}\n" + strings.Replace(a, "{name: a}", "*a",
			1), "<<: {apiVersion: v1, kind: A}\nmetadata: {name: a}\n", a + "x:\t1\n", a + "x: [1,\t2]\n", a +
			"\t\n", a + "# c\n  # d\nx: 1 # e\n", a + "x: 'a\n\n  b'\n", a + "x: >-\n  a\n\n  b\n", a +
			"-\n", a + "}\n",
		"apiVersion: v1\nkind: A\nmetadata:\n  name: |-\n    a\n   \n",
		"apiVersion: v1\nkind: A\nmetadata:\n  ? name\n  : a\n", "!!map\n" + a, "!x\n" + a, a + "x: !!float a\n", a +
			"1: 2\n1.0: 3\n", a + "~: 2\n", a + "x: 0o7\n", a + "x: 2001-01-01\n", a + "x: \x07\n", a +
			"x: \xff\n", a + "x: \U0010ffff\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\xff\xfe") ||
			strings.HasPrefix(text, "\xfe\xff") || strings.Contains(text, "dopolicy.dev/") ||
			strings.Contains(text, "kustomize.config") {
			return // an archive, UTF-16, a snapshot, and what is for another program
		}
		want, all := readByKubectl(strings.TrimPrefix(text, "\ufeff"))
		s, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text)})
		if err != nil && !errors.Is(err, load.ErrNothingReadable) {
			return
		}
		var got []string
		for _, o := range s.Objects {
			name := o.Ref.Name
			if generated := o.Text("metadata", "generateName"); o.Text("metadata", "name") == "" {
				name = generated + "*"
			}
			for _, text := range []string{o.Version, o.Ref.Group, o.Ref.Kind, name} {
				if len(text) == 1 && strings.Contains("yYnN", text) {
					return // a boolean to kubectl, and text here: see isSwitch
				}
			}
			got = append(got, strings.TrimPrefix(o.Ref.Group+"/"+o.Version, "/")+" "+o.Ref.Kind+" "+name)
		}
		slices.Sort(want)
		slices.Sort(got)
		want, got = slices.Compact(want), slices.Compact(got)
		incomplete := slices.ContainsFunc(s.Problems, func(p model.Problem) bool { return p.Severity == model.Error })
		switch {
		case incomplete:
		case !slices.Equal(want, got):
			t.Errorf("%q: read are %q, by kubectl %q, and the answer is complete", text, got, want)
		case !all && len(got) > 0:
			t.Errorf("%q: read are %q, kubectl fails, and the answer is complete: %v", text, got, loadtest.Describe(s))
		}
	})
}
