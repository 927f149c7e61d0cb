package agentgateway

import (
	"cmp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// newTieBreaker orders policies of one target such that the one that comes first by compare is in
// force: overrides are in force from the first on, defaults from the last. An override of any key
// is in force before a default.
func newTieBreaker(compare func(a, b *model.Object) int) policy.Comparator {
	return func(a, b *policy.Attached) int {
		x, y := a.Policy.Object, b.Policy.Object
		switch overrides := [2]bool{isOverride(x), isOverride(y)}; overrides {
		case [2]bool{true, true}:
			return compare(x, y)
		case [2]bool{true, false}:
			return -1
		case [2]bool{false, true}:
			return 1
		}
		return compare(y, x)
	}
}

// isOverride reports whether a policy overrides what is more specific. Before routing, inheritance
// is not read.
func isOverride(o *model.Object) bool {
	spec := o.Body.Field("spec")
	return spec.Text("strategy", "inheritance") == "Override" && spec.Text("traffic", "phase") != "PreRouting"
}

// compareKeys orders policies as the data plane keeps their settings, by keys that begin with
// NAMESPACE/NAME: and are compared byte by byte. So a-b comes before a.
func compareKeys(a, b *model.Object) int {
	return strings.Compare(a.Ref.FullName()+":", b.Ref.FullName()+":")
}

// compareCreation orders policies by age, the oldest first. What is not created yet comes last.
func compareCreation(a, b *model.Object) int {
	x, y := a.Created, b.Created
	if x.IsZero() != y.IsZero() {
		return map[bool]int{true: 1, false: -1}[x.IsZero()]
	}
	return cmp.Or(x.Compare(y), compareKeys(a, b))
}
