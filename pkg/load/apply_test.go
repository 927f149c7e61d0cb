package load

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const serviceText = "apiVersion: v1\nkind: Service\nmetadata: {name: NAME, namespace: a CREATED}\nspec: {type: TYPE}\n---\n"

func service(name, created, of string) string {
	return strings.NewReplacer("NAME", name, "CREATED", created, "TYPE", of).Replace(serviceText)
}

// TestOver: what is applied takes the place of what is there and keeps its time; what is new is
// younger; the base stays as it is.
func TestOver(t *testing.T) {
	const old, future = `, creationTimestamp: "2026-01-01T00:00:00Z"`, `, creationTimestamp: "2999-01-01T00:00:00Z"`
	base, err := Files(context.Background(), Options{Paths: []string{"-"},
		Stdin: strings.NewReader(service("one", old, "x") + service("two", future, "x") + service("bad", "", "x") +
			service("bad", "", "y"))})
	if err != nil {
		t.Fatal(err)
	}
	over, err := ApplyFiles(context.Background(), base, Options{Paths: []string{"-"},
		Stdin: strings.NewReader(service("one", "", "new") + service("three", "", "new") + service("bad", "", "z"))})
	if err != nil {
		t.Fatal(err)
	}
	get := func(s *model.Snapshot, name string) *model.Object {
		return s.Get(model.Ref{Kind: "Service", Namespace: "a", Name: name})
	}
	switch {
	case get(base, "one").Text("spec", "type") != "x" || get(base, "three") != nil || len(base.Problems) != 1:
		t.Error("the base changes")
	case get(over, "one").Text("spec", "type") != "new" || !get(over, "one").Created.Equal(get(base, "one").Created):
		t.Errorf("replaced: %v", get(over, "one"))
	case !get(over, "three").Created.After(get(over, "two").Created):
		t.Errorf("what is new is of %s", get(over, "three").Created)
	case get(over, "bad") == nil || len(over.Problems) != 0:
		t.Errorf("what was wrong with an object that is replaced stays: %v", over.Problems)
	}
	less := RemoveObjects(over, func(ref model.Ref) bool { return ref.Name == "one" })
	if get(less, "one") != nil || len(less.Objects) != len(over.Objects)-1 || get(over, "one") == nil {
		t.Error("what is left out is there, or the whole changes")
	}
}
