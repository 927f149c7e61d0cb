package policy

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Attached is a policy at one of its targets.
type Attached struct {
	Policy *Policy
	Node   topology.NodeID
	Ref    int // which of the policy's references led there
}

// Order sorts the policies of one place, established first, by the kind's comparator (engine E9). If one of them has no creation
// time, age is ignored for the whole set, since comparing pair by pair would not be transitive; then ageIgnored is true.
func (k *Kind) Order(as []Attached) (ordered []Attached, ageIgnored bool) {
	byAge := slices.Contains(k.Compare, ByCreated)
	if byAge && len(as) > 1 {
		ageIgnored = slices.ContainsFunc(as, func(a Attached) bool { return a.Policy.Object.Created.IsZero() })
	}
	out := slices.Clone(as)
	slices.SortStableFunc(out, func(a, b Attached) int {
		for _, key := range k.Compare {
			if key == ByCreated && ageIgnored {
				continue
			}
			if c := key.compare(a.Policy.Object, b.Policy.Object); c != 0 {
				return c
			}
		}
		return a.Policy.Ref().Compare(b.Policy.Ref())
	})
	return out, ageIgnored
}

// compare orders two objects by one key; the level is settled by the path, before policies of one place are compared.
func (key Key) compare(a, b *model.Object) int {
	switch key {
	case ByCreated:
		return a.Created.Compare(b.Created)
	case ByName:
		return cmp.Compare(a.Ref.Name, b.Ref.Name)
	case ByNamespace:
		return cmp.Compare(a.Ref.Namespace, b.Ref.Namespace)
	case ByNamespacedName:
		return cmp.Compare(a.Ref.FullName(), b.Ref.FullName())
	}
	return 0
}
