package model

import (
	"maps"
	"testing"
)

// The annotations of a kind are those of all its objects, and of no other kind.
func TestSnapshotAnnotations(t *testing.T) {
	gk := func(kind string) GroupKind { return GroupKind{Kind: kind} }
	s := NewSnapshot([]*Object{
		{Ref: Ref{Kind: "A", Name: "x"}, Annotations: map[string]string{"a": "1", "b": "1"}},
		{Ref: Ref{Kind: "A", Name: "y"}, Annotations: map[string]string{"b": "2", "c": "2"}},
		{Ref: Ref{Kind: "B", Name: "z"}, Annotations: map[string]string{"d": "3"}},
	}, nil)
	for kind, want := range map[string]map[string]bool{"A": {"a": true, "b": true, "c": true},
		"B": {"d": true}, "C": nil} {
		if got := s.AnnotationNames(gk(kind)); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}
