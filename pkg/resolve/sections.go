package resolve

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// insertPosition returns where a policy stands in a stack that has what is above its place: at the
// end, or before what the ListenerSet itself has.
func (k stackLayout) insertPosition(above []Layer, a policy.Attached) int {
	end := len(above)
	if a.Level != policy.SectionLevel {
		for end > 0 && above[end-1].Node == a.Node && above[end-1].Level == policy.SectionLevel &&
			above[end-1].attached.OutranksListenerSets() {
			end--
		}
		return end
	}
	if a.OutranksListenerSets() {
		return end
	}
	for end > 0 && above[end-1].Level != policy.SectionLevel &&
		gatewayapi.IsListenerSet(k.res.Node(above[end-1].Node).Ref.GroupKind()) {
		end--
	}
	return end
}

// parentsOfSet returns what is above a ListenerSet to the kind, by what traffic passes: nothing if
// its vendor does not know such sets; the Gateway that it names if the kind has results there even
// where the Gateway does not take the set.
func (k *pathEngine) parentsOfSet(id topology.NodeID, by []topology.NodeID) []topology.NodeID {
	switch {
	case k.ListenerSets == policy.NoSets:
		return nil
	case len(by) == 0 && k.ListenerSets == policy.AllSets &&
		k.res.Graph.ListenerSet(id).State == topology.SetNotAllowed:
		return []topology.NodeID{k.res.Graph.ListenerSet(id).Gateway}
	}
	return by
}

// reportListenerSets says of ListenerSets where the kind has results without traffic, or none in
// spite of it.
func (k *pathEngine) reportListenerSets() []model.Problem {
	var out []model.Problem
	g := k.res.Graph
	for _, id := range g.Order(k.Family) {
		n := g.Node(id)
		if n.Role != topology.ListenerSet || n.Object == nil {
			continue
		}
		by := g.Parents(k.Family, id)
		above := k.parentsOfSet(id, by)
		say := func(hint, format string, args ...any) {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotReached,
				Message: fmt.Sprintf(format, args...), Hint: hint}.At(n.Object))
		}
		switch {
		case len(above) > len(by) && k.hasPolicyOnListeners(id):
			say("let it in by spec.allowedListeners of the Gateway",
				"%s: no traffic reaches %s; policies on its listeners would be in force if it did", g.ListenerSet(
					id).Reason, n.Ref)
		case len(above) < len(by) &&
			slices.ContainsFunc(by, func(p topology.NodeID) bool { return len(k.contexts[p]) > 0 }):
			say("", "the implementation is described as one without listener sets: no traffic reaches %s", n.Ref)
		}
	}
	return out
}

// hasPolicyOnListeners reports whether policies hold at a listener of the set.
func (k *pathEngine) hasPolicyOnListeners(set topology.NodeID) bool {
	holds := func(listener topology.NodeID) bool {
		return slices.ContainsFunc(k.contexts[listener], func(s StackID) bool { return !k.IsEmpty(s) })
	}
	return slices.ContainsFunc(k.res.Graph.Children(k.Family, set), holds)
}
