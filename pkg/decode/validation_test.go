package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Validation by type and by fields: paths with stars, every type, nulls that nobody sees, and what
// a tolerant kind makes of it.
func TestAdmissionOfTypesAndFields(t *testing.T) {
	lines := []string{"targets: [Gateway]", "rules: fields", "content: {fields: [a, b, c], unset: [unset]}",
		"admission:",
		"- {at: [spec.a, spec.a.*], type: object}", "- {at: [spec.b], type: number}",
		"- {at: [spec.c], type: array, effect: warn}", "- {at: [spec], fields: [targetRef, a, b, c]}"}
	strict, tolerant := described(t, lines...), described(t, append(lines, "tolerant: true")...)
	for _, c := range []struct{ name, spec, strict, tolerant string }{
		{"as it should be", "{a: {x: {}}, b: 1.5, c: []}", "", ""},
		{"an integer is a number", "{b: 2}", "", ""},
		{"nulls are not there", "{a: {x: null}, b: null}", "", ""},
		{"wrong types", "{a: {x: 1, y: {}, z: text}, b: true}",
			"RefusedByOperator; RefusedByOperator; RefusedByOperator refused",
			"RefusedByOperator; RefusedByOperator; RefusedByOperator"},
		{"a warning refuses nothing", "{c: {}}", "RefusedByOperator", "RefusedByOperator"},
		{"a field that only the kind knows", "{a: {}, unset: [a]}", "PrunedByOperator", "PrunedByOperator"},
		{"a field that nobody knows", "{a: {}, d: 1}", "PrunedByOperator", "UnknownBlockField"},
	} {
		for _, k := range []*policy.Kind{strict, tolerant} {
			p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", "+c.spec[1:]))
			got := ""
			for i, problem := range p.Problems {
				if i > 0 {
					got += "; "
				}
				got += string(problem.Code)
			}
			want := c.strict
			if p.Refused {
				got += " refused"
			}
			if k.Tolerant {
				want = c.tolerant
			}
			if got != want {
				t.Errorf("%s, tolerant %v: %s, want %s", c.name, k.Tolerant, got, want)
			}
		}
	}
}

// What a schema asks for beside types: fields that must be there, values and patterns of texts;
// stars are entries of lists as well.
func TestAdmissionOfValues(t *testing.T) {
	k := described(t, "targets: [Gateway]", "content: {fields: [a, b]}", "admission:",
		"- {at: [spec.a, spec.a.list.*], required: [x]}", "- {at: [spec.a.list.*.y], type: integer}",
		"- {at: [spec.b], values: [one, two]}", "- {at: [spec.a.list.*.x], pattern: '^x+$'}")
	for _, tc := range []struct {
		spec string
		want []string
	}{
		{"{a: {x: 1, list: [{x: xx, y: 1}]}, b: one}", nil},
		{"{a: 5, b: 5}", nil}, // types are asked for elsewhere
		{"{a: {x: null}}", []string{"spec.a.x: Required value"}},
		{"{a: {x: 1, list: [{x: x}, {y: text}, {x: y}]}, b: three}", []string{"spec.a.list[1].x: Required value",
			`spec.a.list[1].y: Invalid value: "string": spec.a.list[1].y in body must be of type integer: "string"`,
			`spec.a.list[2].x: Invalid value: "y": spec.a.list[2].x in body should match '^x+$'`,
			`spec.b: Unsupported value: "three": supported values: "one", "two"`}},
	} {
		p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", "+tc.spec[1:]))
		var got []string
		for _, problem := range p.Problems {
			got = append(got, strings.TrimPrefix(problem.Message, "the API server refuses it: "))
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) || p.Refused != (tc.want != nil) {
			t.Errorf("%s: refused %v: %q, want %q", tc.spec, p.Refused, got, tc.want)
		}
	}
}

// The words are the API server's.
func TestAdmissionWords(t *testing.T) {
	k := described(t, "targets: [Gateway]",
		"admission: [{at: [spec.a.*], type: object}, {at: [spec], fields: [targetRef, a]}]")
	p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", a: {x: [1]}, b: 1}"))
	want := []string{"the API server drops spec.b, which it does not know",
		`the API server refuses it: spec.a.x: Invalid value: "array": spec.a.x in body must be of type object: "array"`}
	if len(p.Problems) != 2 || p.Problems[0].Message != want[0] || p.Problems[1].Message != want[1] {
		t.Errorf("%+v", p.Problems)
	}
}
