package topology

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// SetState says what became of a ListenerSet at its Gateway; but for SetUnknown it is the reason of its Accepted condition (gatewayapi G22).
type SetState string

// The states. SetWithoutParent and SetUnknown are ours: the Gateway does not exist or is not in the input, or it is not known whether it takes the set.
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
	return SetFacts{Gateway: None, State: SetUnknown, Missing: true, Reason: g.nodes.list[id].Ref.String() + " may not be read"}
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

// MergesGateways reports whether the Gateways of a class share their ports, so that a listener of
// one can conflict with those of another (switch gatewayMerging).
func (g *Graph) MergesGateways() bool { return g.parts.MergesGateways }

// WantsDefaultGateways reports whether a route asks for default Gateways (gatewayapi G20).
func (g *Graph) WantsDefaultGateways(route NodeID) bool {
	_, ok := g.parts.WantDefaults[route]
	return ok
}

// listenerSet is a ListenerSet while the graph is built.
type listenerSet struct {
	SetFacts
	id     NodeID
	object *model.Object
	spec   fieldReader
}

// addSets adds the ListenerSets and asks their Gateways whether they take them.
func (gs *gatewayBuilder) addSets() {
	gs.firstSet = NodeID(gs.nodes.Len())
	for _, gk := range ListenerSetKinds() {
		for _, o := range gs.in.OfKind(gk) {
			s := listenerSet{id: gs.nodes.Add(Node{Role: ListenerSet, Ref: o.Ref, Object: o}), object: o, spec: gs.readSpec(o), SetFacts: SetFacts{Gateway: None}}
			gs.addToNamespace(o.Ref.Namespace, s.id)
			gs.sets = append(gs.sets, s)
		}
	}
	for i := range gs.sets { // after all sets have got their numbers, because Gateways that may not be read are new nodes
		gs.joinGateway(&gs.sets[i])
	}
}

// joinGateway finds the Gateway of a set and whether that takes it (gatewayapi G5, G10, G22).
func (gs *gatewayBuilder) joinGateway(s *listenerSet) {
	f := s.spec.readObject("parentRef")
	ref := f.readReference(model.Ref{Group: gatewayGroup, Kind: gatewayKind.Kind, Namespace: s.object.Ref.Namespace})
	s.State = SetWithoutParent
	switch {
	case f.bad || s.spec.bad:
		s.Reason = "spec.parentRef cannot be read"
		return
	case ref.Name == "":
		s.Reason = "spec.parentRef names no Gateway"
		gs.reportSkipped(f.at, "has no name")
		return
	case ref.GroupKind() != gatewayKind:
		s.Reason = "a listener set cannot be attached to " + ref.String()
		gs.reportInvalid(f.at, f.at.String()+" names "+ref.String()+", which is no Gateway; the listener set is ignored")
		return
	}
	id, ok := gs.nodes.Find(ref)
	if !ok || gs.nodes.Node(id).Object == nil {
		gs.judgeMissingGateway(s, ref)
		return
	}
	s.Gateway = id
	namespace := s.object.Ref.Namespace
	switch gs.admitsNamespace(id, &gs.specs[gs.gatewayOf[id]].sets, namespace) {
	case Yes:
		s.State, s.Reason = SetAccepted, "the listener set is accepted"
	case No:
		s.State, s.Reason = SetNotAllowed, ref.String()+" takes no listener sets from namespace "+namespace
	case Maybe:
		s.State, s.Reason = SetUnknown, ref.String()+" selects namespaces by labels, and those of "+namespace+" are not known"
		gs.addNote(noteTopic{kind: setLabelsUnknown, about: namespaceRef(namespace), at: ref}, s.object)
	}
}

// judgeMissingGateway returns the verdict on a set whose Gateway is not in the input. A Gateway
// that we may not read is taken to accept the set, as it is for routes.
func (gs *gatewayBuilder) judgeMissingGateway(s *listenerSet, ref model.Ref) {
	switch {
	case gs.coverage.hasAll(gatewayKind, ref.Namespace):
		s.Reason = ref.String() + " does not exist"
	case gs.coverage.isWithheld(gatewayKind, ref.Namespace):
		s.Gateway, s.State, s.Missing, s.Reason = gs.withheldNode(Gateway, ref), SetUnknown, true, ref.String()+" may not be read"
	default:
		s.Missing, s.Reason = true, ref.String()+" is not in the input"
		gs.addNote(noteTopic{kind: setParentMissing, about: ref}, s.object)
	}
}

// connectSets decides about sets that their Gateways take, now that it is known which listeners conflict, and connects those that traffic
// passes. The Gateway is judged by its own listeners: a set adds to what its Gateway is, and cannot make it one, unless the implementation has it so.
func (gs *gatewayBuilder) connectSets() {
	for i := range gs.sets {
		s := &gs.sets[i]
		if s.State == SetAccepted {
			own := gs.listenersOf(s.Gateway)
			switch {
			case len(own) > 0 && !gs.implementationAt(s.Gateway).TakesSetsAlways && !slices.ContainsFunc(own, func(l listener) bool { return !l.isRefused() }):
				s.State, s.Reason = SetParentNotAccepted, "no listener of "+gs.nodes.Node(s.Gateway).Ref.String()+" itself is valid"
			case !slices.ContainsFunc(gs.listenersOf(s.id), func(l listener) bool { return l.isValid() }):
				s.State, s.Reason = SetListenersNotValid, "no listener of the set is valid"
			}
		}
		if gs.accessTo(s).open {
			gs.addEdge(s.Gateway, s.id)
		}
	}
}

// listenersOf returns the listeners that a Gateway or a ListenerSet holds.
func (gs *gatewayBuilder) listenersOf(owner NodeID) []listener {
	first, end := gs.nodes.Node(owner).PartRange()
	if first == end {
		return nil
	}
	return gs.listenerTable.all[first-gs.listenerTable.first : end-gs.listenerTable.first]
}

// accessTo says how traffic comes to the listeners of a set. A set without any valid listener is
// connected like a Gateway without one: what keeps traffic out are its listeners.
func (gs *gatewayBuilder) accessTo(s *listenerSet) listenerAccess {
	way := listenerAccess{known: true}
	switch s.State {
	case SetAccepted, SetListenersNotValid:
		way.open = true
	case SetUnknown:
		way.known, way.open = false, s.Missing
	case SetWithoutParent:
		way.known = !s.Missing
	}
	if !way.known {
		way.reason = "whether " + gs.nodes.Node(s.id).Ref.String() + " takes part is not known: " + s.Reason
	}
	return way
}

// attachToSet decides a parentRef to a ListenerSet. On a set that its Gateway refuses, or that has none, there is no listener to find
// (gatewayapi G22); one that is not accepted for its or its Gateway's listeners takes routes as these do.
func (w *routeAttacher) attachToSet(r *routeDraft, a Attachment) {
	id, ok := w.nodes.Find(a.Parent.WithoutSection())
	if !ok || w.nodes.Node(id).Object == nil {
		a.MaybeUnreported = w.coverage.isWithheld(a.Parent.GroupKind(), a.Parent.Namespace) && w.mayOmitStatus()
		w.table = append(w.table, w.judgeMissingParent(r, a, ListenerSet))
		return
	}
	s := &w.sets[id-w.firstSet]
	if s.State == SetNotAllowed || s.State == SetWithoutParent && !s.Missing {
		a.State, a.Reason = NoMatchingParent, a.Parent.WithoutSection().String()+" has no listeners: "+s.Reason
		a.Unreported = w.implementationAt(id).NoStatusOnSets
		w.table = append(w.table, a)
		return
	}
	a.MaybeUnreported = s.State == SetUnknown && w.mayOmitStatus()
	w.attachToOwner(r, id, a, w.accessTo(s))
}
