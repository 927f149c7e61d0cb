package model

import (
	"slices"
	"testing"
)

// A set keeps the order in which its members came, and each once, also where it is long enough to
// be indexed.
func TestSet(t *testing.T) {
	var s Set[int]
	var want []int
	for i := range 3 * minIndexedSet {
		s.Add(i, 3*i, i)
		for _, m := range []int{i, 3 * i} {
			if !slices.Contains(want, m) {
				want = append(want, m)
			}
		}
		if !slices.Equal(s.List, want) {
			t.Fatalf("after %d: %v, want %v", i, s.List, want)
		}
	}
	if !s.Has(3) || s.Has(-1) {
		t.Errorf("has 3: %t, has -1: %t", s.Has(3), s.Has(-1))
	}
	s.Clear()
	if len(s.List) > 0 || s.Has(3) {
		t.Errorf("emptied: %v, has 3: %t", s.List, s.Has(3))
	}
	if s.Add(3); !s.Has(3) || len(s.List) != 1 {
		t.Errorf("after another 3: %v", s.List)
	}
}
