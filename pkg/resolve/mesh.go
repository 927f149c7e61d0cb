package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// passesNode reports whether the kind's policies hold at a node and what is behind it: not at
// routes for traffic that is not the kind's.
func (k *pathEngine) passesNode(n *topology.Node) bool {
	return n.Role != topology.Route && n.Role != topology.Rule || k.PassesRoutes(n.Ref.GroupKind())
}

// hasNode reports whether the policies of a node are in the stack. Those of a Service that is a
// parent are those of the same Service as a backend: they count once, where they come first.
func (k *stackTable) hasNode(s StackID, n topology.NodeID) bool {
	nodes := k.nodesOf(s)
	if slices.Contains(nodes, n) {
		return true
	}
	if int(n) >= k.res.Graph.Len() {
		return false
	}
	node := k.res.Graph.Node(n)
	if node.Role != topology.Backend && node.Role != topology.Port {
		return false
	}
	parent := k.res.Graph.Frontend(node.Ref)
	return parent != topology.None && slices.Contains(nodes, parent)
}
