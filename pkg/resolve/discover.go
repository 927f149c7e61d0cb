package resolve

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// unseenProblem says that a step leads to an object that the implementation does not see; nil if it
// does not.
func (k *pathEngine) unseenProblem(child topology.NodeID) *model.Problem {
	n := k.res.Graph.Node(child)
	switch n.Role {
	case topology.Gateway, topology.ListenerSet, topology.Route:
	default:
		return nil
	}
	if n.Object == nil || k.SeesNamespace(n.Ref.Namespace) {
		return nil
	}
	p := model.Problem{Severity: model.Info, Code: model.NotReached,
		Message: fmt.Sprintf(
			"the implementation does not watch namespace %s: policies do not apply on paths through %s",
			n.Ref.Namespace, n.Ref)}.At(n.Object)
	return &p
}
