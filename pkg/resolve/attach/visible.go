package attach

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// askNamespaces asks which namespaces the kind's implementation sees.
func (k *attacher) askNamespaces() {
	if k.DiscoverNamespaces == nil || len(k.Policies) == 0 {
		return
	}
	var problems []model.Problem
	k.seesNamespace, problems = k.DiscoverNamespaces(k.res.Snapshot, k.Settings)
	k.res.Problems = append(k.res.Problems, problems...)
}

// checkVisible reports whether the implementation sees a policy, and adds a problem if it does not.
func (k *attacher) checkVisible(p *policy.Policy) bool {
	if k.SeesNamespace(p.Ref().Namespace) {
		return true
	}
	k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Info, Code: model.NotReached,
		Message: fmt.Sprintf("the implementation does not watch namespace %s: the policy has no effect",
			p.Ref().Namespace)}.At(p.Object))
	return false
}
