package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// isMember reports whether the policies of a kind are among those of another one.
func isMember(kinds []*policy.Kind, k *policy.Kind) bool {
	return slices.ContainsFunc(kinds, func(o *policy.Kind) bool { return slices.Contains(o.Members, k.GroupKind) })
}

// linkMembers sets the leader of the kinds that are members of another one.
func (r *Resolution) linkMembers() {
	for _, k := range r.Kinds {
		if k.IsLaterScope() {
			continue
		}
		for _, gk := range k.Members {
			if m := r.Kind(gk); m != nil {
				m.Leader = k
			}
		}
	}
}

// ResolvedKind returns the kind that has the results of the kind's policies: the kind itself,
// unless it is a member of another one.
func (k *Kind) ResolvedKind() *Kind {
	if k.Leader != nil {
		return k.Leader
	}
	return k
}
