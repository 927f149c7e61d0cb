package policy

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// tryMembers sees to it that the members of kinds are described, each in one kind, and have no results of their own.
func (b *builder) tryMembers() []string {
	var wrong []string
	leader := map[model.GroupKind]model.GroupKind{}
	for _, k := range b.catalog.Kinds() {
		r := &reader{file: b.raw[k.GroupKind].file}
		at := member(b.raw[k.GroupKind].node, "members")
		for _, gk := range k.Members {
			m := b.catalog.kinds[gk]
			other, again := leader[gk]
			switch {
			case m == nil:
				r.fail(at, "there is no descriptor of member %s", gk)
			case gk == k.GroupKind || m.Members != nil || m.Scopes != nil:
				r.fail(at, "%s cannot be a member: it has members, or scopes of its own", gk)
			case again:
				r.fail(at, "%s is a member of %s already", gk, other)
			}
			leader[gk] = k.GroupKind
		}
		if err := r.err(); err != nil {
			wrong = append(wrong, strings.Split(err.Error(), "\n")...)
		}
	}
	return wrong
}

// AboutWorkloads reports whether the kind has results at workloads.
func (k *Kind) AboutWorkloads() bool {
	return k.Family == topology.Namespaced || slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return s.Family == topology.Namespaced || slices.Contains(s.Effective, topology.Workload)
	})
}

// Has reports whether a policy stands in the stacks of the kind: it is one of the kind, or of a member.
func (k *Kind) Has(p *Policy) bool {
	return p.Kind.GroupKind == k.GroupKind || slices.Contains(k.Members, p.Kind.GroupKind)
}
