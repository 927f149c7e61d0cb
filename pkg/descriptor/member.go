package descriptor

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// tryMembers sees to it that the members of kinds are described, each in one kind, and have no results of their own.
func (b *builder) tryMembers() []string {
	var wrong []string
	leader := map[model.GroupKind]model.GroupKind{}
	for _, k := range b.catalog.Kinds() {
		r := &form.Reader{File: b.raw[k.GroupKind].file}
		at := form.Member(b.raw[k.GroupKind].node, "members")
		for _, gk := range k.Members {
			m := b.catalog.kinds[gk]
			other, again := leader[gk]
			switch {
			case m == nil:
				r.Fail(at, "there is no descriptor of member %s", gk)
			case gk == k.GroupKind || m.Members != nil || m.Scopes != nil:
				r.Fail(at, "%s cannot be a member: it has members, or scopes of its own", gk)
			case again:
				r.Fail(at, "%s is a member of %s already", gk, other)
			}
			leader[gk] = k.GroupKind
		}
		if err := r.Err(); err != nil {
			wrong = append(wrong, strings.Split(err.Error(), "\n")...)
		}
	}
	return wrong
}
