package resolve

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// inSets are the listeners in a Gateway's ListenerSets that a reference to a listener of the Gateway means as well: those of the same name.
func (k *Kind) inSets(t policy.TargetRef) []topology.NodeID {
	if !t.InSets || t.Ref.Section == "" {
		return nil
	}
	g := k.res.Graph
	var out []topology.NodeID
	for _, gateway := range g.Lookup(t.Ref.Whole()) {
		for _, set := range g.SetsOf(gateway) {
			out = append(out, g.Lookup(g.Node(set).Ref.In(t.Ref.Section))...)
		}
	}
	return out
}

// sectionLevel is the level of a policy at a listener that is another one's, "" for that of the node.
func (k *Kind) sectionLevel(t policy.TargetRef, id topology.NodeID) topology.Role {
	n := k.res.Node(id)
	if t.InSets && n.Role == topology.Listener && topology.IsListenerSet(n.Ref.GroupKind()) && !topology.IsListenerSet(t.Ref.GroupKind()) {
		return policy.SectionLevel
	}
	return ""
}

// position is where a policy stands in a stack that has what is above its place: at the end, or before what the ListenerSet itself has.
func (k *Kind) position(above []Layer, a policy.Attached) int {
	end := len(above)
	if a.Level != policy.SectionLevel {
		return end
	}
	for end > 0 && above[end-1].Level != policy.SectionLevel && topology.IsListenerSet(k.res.Node(above[end-1].Node).Ref.GroupKind()) {
		end--
	}
	return end
}

// namedGateway is the Gateway that a ListenerSet names, for kinds that have results there even if the Gateway does not take the set.
func (k *Kind) namedGateway(id topology.NodeID) []topology.NodeID {
	if !k.NamedSets || k.res.Graph.Node(id).Role != topology.ListenerSet {
		return nil
	}
	if set := k.res.Graph.Set(id); set.State == topology.SetNotAllowed {
		return []topology.NodeID{set.Gateway}
	}
	return nil
}

// untaken says of ListenerSets that their Gateway does not take, and where the kind has results all the same, that no traffic is behind these.
func (k *Kind) untaken() []model.Problem {
	if !k.NamedSets {
		return nil
	}
	var out []model.Problem
	g := k.res.Graph
	for _, id := range g.Order(k.Family) {
		n := g.Node(id)
		if n.Role != topology.ListenerSet || len(k.namedGateway(id)) == 0 {
			continue
		}
		holds := func(listener topology.NodeID) bool {
			return slices.ContainsFunc(k.at[listener], func(s StackID) bool { return !k.Empty(s) })
		}
		if slices.ContainsFunc(g.Children(k.Family, id), holds) {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotReached, Hint: "let it in by spec.allowedListeners of the Gateway",
				Message: fmt.Sprintf("%s: no traffic comes to %s, and what is said of its listeners would be in force if it did", g.Set(id).Reason, n.Ref)}.At(n.Object))
		}
	}
	return out
}
