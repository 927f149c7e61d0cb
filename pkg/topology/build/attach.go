package build

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// parentRef is a parentRef with its defaults filled in.
type parentRef struct {
	ref  model.Ref
	port int32
}

const (
	maxParentRefs   = 32
	maxHostnames    = 16
	maxTLSHostnames = 1024
)

// routeAttacher fills the attachment tables of routes.
type routeAttacher struct {
	*gatewayBuilder
	services     *serviceBindings
	parentJudge  parentJudge
	wantDefaults map[topology.NodeID]struct{} // routes that ask for default Gateways (G20)
	routeParents bool                         // a parentRef names an HTTPRoute
	hostCounts   map[topology.NodeID]hostCounts

	// of the route at hand
	parents model.Set[parentRef]
	hosts   []string
	table   []topology.Attachment
}

func newRouteAttacher(gs *gatewayBuilder, services *serviceBindings) *routeAttacher {
	return &routeAttacher{
		gatewayBuilder: gs, services: services, parentJudge: gs.newParentJudge(),
		wantDefaults: map[topology.NodeID]struct{}{}, hostCounts: map[topology.NodeID]hostCounts{},
	}
}

// attachRoute fills the attachment table of a route and connects it to the listeners that accept
// it.
func (w *routeAttacher) attachRoute(r *routeDraft) {
	list, at := r.spec.ReadList("parentRefs"), r.spec.At.AtField("parentRefs")
	w.CheckLimit(list.Len(), maxParentRefs, at)
	w.readHostnames(r)
	w.parents.Clear()
	w.table = w.table[:0]
	for i, v := range list.Items {
		f := w.ReadEntry(v, at.AtEntry(i))
		p, ok := readParentRef(&f)
		if !ok {
			continue
		}
		if w.parents.Has(p) {
			w.AddProblem(model.Problem{
				Severity: model.Info, Code: model.DuplicateParentRef, Message: f.At.String() + " names " +
					p.ref.String() + " once more",
			}, r.object, f.At.FromRoot()...)
			continue
		}
		w.parents.Add(p)
		if v := w.parentJudge.judgeParent(r.object, p); v != nil {
			w.attachJudged(r, topology.Attachment{Parent: p.ref, Port: p.port, Listener: topology.None}, v)
			continue
		}
		r.gatewayBound = r.gatewayBound || !gatewayapi.IsMeshParent(p.ref.GroupKind())
		w.attachToParent(r, p)
	}
	w.attachToDefaults(r)
	r.meshBound = len(w.parents.List) > 0 && !r.gatewayBound
	w.tables[r.id] = slices.Clone(w.table)
}

func readParentRef(f *manifest.Fields) (parentRef, bool) {
	port, section, home := f.ReadPort("port"), f.ReadText("sectionName"), f.At.Object.Ref
	ref, ok := f.ReadNamedReference(model.Ref{Group: home.Group, Kind: gatewayapi.GatewayKind.Kind,
		Namespace: home.Namespace})
	ref.Section = section
	return parentRef{ref: ref, port: port}, ok
}

// readHostnames reads a route's hostnames into w.hosts. A route with hostnames none of which can be
// read is not one without.
func (w *routeAttacher) readHostnames(r *routeDraft) {
	w.hosts = w.hosts[:0]
	if gatewayapi.IgnoresHostnames(r.kind) {
		return
	}
	list, at := r.spec.ReadList("hostnames"), r.spec.At.AtField("hostnames")
	if r.kind == gatewayapi.TLSRouteKind {
		w.CheckLimit(list.Len(), maxTLSHostnames, at)
		if list.Len() == 0 && !r.spec.Bad {
			w.ReportInvalid(at, at.String()+" is empty; the API server wants at least one")
		}
	} else {
		w.CheckLimit(list.Len(), maxHostnames, at)
	}
	for i, v := range list.Items {
		switch h := v.Text(); {
		case !v.IsText():
			w.ReportWrongType(v, "a text", at.AtEntry(i))
		case h == "":
			w.ReportSkipped(at.AtEntry(i), "is empty")
		default:
			w.hosts = append(w.hosts, h)
		}
	}
	r.hostnamesUnreadable = len(w.hosts) == 0 && (list.Len() > 0 || list.IsNull() && r.spec.HasField("hostnames"))
}

// attachToParent decides one parentRef.
func (w *routeAttacher) attachToParent(r *routeDraft, p parentRef) {
	a := topology.Attachment{Parent: p.ref, Port: p.port, Listener: topology.None, State: topology.Unknown}
	switch gk := p.ref.GroupKind(); {
	case r.kind != r.object.Ref.GroupKind() && !slices.Contains(r.parentKinds, gk):
		a.State, a.Unreported, a.Reason = topology.NoMatchingParent, true, "nobody takes "+r.object.Ref.Kind+
			"s of group "+r.object.Ref.Group+" at a "+p.ref.Kind
	case gk == gatewayapi.GatewayKind:
		w.attachToGateway(r, a)
		return
	case gatewayapi.IsMeshParent(gk):
		w.attachToService(r, a)
		return
	case gatewayapi.IsListenerSet(gk):
		w.attachToSet(r, a)
		return
	case gk == gatewayapi.HTTPRouteKind && len(w.delegations) > 0:
		w.routeParents = true
		a.State, a.Reason = topology.NoMatchingParent, a.Parent.String()+" does not delegate to the route"
	case gk.Group != gatewayapi.CoreGroup && gk.Group != gatewayapi.GatewayGroup &&
		gk.Group != gatewayapi.ExperimentalGroup:
		w.addNote(noteTopic{kind: parentNotEvaluated, about: kindRef(gk)}, r.object)
		a.Reason = "parents of kind " + gk.String() + " are not evaluated"
	case gk.Group == gatewayapi.GatewayGroup && gk.Kind == gatewayapi.ServiceKind.Kind: // G6
		a.State, a.Reason = topology.NoMatchingParent,
			`group "" is not written out, so kind Service is looked for in group `+gatewayapi.GatewayGroup
	default:
		a.State, a.Reason = topology.NoMatchingParent, "nothing of kind "+gk.String()+" can be a parent"
	}
	w.table = append(w.table, a)
}

// attachToGateway decides a parentRef to a Gateway for each of its candidate listeners (gatewayapi
// G8, G9). The attachment has everything but the verdict.
func (w *routeAttacher) attachToGateway(r *routeDraft, a topology.Attachment) {
	id, ok := w.nodes.Find(a.Parent.WithoutSection())
	if !ok || w.nodes.Node(id).Object == nil {
		w.table = append(w.table, w.judgeMissingParent(r, a, topology.Gateway))
		return
	}
	w.attachToOwner(r, id, a, listenerAccess{known: true, open: true})
}

// listenerAccess says how traffic comes to the listeners of a Gateway or a ListenerSet.
type listenerAccess struct {
	known  bool   // else whether any does is not known, nor whether a route is accepted
	reason string // it is not sure: one plain sentence
	open   bool   // traffic passes
}

// attachToOwner decides a parentRef for each of the candidate listeners that the owner holds
// (gatewayapi G8, G9).
func (w *routeAttacher) attachToOwner(r *routeDraft, owner topology.NodeID, a topology.Attachment, way listenerAccess) {
	found := false
	for id := range w.nodes.Node(owner).EachPart {
		l := w.listenerAt(id)
		if a.Parent.Section != "" && a.Parent.Section != l.ref.Section || a.Port != 0 && a.Port != l.port {
			continue
		}
		found = true
		row := a
		row.Listener = id
		w.judgeListener(r, &row)
		w.dropIsolatedHostnames(&row)
		if row.State == topology.Accepted && way.open && !l.isIdle() && len(row.Hostnames) > 0 {
			w.addEdge(id, r.id)
		}
		if row.State == topology.Accepted && w.mayLoseHosts(r, l) { // the route is shown all the same, marked
			row.State, row.Reason = topology.Unknown,
				"a forbidden ListenerSet may have the hostnames of the route for itself"
		}
		if !way.known { // what the listener says may not be asked at all
			row.State, row.Reason, row.Hostnames = topology.Unknown, way.reason, nil
		}
		w.table = append(w.table, row)
	}
	if !found {
		a.State, a.Reason = topology.NoMatchingParent, a.Parent.WithoutSection().String()+" has no "+
			describeListener(&a)
		w.table = append(w.table, a)
	}
}

// judgeMissingParent returns the verdict on a Gateway or a ListenerSet that is not in the input
// (gatewayapi G10).
func (w *routeAttacher) judgeMissingParent(r *routeDraft, a topology.Attachment,
	role topology.Role) topology.Attachment {
	a.State = topology.NoMatchingParent
	parent := a.Parent.WithoutSection()
	if e := w.in.FindExistence(parent); e.Presence == model.Missing {
		a.Reason = e.Why
		return a
	}
	if w.in.Cluster.IsUnread(parent.GroupKind(), parent.Namespace) {
		return w.attachToWithheld(r, a, role)
	}
	a.Missing, a.Reason = true, parent.String()+" is not in the input"
	w.addNote(noteTopic{kind: parentMissing, about: parent}, r.object)
	return a
}

// attachToWithheld assumes that a parent which we may not read exists and takes the route: the
// policies that are known to hold there and below are shown then, and every answer through it is
// marked as one that may change.
func (w *routeAttacher) attachToWithheld(r *routeDraft, a topology.Attachment, role topology.Role) topology.Attachment {
	a.State, a.Missing, a.Reason = topology.Unknown, true, a.Parent.WithoutSection().String()+" is forbidden"
	w.addEdge(w.withheldNode(role, a.Parent.WithoutSection()), r.id)
	return a
}

// describeListener describes the listener that a parentRef asks for.
func describeListener(a *topology.Attachment) string {
	s := "listener"
	if a.Parent.Section != "" {
		s += " called " + manifest.QuoteName(a.Parent.Section)
	}
	if a.Port != 0 {
		s += " on port " + manifest.FormatInt(int(a.Port))
	}
	return s
}

// judgeListener decides whether the listener of an attachment accepts the route: by kind, then
// namespace, then hostname (gatewayapi G13-G17).
func (w *routeAttacher) judgeListener(r *routeDraft, a *topology.Attachment) {
	l := w.listenerAt(a.Listener)
	a.State = topology.NotAllowedByListeners
	switch {
	case l.unreadable:
		a.Reason = "listener " + l.ref.Section + " cannot be read"
		return
	case !slices.Contains(l.kinds, r.kind) && l.mayTakeKind(r.kind):
		a.State, a.Reason = topology.Unknown, "whether listener "+l.ref.Section+" takes routes of kind "+r.kind.Kind+
			" depends on its implementation, and the class is forbidden"
		return
	case !slices.Contains(l.kinds, r.kind):
		a.Reason = "listener " + l.ref.Section + " takes no routes of kind " + r.kind.Kind
		return
	}
	namespace := r.object.Ref.Namespace
	switch w.admitsNamespace(a.Listener, &l.Admission, namespace) {
	case selector.No:
		a.Reason = "listener " + l.ref.Section + " takes no routes from namespace " + namespace
		return
	case selector.Maybe:
		a.State, a.Reason = topology.Unknown, "listener "+l.ref.Section+" selects namespaces by labels, and those of "+
			namespace+" are not known"
		w.addNote(noteTopic{kind: labelsUnknown, about: gatewayapi.NamespaceRef(namespace), at: l.ref}, r.object)
		return
	}
	switch {
	case gatewayapi.IgnoresHostnames(r.kind):
		a.Hostnames = gatewayapi.AnyHost
	case r.hostnamesUnreadable:
		a.State, a.Reason = topology.Unknown, "the hostnames of the route cannot be read"
		return
	case len(w.hosts) == 0:
		a.Hostnames = l.ownHostnames
	default:
		a.Hostnames = gatewayapi.IntersectHostnames(l.hostname, w.hosts)
		w.dropOwnedHostnames(a)
	}
	if len(a.Hostnames) == 0 {
		a.State = topology.NoMatchingListenerHostname
		a.Reason = cmp.Or(a.Reason, "no hostname of the route fits "+l.hostname+" of listener "+l.ref.Section)
		return
	}
	a.State, a.Reason = topology.Accepted, l.acceptedReason
}
