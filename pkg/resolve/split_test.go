package resolve

import (
	"fmt"
	"testing"
)

// TestSplit checks that names split a stack in the order in which they are seen, and that what is
// for none stays together.
func TestSplit(t *testing.T) {
	s := &scopeEngine{Kind: &Kind{stackNames: map[StackID]string{}}, ids: map[string]StackID{"": 0},
		stacks: [][]int32{nil}, partNames: [][]string{{"b", "a", "b"}, nil, {"a"}, nil}}
	for _, test := range []struct {
		parts partSet
		want  string
	}{
		{partSet{0, 1, 2, 3}, "b[0] a[0 2] [1 3] "},
		{partSet{1, 3}, "[1 3] "},
		{partSet{0}, "b[0] a[0] "},
		{nil, ""},
	} {
		got := ""
		for _, id := range s.splitByName(test.parts) {
			got += fmt.Sprint(s.stackNames[id], s.stacks[id], " ")
		}
		if got != test.want {
			t.Errorf("%v: %q, want %q", test.parts, got, test.want)
		}
	}
	if len(s.stacks) != 5 { // what is the same is numbered once
		t.Errorf("%d stacks", len(s.stacks))
	}
}
