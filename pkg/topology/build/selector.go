package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// admissionQuery is a question to the selector of a listener or a Gateway.
type admissionQuery struct {
	holder    topology.NodeID
	namespace string
}

// admitsNamespace reports whether the holder of an admission takes objects from the namespace
// (gatewayapi G14, G22).
func (gs *gatewayBuilder) admitsNamespace(holder topology.NodeID, a *selector.Admission,
	namespace string) selector.Truth {
	switch {
	case a.From == "All", a.From == "Same" && namespace == gs.nodes.Node(holder).Ref.Namespace:
		return selector.Yes
	case a.From != "Selector":
		return selector.No
	}
	key := admissionQuery{holder, namespace}
	answer, ok := gs.admissions[key]
	if !ok {
		answer = a.Selector.SelectsNamespace(namespace, gs.in.Get(gatewayapi.NamespaceRef(namespace)))
		gs.admissions[key] = answer
	}
	return answer
}
