package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// counting is a fate while it is counted.
type counting struct {
	fate                                    *Fate
	lostTo, overriders, holders, rejectedBy set[model.Ref]
	conflicts                               set[Conflict]
	affected                                map[model.Ref]bool
	lost                                    losses
}

// add notes the policies to which a share of one more stack lost.
func (t *counting) add(sh *share) {
	t.lostTo.add(sh.lostTo.list...)
	t.overriders.add(sh.overriders.list...)
	t.holders.add(sh.holders.list...)
	if len(sh.conflicts.list) > 0 {
		t.rejectedBy.add(sh.holders.list...)
		t.conflicts.add(sh.conflicts.list...)
	}
}

// done writes down what was counted.
func (t *counting) done() *Fate {
	f := t.fate
	f.LostTo, f.Overriders, f.Holders, f.RejectedBy = sortedRefs(t.lostTo), sortedRefs(t.overriders), sortedRefs(t.holders), sortedRefs(t.rejectedBy)
	f.Conflicts, f.Lost = t.conflicts.list, t.lost.sorted()
	for ref := range t.affected {
		f.Affected = append(f.Affected, ref)
	}
	slices.SortFunc(f.Affected, model.Ref.Compare)
	return f
}

// set is a list without repetitions, in the order in which its members came. A long one is indexed: a policy can lose to thousands of others.
type set[T comparable] struct {
	list []T
	at   map[T]struct{} // nil: the list is short
}

// longSet is the length from which a set is indexed.
const longSet = 16

func (s *set[T]) add(members ...T) {
	for _, m := range members {
		if s.has(m) {
			continue
		}
		s.list = append(s.list, m)
		switch {
		case s.at != nil:
			s.at[m] = struct{}{}
		case len(s.list) == longSet:
			s.at = make(map[T]struct{}, 2*longSet)
			for _, old := range s.list {
				s.at[old] = struct{}{}
			}
		}
	}
}

func (s *set[T]) has(m T) bool {
	if s.at == nil {
		return slices.Contains(s.list, m)
	}
	_, ok := s.at[m]
	return ok
}

// sortedRefs are the members of a set in order.
func sortedRefs(s set[model.Ref]) []model.Ref {
	slices.SortFunc(s.list, model.Ref.Compare)
	return s.list
}
