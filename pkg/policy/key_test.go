package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// labelled reads "name label=value …" texts; the value is a label, an annotation and a field of the
// same name.
func labelled(texts ...string) []Attached {
	var out []Attached
	for i, text := range texts {
		words := strings.Fields(text)
		values, spec := map[string]string{}, map[string]any{}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			values[key], spec[key] = value, value
		}
		o := &model.Object{Ref: model.Ref{Group: "x.io", Kind: "Paint", Namespace: "n", Name: words[0]},
			Labels: values, Annotations: values,
			Body: model.Pack(map[string]any{"spec": spec}, nil)}
		p := &Policy{Object: o, Refs: []TargetRef{{Ref: model.Ref{Section: values["section"]}}}}
		out = append(out, Attached{Policy: p, Index: len(texts) - i})
	}
	return out
}

func TestKeys(t *testing.T) { // engine E9
	weight := Key{By: ByAnnotation, At: []string{"weight"}, Number: true, Descending: true, Absent: "0"}
	for _, c := range []struct {
		name string
		keys []Key
		in   []string
		want string
	}{
		{"the larger weight first, absent is 0", []Key{weight}, []string{"a weight=-1", "b", "c weight=10",
			"d weight=9"}, "c d b a"},
		{"what is no number counts as absent", []Key{weight}, []string{"a weight=1", "b weight=x", "c weight=-1"},
			"a b c"},
		{"values in a given order, others last",
			[]Key{{By: ByLabel, At: []string{"role"}, Values: []string{"system", "owner"}, Absent: "system"}},
			[]string{"a role=other", "b role=owner", "c", "d role=system"}, "c d b a"},
		{"with a value last", []Key{{By: ByField, At: []string{"spec", "port"}, Present: true},
			{By: ByName, Descending: true}}, []string{"a port=1", "b", "c port=2", "d"}, "d b c a"},
		{"names from the end", []Key{{By: ByName, Descending: true}}, []string{"a", "b"}, "b a"},
		{"by position", []Key{{By: ByIndex}}, []string{"a", "b", "c"}, "c b a"},
		{"a section first", []Key{{By: BySection}, {By: ByName}}, []string{"a", "b section=x", "c section=y"}, "b c a"},
		{"identity as one text", []Key{{By: ByIdentity}}, []string{"b", "a section=x", "a-b"}, "a-b a b"},
		{"a function", []Key{{By: ByFunc, Func: func(a, b *Attached) int { return b.Index - a.Index }}},
			[]string{"b", "a"}, "b a"},
	} {
		k := &Kind{}
		k.Compare = c.keys
		if k.IsByLevel() {
			t.Errorf("%s: there is no level", c.name)
		}
		in := labelled(c.in...)
		for range 3 {
			slices.Reverse(in)
			ordered, _ := k.Order(in)
			var got []string
			for _, a := range ordered {
				got = append(got, a.Policy.Ref().Name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: %v, want %s", c.name, got, c.want)
			}
		}
	}
}
