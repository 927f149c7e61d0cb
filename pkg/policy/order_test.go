package policy

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// candidates reads "namespace/name@second" texts; without @ the creation time is not known.
func candidates(texts ...string) []Attached {
	var out []Attached
	for _, text := range texts {
		full, second, timed := strings.Cut(text, "@")
		namespace, name, _ := strings.Cut(full, "/")
		o := &model.Object{Ref: model.Ref{Group: "x.io", Kind: "Paint", Namespace: namespace, Name: name}}
		if timed {
			o.Created = time.Date(2026, 1, 1, 0, 0, int(second[0]-'0'), 0, time.UTC)
		}
		out = append(out, Attached{Policy: &Policy{Object: o}})
	}
	return out
}

func keys(all ...By) []Key {
	var out []Key
	for _, by := range all {
		out = append(out, Key{By: by})
	}
	return out
}

func TestOrder(t *testing.T) { // engine E9
	for _, c := range []struct {
		name       string
		keys       []Key
		in, want   string
		ageIgnored bool
	}{
		{"older first", nil, "n/b@1 n/a@2", "n/b n/a", false},
		{"same age: by name", nil, "n/b@1 n/a@1", "n/a n/b", false},
		{"one time missing: age is ignored for all", nil, "n/c@1 n/b n/a@2", "n/a n/b n/c", true},
		{"pair by pair this has no order", nil, "n/c@1 n/a@2 n/b", "n/a n/b n/c", true},
		{"no times", nil, "n/b n/a", "n/a n/b", true},
		{"one candidate", nil, "n/a", "n/a", false},
		{"namespace and name as one text", keys(ByLevel, ByNamespacedName), "a/y a-b/x", "a-b/x a/y", false},
		{"namespace and name as two keys", keys(ByLevel, ByNamespace, ByName), "a-b/x a/y", "a/y a-b/x", false},
		{"name before namespace", keys(ByLevel, ByName, ByNamespace), "a/z b/y c/y", "b/y c/y a/z", false},
		{"nothing else decides: by reference", keys(ByLevel), "b/a a/b", "a/b b/a", false},
		{"age does not count", keys(ByLevel, ByNamespacedName), "n/b@1 n/a@2", "n/a n/b", false},
	} {
		k := &Kind{}
		k.Compare = c.keys
		if c.keys == nil {
			k.Compare = keys(ByLevel, ByCreated, ByNamespacedName)
		}
		in := candidates(strings.Fields(c.in)...)
		for range 6 {
			rand.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
			before := slices.Clone(in)
			ordered, ageIgnored := k.Order(in)
			var got []string
			for _, a := range ordered {
				got = append(got, a.Policy.Ref().FullName())
			}
			if strings.Join(got, " ") != c.want || ageIgnored != c.ageIgnored {
				t.Errorf("%s: got %v age ignored %v, want %s %v", c.name, got, ageIgnored, c.want, c.ageIgnored)
			}
			if !slices.Equal(before, in) {
				t.Errorf("%s: the input was changed", c.name)
			}
		}
	}
}
