package topology

import gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

// SetState says what became of a ListenerSet at its Gateway; but for SetUnknown it is the reason of
// its Accepted condition (gatewayapi G22).
type SetState string

// The states. SetWithoutParent and SetUnknown are ours: the Gateway does not exist or is not in the
// input, or it is not known whether it takes the set.
const (
	SetAccepted          SetState = SetState(gatewayv1.ListenerSetReasonAccepted)
	SetNotAllowed        SetState = SetState(gatewayv1.ListenerSetReasonNotAllowed)
	SetParentNotAccepted SetState = SetState(gatewayv1.ListenerSetReasonParentNotAccepted)
	SetListenersNotValid SetState = SetState(gatewayv1.ListenerSetReasonListenersNotValid)
	SetWithoutParent     SetState = SetState(gatewayv1.RouteReasonNoMatchingParent)
	SetUnknown           SetState = "NotEvaluated"
)

// SetFacts is what became of a ListenerSet at its Gateway (gatewayapi G22).
type SetFacts struct {
	Gateway NodeID // that parentRef names; None: it is not in the input
	State   SetState
	Missing bool   // the Gateway is not in the input but may exist: SetWithoutParent is a guess (G10)
	Reason  string // one plain sentence
}

// ListenerSet returns the facts of a ListenerSet. Of one that may not be read nothing is known.
func (g *Graph) ListenerSet(id NodeID) SetFacts {
	if s, ok := g.parts.Sets[id]; ok {
		return s
	}
	return SetFacts{Gateway: None, State: SetUnknown, Missing: true, Reason: g.nodes.list[id].Ref.String() +
		" is forbidden"}
}

// ListenerSetsOf lists the ListenerSets whose parentRef names the Gateway, whether it takes them or
// not, sorted.
func (g *Graph) ListenerSetsOf(gateway NodeID) []NodeID { return g.parts.SetsOf[gateway] }

// PassesPolicies reports whether the policies that hold at a node hold at the given one right below
// it as well: always, but from a Gateway to a ListenerSet only where the switch of the
// implementation says so (gatewayapi G25).
func (g *Graph) PassesPolicies(from, to NodeID) bool {
	return !g.parts.SetsApart || g.nodes.list[from].Role != Gateway || g.nodes.list[to].Role != ListenerSet
}
