package load_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// plainScalars are scalars whose meaning YAML 1.1, YAML 1.2 and JSON do not agree on, and their
// neighbours.
var plainScalars = strings.Fields(`
	yes Yes YES yEs on On ON oN no No NO off Off OFF oFF true True TRUE tRue false False FALSE t f
	~ null Null NULL nULL nil none
	0 1 -1 +1 -0 +0 007 0777 -0777 08 09 0o777 0O777 -0o17 +0o17 0o8 0x1F 0X1f -0x1f 0xg 0b101 0B11 -0b1 +0b1 0b2
	1_000 1__0 _1 1_ -1_0 0x_1 0b1_1 0_7 1_0.5 1._5
	9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615
	18446744073709551616 0xFFFFFFFFFFFFFFFF 99999999999999999999999 4611686018427387904.0
	1.0 1.5 -1.5 +1.5 .5 -.5 5. 1e3 1E3 1e+3 1e-3 1.e3 .5e1 1e20 1e21 1e22 1e400 -1e400 1e-400 0.1 100.0 -0.0 1.5e300
	. .. .e1 .5.5 1.2.3 e3 1e 1e+ 0x1p4 0x1.8 Infinity inf nan .5_5 1_e3
	2001-12-14 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 2001-1-1 2001-13-45 12:30 1:30:00 190:20:30 12-30
	a a-b a.b a/b 10s 1.2.3.4 10.0.0.0/8 1Gi 100m v1 = << <<x + - -- +- -a +a 0- 1a 0x 0b 0o
	"on" 'on' "1" '1.0' "null" "" '' !!str\u00201 !!str\u0020on !!int\u0020"1" !!float\u00201 !!bool\u0020yes !!null\u0020~ !!binary\u0020aGk=
	!!timestamp\u00202001-12-14 !custom\u00201 !!float\u00201.5 !!int\u00200x10 !!binary\u0020/w==
`)

// kubectl is what kubectl's reader makes of a document: the value of v, as JSON with its numbers as
// they are kept here.
func kubectl(t *testing.T, text string) (any, bool) {
	t.Helper()
	j, err := kyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return numbers(v), true
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// ours is what load makes of the same text, indented below spec.
func ours(t *testing.T, text string) (any, []model.Problem) {
	t.Helper()
	s := stdin(t, loadtest.Thing("a")+"spec:\n  "+strings.ReplaceAll(text, "\n", "\n  ")+"\n", load.Limits{})
	if len(s.Objects) == 0 {
		return nil, s.Problems
	}
	return s.Objects[0].Get("spec"), s.Problems
}

func TestScalarsMeanWhatKubectlReads(t *testing.T) {
	for _, scalar := range plainScalars {
		scalar = strings.ReplaceAll(scalar, `\u0020`, " ")
		for _, text := range []string{"v: " + scalar, "v: [" + scalar + "]", scalar + ": v", "? " + scalar + "\n: v"} {
			want, ok := kubectl(t, text)
			got, problems := ours(t, text)
			switch {
			case !ok && got == nil:
			case !ok:
				t.Errorf("%q: kubectl refuses it, we read %#v", text, got)
			case ok && !reflect.DeepEqual(got, want):
				t.Errorf("%q: got %#v, kubectl reads %#v (%v)", text, got, want, problems)
			}
		}
	}
}

func TestLettersAreText(t *testing.T) {
	got, problems := ours(t, "y: n\nN: [Y]")
	if want := map[string]any{"y": "n", "N": []any{"Y"}}; !reflect.DeepEqual(got, want) || len(problems) != 2 {
		t.Errorf("got %v with %d problems, want %v with a warning for each key", got, len(problems), want)
	}
	for _, text := range []string{"y: 1\non: 2", "on: 1\ny: 2", "y: 1\nY: 2", "n: 1\n\"false\": 2", "y: 1\ny: 2"} {
		if got, problems := ours(t, text); got != nil || len(problems) == 0 || problems[0].Code != model.InvalidYAML {
			t.Errorf("%q: both keys are one to kubectl, but it was read as %v (%v)", text, got, problems)
		}
	}
}

func TestStructuresMeanWhatKubectlReads(t *testing.T) {
	for _, text := range []string{
		"a: &a {x: 1, w: 2}\nb:\n  <<: *a\n  w: 3",
		"a: &a {x: 1, w: 2}\nb:\n  w: 3\n  <<: *a",
		"a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc:\n  <<: [*a, *b]\n  w: 3",
		"a: &a {x: 1}\nb: &b {<<: *a, z: 3}\nc:\n  <<: *b",
		"a: &a {x: 1}\nb:\n  <<: *a\n  <<: {x: 2}",
		"a:\n  \"<<\": 1",
		"a: &a {x: 1}\nb:\n  <<: [*a, {z: 1}]",
		"a: <<",
		"a: &a\n  - 1\nb: *a\nc: *a",
		"a: &a x\nb: {*a : 1}",
		"a: |\n  x\n  y\nb: >-\n  x\n  y\nc: |+\n  x\n\nd: e",
		"a: \"x\\ty\\u00e9\\n\"\nb: 'it''s'",
		"a: b\n  c\n  d",
		"a:\nb: {}\nc: []\nd: \"\"",
		"? a\n: b\n? c",
		"{a: [1, 2, {b: c}], d: {e, f: }}",
		"- a\n- - b\n  - c\n- d: e\n  f:\n  - g",
		"a: !!map {b: c}\nd: !!seq [e]\nf: !x {g: h}",
		"1: a\n1.5: b\ntrue: c\n2001-01-01: d\n0x10: e\n123456789.0: f\n.inf: g",
	} {
		want, ok := kubectl(t, text)
		got, problems := ours(t, text)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %#v\nwant %#v (%v, %v)", text, got, want, ok, problems)
		}
	}
}

func TestRefusedLikeKubectl(t *testing.T) {
	for _, text := range []string{
		"a: &a 1\nb:\n  <<: *a", "a: &a [1]\nb:\n  <<: *a", "a: {<<: [1]}", "a: !!int b", "a: !!bool 1",
		"a: !!binary -",
		"a: *x", "a: &a [*a]", "a: .inf", "{a: 1}: b", "[a]: b", "a: !!timestamp b",
	} {
		if want, ok := kubectl(t, text); ok {
			t.Errorf("%q: kubectl reads %v", text, want)
		}
		if got, problems := ours(t, text); len(problems) != 1 || problems[0].Code != model.InvalidYAML {
			t.Errorf("%q: got %v, %v", text, got, problems)
		}
	}
}

func TestScalarValues(t *testing.T) {
	got, _ := ours(t, "v: [yes, 0777, 0o777, 1_000, 1.0, 1e3, 99999999999999999999, ~, 2001-12-14, \"no\"]")
	want := map[string]any{"v": []any{true, int64(511), int64(511), int64(1000), int64(1), int64(1000), 1e20, nil,
		"2001-12-14", "no"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}
