package attach

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// listenersInSets returns the listeners in a Gateway's ListenerSets that a reference to a listener
// of the Gateway means as well: those of the same name.
func (k *attacher) listenersInSets(t policy.TargetRef) []topology.NodeID {
	if !t.InListenerSets || t.Ref.Section == "" {
		return nil
	}
	g := k.res.Graph
	var out []topology.NodeID
	for _, gateway := range g.Lookup(t.Ref.WithoutSection()) {
		for _, set := range g.ListenerSetsOf(gateway) {
			out = append(out, g.Lookup(g.Node(set).Ref.WithSection(t.Ref.Section))...)
		}
	}
	return out
}

// listenersByPort returns the listeners of a Gateway that a reference to one of its ports means.
func (k *attacher) listenersByPort(t policy.TargetRef, gateways []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, gateway := range gateways {
		owners := []topology.NodeID{gateway}
		if t.InListenerSets {
			owners = append(owners, k.res.Graph.ListenerSetsOf(gateway)...)
		}
		for _, id := range k.sectionNodes(owners) {
			if k.res.Node(id).Role == topology.Listener && k.res.Graph.Listener(id).Port == t.Port {
				out = append(out, id)
			}
		}
	}
	return out
}

// sectionNodes returns the sections of several objects.
func (k *attacher) sectionNodes(owners []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range owners {
		out = append(out, k.res.Graph.Parts(id)...)
	}
	return out
}

// sectionLevel returns the level of a policy at a listener that is another one's, or named by its
// port; "" for that of the node.
func (k *attacher) sectionLevel(t policy.TargetRef, id topology.NodeID) topology.Role {
	n := k.res.Node(id)
	if t.Port != 0 {
		return policy.PortLevel
	}
	if t.InListenerSets && n.Role == topology.Listener && gatewayapi.IsListenerSet(n.Ref.GroupKind()) &&
		!gatewayapi.IsListenerSet(t.Ref.GroupKind()) {
		return policy.SectionLevel
	}
	return ""
}
