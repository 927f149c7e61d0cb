package load_test

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func thing(name, spec string) string { return loadtest.Thing(name) + "spec: {" + spec + "}\n" }

// Files that contradict each other are told once, with all that they define differently.
func TestContradictions(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"two files", map[string]string{
			"m/x.yaml": thing("a", "x: 1") + "---\n" + thing("b", "x: 1") + "---\n" + thing("same", "x: 1"),
			"m/y.yaml": thing("a", "x: 2") + "---\n" + thing("b", "x: 2") + "---\n" + thing("same", "x: 1"),
		}, []string{
			"error DuplicateObject m/x.yaml:1: m/x.yaml and m/y.yaml define 2 objects differently; none of them is used: thing/ns/a and thing/ns/b (if they are alternatives, read one of the files at a time)"}},
		{"two pairs of files", map[string]string{
			"m/1.yaml": thing("a", "x: 1"), "m/2.yaml": thing("a", "x: 2"),
			"m/3.yaml": thing("b", "x: 1"), "m/4.yaml": thing("b", "x: 2"),
		}, []string{
			"error DuplicateObject thing/ns/a m/1.yaml:1: thing/ns/a: m/1.yaml:1 and m/2.yaml:1 define it differently; both are ignored (keep one of them)",
			"error DuplicateObject thing/ns/b m/3.yaml:1: thing/ns/b: m/3.yaml:1 and m/4.yaml:1 define it differently; both are ignored (keep one of them)"}},
		{"files that others connect", map[string]string{
			"m/1.yaml": thing("a", "x: 1"), "m/2.yaml": thing("a", "x: 2") + "---\n" + thing("b", "x: 2") + "---\n" +
				thing("d", "x: 1") + "---\n" + thing("e", "x: 1") + "---\n" + thing("f", "x: 1"),
			"m/3.yaml": thing("b", "x: 1") + "---\n" + thing("d", "x: 2"), "m/4.yaml": thing("e", "x: 2"),
			"m/5.yaml": thing("f", "x: 2"),
		}, []string{
			"error DuplicateObject m/1.yaml:1: m/1.yaml, m/2.yaml, m/3.yaml and 2 more files define 5 objects differently; none of them is used: thing/ns/a, thing/ns/b, thing/ns/d and 2 more objects (if they are alternatives, read one of the files at a time)"}},
		{"folders that are alternatives", map[string]string{
			"m/p/1.yaml": thing("a", "x: 1"), "m/p/2.yaml": thing("b", "x: 1"), "m/q/all.yaml": thing("a", "x: 2") +
				"---\n" + thing("b", "x: 2"),
		}, []string{
			"error DuplicateObject m/p/1.yaml:1: the folders m/p and m/q define 2 objects differently; none of them is used: thing/ns/a and thing/ns/b (if they are alternatives, read one of the folders at a time)"}},
		{"one file", map[string]string{
			"m/1.yaml": thing("a", "x: 1") + "---\n" + thing("a", "x: 2") + "---\n" + thing("b", "x: 1") + "---\n" +
				thing("b", "x: 2"),
		}, []string{
			"error DuplicateObject m/1.yaml:1: m/1.yaml defines 2 objects more than once, each time differently; none of them is used: thing/ns/a and thing/ns/b (keep one of each)"}},
		{"many places of one object", map[string]string{
			"m/1.yaml": thing("a", "x: 1"), "m/2.yaml": thing("a", "x: 2"), "m/3.yaml": thing("a", "x: 3"),
			"m/4.yaml": thing("a", "x: 4"), "m/5.yaml": thing("a", "x: 5"),
		}, []string{
			"error DuplicateObject thing/ns/a m/1.yaml:1: thing/ns/a: m/1.yaml:1, m/2.yaml:1, m/3.yaml:1 and 2 more places define it differently; all are ignored (keep one of them)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Write(t, tt.files)
			s, err := load.Files(t.Context(), load.Options{Paths: []string{"m"}, Recursive: true})
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(loadtest.Describe(s), func(line string) bool { return line == "thing/ns/same m/x.yaml:11" })
			loadtest.Same(t, got, tt.want...)
		})
	}
}

// It is a mistake to define an object twice only where an answer depends on it.
func TestDuplicatesThatNobodyReads(t *testing.T) {
	role := func(rule string) string {
		return "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: ns}\nrule: " + rule + "\n"
	}
	policy := func(limit string) string {
		return "apiVersion: example.com/v1\nkind: Limit\nmetadata: {name: p, namespace: ns}\nspec: {targetRef: {name: x}, limit: " +
			limit + "}\n"
	}
	loadtest.Write(t, map[string]string{
		"m/1.yaml": role("x") + "---\n" + policy("1") + "---\n" + loadtest.Thing("a"),
		"m/2.yaml": role("y") + "---\n" + policy("2") + "---\n" + thing("a", "x: 1"),
	})
	s, err := load.Files(t.Context(), load.Options{Paths: []string{"m"},
		IsRead: func(gk model.GroupKind) bool { return gk.Kind == "Thing" }})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s),
		"error DuplicateObject m/1.yaml:6: m/1.yaml and m/2.yaml define 2 objects differently; none of them is used: limit/ns/p and thing/ns/a (if they are alternatives, read one of the files at a time)",
		"info DuplicateObject serviceaccount/ns/a m/1.yaml:1: serviceaccount/ns/a: m/1.yaml:1 and m/2.yaml:1 define it differently; both are ignored (keep one of them)")
	for _, ref := range []model.Ref{{Kind: "ServiceAccount", Namespace: "ns", Name: "a"},
		{Group: "example.com", Kind: "Limit", Namespace: "ns", Name: "p"}} {
		if e := s.FindExistence(ref); e.Presence != model.NotKnown {
			t.Errorf("%s: got %v", ref, e)
		}
	}
}

// Objects whose names are not known need not be the same.
func TestDuplicatesOfNamesWithVariables(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"m/1.yaml": thing("'${NAME}'", "x: 1"), "m/2.yaml": thing("'${NAME}'", "x: 2"),
		"m/3.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: \"{{ ns }}\"}\n",
		"m/4.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: \"{{ ns }}\"}\nspec: {}\n",
	})
	s := files(t, "m")
	loadtest.Same(t, loadtest.Describe(s), "service/{{ ns }}/a m/3.yaml:1", "thing/ns/${NAME} m/1.yaml:1")
	if len(s.Ambiguous) > 0 {
		t.Errorf("got %v", s.Ambiguous)
	}
}

// What is applied to an input decides which of several versions counts, or makes it unknown again.
func TestAmbiguousObjectsOfChanges(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"m/1.yaml": thing("a", "x: 1") + "---\n" + thing("b", "x: 1"), "m/2.yaml": thing("a", "x: 2") + "---\n" +
			thing("b", "x: 2"),
		"c/1.yaml": thing("a", "x: 3") + "---\n" + thing("c", "x: 1"), "c/2.yaml": thing("c", "x: 2"),
	})
	s, err := load.ApplyFiles(t.Context(), files(t, "m"), load.Options{Paths: []string{"c"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]model.Presence{"a": model.Present, "b": model.NotKnown, "c": model.NotKnown} {
		if e := s.FindExistence(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "ns", Name: name}); e.Presence != want {
			t.Errorf("%s: got %v", name, e)
		}
	}
}

// Nothing is said of objects that no answer depends on and that differ only in labels and
// annotations.
func TestCopiesThatDifferInLabels(t *testing.T) {
	labelled := func(label string) string {
		return "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: ns, labels: {by: " + label + "}}\n"
	}
	loadtest.Write(t, map[string]string{"m/1.yaml": labelled("one"), "m/2.yaml": labelled("two")})
	for isRead, want := range map[bool]int{true: 1, false: 0} {
		s, err := load.Files(t.Context(), load.Options{Paths: []string{"m"}, IsRead: func(model.GroupKind) bool { return isRead }})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Problems) != want {
			t.Errorf("read %v: %v", isRead, s.Problems)
		}
	}
}
