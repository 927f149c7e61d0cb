package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// listenerSet is a ListenerSet while the graph is built.
type listenerSet struct {
	topology.SetFacts
	id     topology.NodeID
	object *model.Object
	spec   manifest.Fields
}

// addSets adds the ListenerSets and asks their Gateways whether they take them.
func (gs *gatewayBuilder) addSets() {
	gs.firstSet = topology.NodeID(gs.nodes.Len())
	for _, gk := range gatewayapi.ListenerSetKinds() {
		for _, o := range gs.in.OfKind(gk) {
			s := listenerSet{id: gs.nodes.Add(topology.Node{Role: topology.ListenerSet, Ref: o.Ref, Object: o}),
				object: o, spec: gs.ReadSpec(o), SetFacts: topology.SetFacts{Gateway: topology.None}}
			gs.addToNamespace(o.Ref.Namespace, s.id)
			gs.sets = append(gs.sets, s)
		}
	}
	// after all sets have got their numbers, because Gateways that may not be read are new nodes
	for i := range gs.sets {
		gs.joinGateway(&gs.sets[i])
	}
}

// joinGateway finds the Gateway of a set and whether that takes it (gatewayapi G5, G10, G22).
func (gs *gatewayBuilder) joinGateway(s *listenerSet) {
	f := s.spec.ReadObject("parentRef")
	ref := f.ReadReference(model.Ref{Group: gatewayapi.GatewayGroup, Kind: gatewayapi.GatewayKind.Kind,
		Namespace: s.object.Ref.Namespace})
	s.State = topology.SetWithoutParent
	switch {
	case f.Bad || s.spec.Bad:
		s.Reason = "spec.parentRef cannot be read"
		return
	case ref.Name == "":
		s.Reason = "spec.parentRef names no Gateway"
		gs.ReportSkipped(f.At, "has no name")
		return
	case ref.GroupKind() != gatewayapi.GatewayKind:
		s.Reason = "a listener set cannot be attached to " + ref.String()
		gs.ReportInvalid(f.At, f.At.String()+" names "+ref.String()+
			", which is no Gateway; the listener set is ignored")
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
	case selector.Yes:
		s.State, s.Reason = topology.SetAccepted, "the listener set is accepted"
	case selector.No:
		s.State, s.Reason = topology.SetNotAllowed, ref.String()+" takes no listener sets from namespace "+namespace
	case selector.Maybe:
		s.State, s.Reason = topology.SetUnknown, ref.String()+" selects namespaces by labels, and those of "+namespace+
			" are not known"
		gs.addNote(noteTopic{kind: setLabelsUnknown, about: gatewayapi.NamespaceRef(namespace), at: ref}, s.object)
	}
}

// judgeMissingGateway returns the verdict on a set whose Gateway is not in the input. A Gateway
// that we may not read is taken to accept the set, as it is for routes.
func (gs *gatewayBuilder) judgeMissingGateway(s *listenerSet, ref model.Ref) {
	switch e := gs.in.FindExistence(ref); {
	case e.Presence == model.Missing:
		s.Reason = e.Why
	case gs.in.Cluster.IsUnread(gatewayapi.GatewayKind, ref.Namespace):
		s.Gateway, s.State, s.Missing, s.Reason = gs.withheldNode(topology.Gateway,
			ref), topology.SetUnknown, true, ref.String()+" is forbidden"
	default:
		s.Missing, s.Reason = true, ref.String()+" is not in the input"
		gs.addNote(noteTopic{kind: setParentMissing, about: ref}, s.object)
	}
}

// connectSets decides about sets that their Gateways take, now that it is known which listeners
// conflict, and connects those that traffic passes. The Gateway is judged by its own listeners: a
// set adds to what its Gateway is, and cannot make it one, unless the implementation has it so.
func (gs *gatewayBuilder) connectSets() {
	for i := range gs.sets {
		s := &gs.sets[i]
		if s.State == topology.SetAccepted {
			own := gs.listenersOf(s.Gateway)
			switch {
			case len(own) > 0 && !gs.implementationAt(s.Gateway).TakesSetsAlways &&
				!slices.ContainsFunc(own, func(l listener) bool { return !l.isRefused() }):
				s.State, s.Reason = topology.SetParentNotAccepted, "no listener of "+
					gs.nodes.Node(s.Gateway).Ref.String()+" itself is valid"
			case !slices.ContainsFunc(gs.listenersOf(s.id), func(l listener) bool { return l.isValid() }):
				s.State, s.Reason = topology.SetListenersNotValid, "no listener of the set is valid"
			}
		}
		if gs.accessTo(s).open {
			gs.addEdge(s.Gateway, s.id)
		}
	}
}

// listenersOf returns the listeners that a Gateway or a ListenerSet holds.
func (gs *gatewayBuilder) listenersOf(owner topology.NodeID) []listener {
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
	case topology.SetAccepted, topology.SetListenersNotValid:
		way.open = true
	case topology.SetUnknown:
		way.known, way.open = false, s.Missing
	case topology.SetWithoutParent:
		way.known = !s.Missing
	}
	if !way.known {
		way.reason = "cannot tell whether " + gs.nodes.Node(s.id).Ref.String() + " takes part: " + s.Reason
	}
	return way
}

// attachToSet decides a parentRef to a ListenerSet. On a set that its Gateway refuses, or that has
// none, there is no listener to find (gatewayapi G22); one that is not accepted for its or its
// Gateway's listeners takes routes as these do.
func (w *routeAttacher) attachToSet(r *routeDraft, a topology.Attachment) {
	id, ok := w.nodes.Find(a.Parent.WithoutSection())
	if !ok || w.nodes.Node(id).Object == nil {
		a.MaybeUnreported = w.in.Cluster.IsUnread(a.Parent.GroupKind(), a.Parent.Namespace) && w.mayOmitStatus()
		w.table = append(w.table, w.judgeMissingParent(r, a, topology.ListenerSet))
		return
	}
	s := &w.sets[id-w.firstSet]
	if s.State == topology.SetNotAllowed || s.State == topology.SetWithoutParent && !s.Missing {
		a.State, a.Reason = topology.NoMatchingParent, a.Parent.WithoutSection().String()+" has no listeners: "+s.Reason
		a.Unreported = w.implementationAt(id).NoStatusOnSets
		w.table = append(w.table, a)
		return
	}
	a.MaybeUnreported = s.State == topology.SetUnknown && w.mayOmitStatus()
	w.attachToOwner(r, id, a, w.accessTo(s))
}
