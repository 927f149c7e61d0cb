package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// isMember reports whether the policies of a kind are among those of another one.
func isMember(kinds []*policy.Kind, k *policy.Kind) bool {
	return slices.ContainsFunc(kinds, func(o *policy.Kind) bool { return slices.Contains(o.Members, k.GroupKind) })
}

// decodeAll reads the policies of a kind and, each as its own kind has it, those of its members; sorted by reference.
func decodeAll(kinds []*policy.Kind, k *policy.Kind, in *model.Snapshot, conditions *expression.Conditions) []*policy.Policy {
	out := decodeKind(k, in.Of(k.GroupKind), conditions)
	for _, m := range kinds {
		if slices.Contains(k.Members, m.GroupKind) {
			out = append(out, decodeKind(m, in.Of(m.GroupKind), conditions)...)
		}
	}
	slices.SortFunc(out, func(a, b *policy.Policy) int { return a.Ref().Compare(b.Ref()) })
	return out
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
