package load_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// FuzzDocuments: whatever is read, nothing panics or hangs, what is returned keeps to its contract,
// and a document that follows is read all the same.
func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{
		loadtest.Thing("a"), "---\n" + loadtest.Thing("a") + "spec:\n  on: 1\n  rules: [{a: 1}, b]\n", loadtest.Bomb(
			"{<<: [", "*a%[2]d, ", "]}"),
		"kind: List\nitems:\n- " +
			indent(loadtest.Thing("b")),
		"{\"kind\": \"ThingList\", \"apiVersion\": \"v1\", \"items\": [{\"metadata\": {\"name\": \"\\ud83d\"}}]}",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: aGk=}\nstringData: {b: c}\n",
		"%YAML 1.1\n%TAG !a! b\n---\n!a!x a: &a [*a]\n...\n",
		"\xff\xfea\x00", "\xfe\xff\x00a", "\ufeffa: b", "a: \u2028- b\u0085c: d\r\ne: f\rg: h\n",
		"? {a: b}\n: [c, d: e]\n", "a: |\n b\n---\nc: >-\n d\n",
		"\x1f\x8b\x08\x00", "apiVersion: dopolicy.dev/v1alpha1\nkind: Snapshot\n",
		"{\"apiVersion\": \"dopolicy.dev/v1alpha1\", \"kind\": \"Snapshot\", \"items\": [{",
		"a: &x {b: 1}\n<<: [*x, {<<: *x}]\n<<: *x\n", "a: !!int 0x1F\nb: !!binary aGk=\nc: !!float .inf\n",
		"[{\"a\":1},\n", "{a: b}\n{c: d}\n", "- kind: a\n",
	} {
		f.Add([]byte(seed))
	}
	limits := load.Limits{Document: 1 << 20, Nodes: 100_000, Repeated: 1000}
	f.Fuzz(func(t *testing.T, data []byte) {
		last := "apiVersion: example.com/v1\nkind: Last\nmetadata: {name: last}\n"
		read := func() *model.Snapshot {
			in := strings.NewReader(string(data) + "\n...\n---\n" + last)
			s, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: in, Limits: limits})
			if err != nil && !errors.Is(err, load.ErrNothingReadable) {
				t.Fatal(err)
			}
			return s
		}
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) || bytes.Contains(data, []byte("dopolicy.dev/")) {
			read() // an archive, or perhaps a snapshot: what follows is part of it
			return
		}
		s := read()
		lines := bytes.Count(data, []byte("\n")) + 10
		for _, o := range s.Objects {
			check(t, o, lines)
		}
		for _, p := range s.Problems {
			if p.Message == "" || p.Severity == "" || p.Origin != nil && (p.Origin.Line < 1 || p.Origin.Line > lines) {
				t.Errorf("%+v", p)
			}
		}
		again := read()
		if !reflect.DeepEqual(loadtest.Describe(s), loadtest.Describe(again)) {
			t.Errorf("read twice:\n%v\n%v", loadtest.Describe(s), loadtest.Describe(again))
		}
		utf16 := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
		ref := model.Ref{Group: "example.com", Kind: "Last", Namespace: "default", Name: "last"}
		binary := bytes.Contains(data, []byte("\x00"))
		if !utf16 && !binary && s.Get(ref) == nil && !bytes.Contains(data, []byte("Last")) {
			t.Errorf("the document that follows is gone: %v", loadtest.Describe(s))
		}
	})
}

// check holds an object to the contract of model.Object.
func check(t *testing.T, o *model.Object, lines int) {
	t.Helper()
	if o.Ref.Kind == "" || o.Ref.Name == "" || o.Version == "" || o.Ref.Section != "" || o.Origin.Line < 1 ||
		o.Origin.Line > lines {
		t.Errorf("%+v %s", o.Ref, o.Origin)
	}
	budget := 200_000
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		if budget--; budget < 0 {
			return
		}
		if len(path) < 4 {
			if at := o.OriginOf(path...); at.Line < 1 || at.Line > lines {
				t.Errorf("%v: %s", path, at)
			}
		}
		switch v := v.(type) {
		case nil, bool, string, int64, float64:
		case map[string]any:
			for key, kid := range v {
				walk(kid, append(path[:len(path):len(path)], key))
			}
		case []any:
			for _, kid := range v {
				walk(kid, append(path[:len(path):len(path)], "0"))
			}
		default:
			t.Errorf("%v: %T is no JSON value", path, v)
		}
	}
	walk(o.Body.Value(), nil)
}
