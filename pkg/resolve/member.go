package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// isMember reports whether the policies of a kind are among those of another one.
func isMember(kinds []*policy.Kind, k *policy.Kind) bool {
	return slices.ContainsFunc(kinds, func(o *policy.Kind) bool { return slices.Contains(o.Members, k.GroupKind) })
}

// lead tells members whose they are.
func (r *Resolution) lead() {
	for _, k := range r.Kinds {
		if k.Again() {
			continue
		}
		for _, gk := range k.Members {
			if m := r.Kind(gk); m != nil {
				m.Leader = k
			}
		}
	}
}

// Resolved is the kind that has the results of the kind's policies: the kind itself, unless it is a member of another one.
func (k *Kind) Resolved() *Kind {
	if k.Leader != nil {
		return k.Leader
	}
	return k
}
