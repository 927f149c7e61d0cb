package model

import "slices"

// Set is a list without repetitions, in the order in which its members came. A long one is indexed:
// there may be thousands of policies on one target.
type Set[T comparable] struct {
	List    []T            // what is in it; only Add adds to it
	members map[T]struct{} // nil: the list is short
}

// minIndexedSet is the length from which a set is indexed.
const minIndexedSet = 16

// Add adds what is not yet in the set.
func (s *Set[T]) Add(members ...T) {
	for _, m := range members {
		if s.Has(m) {
			continue
		}
		s.List = append(s.List, m)
		switch {
		case s.members != nil:
			s.members[m] = struct{}{}
		case len(s.List) == minIndexedSet:
			s.members = make(map[T]struct{}, 2*minIndexedSet)
			for _, old := range s.List {
				s.members[old] = struct{}{}
			}
		}
	}
}

// Clear empties the set, whose list must not be in use elsewhere. A large index is given up, as
// emptying it takes its size every time.
func (s *Set[T]) Clear() { s.List, s.members = s.List[:0], nil }

// Has reports whether the set has a member.
func (s *Set[T]) Has(m T) bool {
	if s.members == nil {
		return slices.Contains(s.List, m)
	}
	_, ok := s.members[m]
	return ok
}
