package topology

import (
	"cmp"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// AttachmentState says how far a route got at a listener (gatewayapi G17); but for Unknown it is
// the reason of the route's Accepted condition.
type AttachmentState string

// The states, each further than the one before it. Unknown is ours: the input does not tell (G10, G14).
const (
	NoMatchingParent           AttachmentState = AttachmentState(gatewayv1.RouteReasonNoMatchingParent)
	NotAllowedByListeners      AttachmentState = AttachmentState(gatewayv1.RouteReasonNotAllowedByListeners)
	NoMatchingListenerHostname AttachmentState = AttachmentState(gatewayv1.RouteReasonNoMatchingListenerHostname)
	UnsupportedValue           AttachmentState = AttachmentState(gatewayv1.RouteReasonUnsupportedValue) // of a parent route: nothing can be delegated to a route with hostnames
	Conflicted                 AttachmentState = "Conflicted"                                           // of a Service: routes of another kind have all its ports (G51)
	Unknown                    AttachmentState = "Unknown"
	Accepted                   AttachmentState = AttachmentState(gatewayv1.RouteReasonAccepted)
)

func (s AttachmentState) progress() int {
	return slices.Index([]AttachmentState{NoMatchingParent, NotAllowedByListeners, NoMatchingListenerHostname, UnsupportedValue, Conflicted, Unknown, Accepted}, s)
}

// Attachment is one row of the attachment table: what became of a parentRef of a route at one listener.
type Attachment struct {
	Parent          model.Ref // the parentRef with its defaults filled in (gatewayapi G5); its Section is the sectionName
	Port            int32     // of the parentRef; 0: not given
	Listener        NodeID    // None where no listener was a candidate, and for parents that have none: Services
	State           AttachmentState
	Missing         bool       // the parent is not in the input but may exist: NoMatchingParent is a guess (G10)
	Unreported      bool       // the implementation reports nothing about this parentRef
	MaybeUnreported bool       // whether it does is not known
	Implicit        bool       // no parentRef says so: the route asks for default Gateways, and this is one (G20)
	Hostnames       []Hostname // of an accepted attachment: the pairs that survive, in the route's order (G16); see anyHost
	Reason          string     // one plain sentence

	Verdict *ParentVerdict // of an implementation that judges the parent itself; nil: the Gateway API's rules decided
}

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
	wantDefaults map[NodeID]struct{} // routes that ask for default Gateways (G20)
	routeParents bool                // a parentRef names an HTTPRoute
	hostCounts   map[NodeID]hostCounts

	// of the route at hand
	parents model.Set[parentRef]
	hosts   []string
	table   []Attachment
}

func newRouteAttacher(gs *gatewayBuilder, services *serviceBindings) *routeAttacher {
	return &routeAttacher{
		gatewayBuilder: gs, services: services, parentJudge: gs.newParentJudge(),
		wantDefaults: map[NodeID]struct{}{}, hostCounts: map[NodeID]hostCounts{},
	}
}

// attachRoute fills the attachment table of a route and connects it to the listeners that accept
// it.
func (w *routeAttacher) attachRoute(r *routeDraft) {
	list, at := r.spec.readList("parentRefs"), r.spec.at.atField("parentRefs")
	w.checkLimit(list.Len(), maxParentRefs, at)
	w.readHostnames(r)
	w.parents.Clear()
	w.table = w.table[:0]
	for i, v := range list.Items {
		f := w.readEntry(v, at.atEntry(i))
		p, ok := readParentRef(&f)
		if !ok {
			continue
		}
		if w.parents.Has(p) {
			w.addProblem(model.Problem{
				Severity: model.Info, Code: model.DuplicateParentRef, Message: f.at.String() + " names " + p.ref.String() + " once more",
			}, r.object, f.at.fromRoot()...)
			continue
		}
		w.parents.Add(p)
		if v := w.parentJudge.judgeParent(r.object, p); v != nil {
			w.attachJudged(r, Attachment{Parent: p.ref, Port: p.port, Listener: None}, v)
			continue
		}
		r.gatewayBound = r.gatewayBound || !IsMeshParent(p.ref.GroupKind())
		w.attachToParent(r, p)
	}
	w.attachToDefaults(r)
	r.meshBound = len(w.parents.List) > 0 && !r.gatewayBound
	w.tables[r.id] = slices.Clone(w.table)
}

func readParentRef(f *fieldReader) (parentRef, bool) {
	port, section, home := f.readPort("port"), f.readText("sectionName"), f.at.object.Ref
	ref, ok := f.readNamedReference(model.Ref{Group: home.Group, Kind: gatewayKind.Kind, Namespace: home.Namespace})
	ref.Section = section
	return parentRef{ref: ref, port: port}, ok
}

// readHostnames reads a route's hostnames into w.hosts. A route with hostnames none of which can be read is not one without.
func (w *routeAttacher) readHostnames(r *routeDraft) {
	w.hosts = w.hosts[:0]
	if ignoresHostnames(r.kind) {
		return
	}
	list, at := r.spec.readList("hostnames"), r.spec.at.atField("hostnames")
	if r.kind == tlsRouteKind {
		w.checkLimit(list.Len(), maxTLSHostnames, at)
		if list.Len() == 0 && !r.spec.bad {
			w.reportInvalid(at, at.String()+" is empty; the API server wants at least one")
		}
	} else {
		w.checkLimit(list.Len(), maxHostnames, at)
	}
	for i, v := range list.Items {
		switch h := v.Text(); {
		case !v.IsText():
			w.reportWrongType(v, "a text", at.atEntry(i))
		case h == "":
			w.reportSkipped(at.atEntry(i), "is empty")
		default:
			w.hosts = append(w.hosts, h)
		}
	}
	r.hostnamesUnreadable = len(w.hosts) == 0 && (list.Len() > 0 || list.IsNull() && r.spec.hasField("hostnames"))
}

// attachToParent decides one parentRef.
func (w *routeAttacher) attachToParent(r *routeDraft, p parentRef) {
	a := Attachment{Parent: p.ref, Port: p.port, Listener: None, State: Unknown}
	switch gk := p.ref.GroupKind(); {
	case r.kind != r.object.Ref.GroupKind() && !slices.Contains(r.parentKinds, gk):
		a.State, a.Unreported, a.Reason = NoMatchingParent, true, "nobody takes "+r.object.Ref.Kind+"s of group "+r.object.Ref.Group+" at a "+p.ref.Kind
	case gk == gatewayKind:
		w.attachToGateway(r, a)
		return
	case IsMeshParent(gk):
		w.attachToService(r, a)
		return
	case IsListenerSet(gk):
		w.attachToSet(r, a)
		return
	case gk == httpRouteKind && len(w.delegations) > 0:
		w.routeParents = true
		a.State, a.Reason = NoMatchingParent, a.Parent.String()+" does not delegate to the route"
	case gk.Group != coreGroup && gk.Group != gatewayGroup && gk.Group != experimentalGroup:
		w.addNote(noteTopic{kind: parentNotEvaluated, about: kindRef(gk)}, r.object)
		a.Reason = "parents of kind " + gk.String() + " are not evaluated"
	case gk.Group == gatewayGroup && gk.Kind == serviceKind.Kind: // G6
		a.State, a.Reason = NoMatchingParent, `group "" is not written out, so kind Service is looked for in group `+gatewayGroup
	default:
		a.State, a.Reason = NoMatchingParent, "nothing of kind "+gk.String()+" can be a parent"
	}
	w.table = append(w.table, a)
}

// attachToGateway decides a parentRef to a Gateway for each of its candidate listeners (gatewayapi
// G8, G9). The attachment has everything but the verdict.
func (w *routeAttacher) attachToGateway(r *routeDraft, a Attachment) {
	id, ok := w.nodes.Find(a.Parent.WithoutSection())
	if !ok || w.nodes.Node(id).Object == nil {
		w.table = append(w.table, w.judgeMissingParent(r, a, Gateway))
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

// attachToOwner decides a parentRef for each of the candidate listeners that the owner holds (gatewayapi G8, G9).
func (w *routeAttacher) attachToOwner(r *routeDraft, owner NodeID, a Attachment, way listenerAccess) {
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
		if row.State == Accepted && way.open && !l.isIdle() {
			w.addEdge(id, r.id)
		}
		if row.State == Accepted && w.mayLoseHosts(r, l) { // the route is shown all the same, marked
			row.State, row.Reason = Unknown, "a ListenerSet that may not be read may have the hostnames of the route for itself"
		}
		if !way.known { // what the listener says may not be asked at all
			row.State, row.Reason, row.Hostnames = Unknown, way.reason, nil
		}
		w.table = append(w.table, row)
	}
	if !found {
		a.State, a.Reason = NoMatchingParent, a.Parent.WithoutSection().String()+" has no "+describeListener(&a)
		w.table = append(w.table, a)
	}
}

// judgeMissingParent returns the verdict on a Gateway or a ListenerSet that is not in the input
// (gatewayapi G10).
func (w *routeAttacher) judgeMissingParent(r *routeDraft, a Attachment, role Role) Attachment {
	a.State = NoMatchingParent
	parent := a.Parent.WithoutSection()
	switch {
	case w.coverage.hasAll(parent.GroupKind(), parent.Namespace):
		a.Reason = parent.String() + " does not exist"
		return a
	case w.coverage.isWithheld(parent.GroupKind(), parent.Namespace):
		return w.attachToWithheld(r, a, role)
	}
	a.Missing, a.Reason = true, parent.String()+" is not in the input"
	w.addNote(noteTopic{kind: parentMissing, about: parent}, r.object)
	return a
}

// attachToWithheld assumes that a parent which we may not read exists and takes the route: the
// policies that are known to hold there and below are shown then, and every answer through it is
// marked as one that may change.
func (w *routeAttacher) attachToWithheld(r *routeDraft, a Attachment, role Role) Attachment {
	a.State, a.Missing, a.Reason = Unknown, true, a.Parent.WithoutSection().String()+" may not be read"
	w.addEdge(w.withheldNode(role, a.Parent.WithoutSection()), r.id)
	return a
}

// describeListener describes the listener that a parentRef asks for.
func describeListener(a *Attachment) string {
	s := "listener"
	if a.Parent.Section != "" {
		s += " called " + quoteName(a.Parent.Section)
	}
	if a.Port != 0 {
		s += " on port " + formatInt(int(a.Port))
	}
	return s
}

// judgeListener decides whether the listener of an attachment accepts the route: by kind, then
// namespace, then hostname (gatewayapi G13-G17).
func (w *routeAttacher) judgeListener(r *routeDraft, a *Attachment) {
	l := w.listenerAt(a.Listener)
	a.State = NotAllowedByListeners
	switch {
	case l.unreadable:
		a.Reason = "listener " + l.ref.Section + " cannot be read"
		return
	case !slices.Contains(l.kinds, r.kind) && l.mayTakeKind(r.kind):
		a.State, a.Reason = Unknown, "whether listener "+l.ref.Section+" takes routes of kind "+r.kind.Kind+" depends on its implementation, and the class may not be read"
		return
	case !slices.Contains(l.kinds, r.kind):
		a.Reason = "listener " + l.ref.Section + " takes no routes of kind " + r.kind.Kind
		return
	}
	namespace := r.object.Ref.Namespace
	switch w.admitsNamespace(a.Listener, &l.admission, namespace) {
	case No:
		a.Reason = "listener " + l.ref.Section + " takes no routes from namespace " + namespace
		return
	case Maybe:
		a.State, a.Reason = Unknown, "listener "+l.ref.Section+" selects namespaces by labels, and those of "+namespace+" are not known"
		w.addNote(noteTopic{kind: labelsUnknown, about: namespaceRef(namespace), at: l.ref}, r.object)
		return
	}
	switch {
	case ignoresHostnames(r.kind):
		a.Hostnames = anyHost
	case r.hostnamesUnreadable:
		a.State, a.Reason = Unknown, "the hostnames of the route cannot be read"
		return
	case len(w.hosts) == 0:
		a.Hostnames = l.ownHostnames
	default:
		a.Hostnames = intersectHostnames(l.hostname, w.hosts)
		w.dropOwnedHostnames(a)
	}
	if len(a.Hostnames) == 0 {
		a.State = NoMatchingListenerHostname
		a.Reason = cmp.Or(a.Reason, "no hostname of the route fits "+l.hostname+" of listener "+l.ref.Section)
		return
	}
	a.State, a.Reason = Accepted, l.acceptedReason
}
