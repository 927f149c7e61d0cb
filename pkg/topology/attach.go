package topology

import (
	"cmp"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// State says how far a route got at a listener (gatewayapi G17); but for Unknown it is the reason of the route's Accepted condition.
type State string

// The states, each further than the one before it. Unknown is ours: the input does not tell (G10, G14).
const (
	NoMatchingParent           State = State(gatewayv1.RouteReasonNoMatchingParent)
	NotAllowedByListeners      State = State(gatewayv1.RouteReasonNotAllowedByListeners)
	NoMatchingListenerHostname State = State(gatewayv1.RouteReasonNoMatchingListenerHostname)
	UnsupportedValue           State = State(gatewayv1.RouteReasonUnsupportedValue) // of a route that would hand over to it: not to one with hostnames
	Conflicted                 State = "Conflicted"                                 // of a Service: routes of another kind have all its ports (G51)
	Unknown                    State = "Unknown"
	Accepted                   State = State(gatewayv1.RouteReasonAccepted)
)

func (s State) rank() int {
	return slices.Index([]State{NoMatchingParent, NotAllowedByListeners, NoMatchingListenerHostname, UnsupportedValue, Conflicted, Unknown, Accepted}, s)
}

// Attachment is one row of the attachment table: what became of a parentRef of a route at one listener.
type Attachment struct {
	Parent    model.Ref // the parentRef with its defaults filled in (gatewayapi G5); its Section is the sectionName
	Port      int32     // of the parentRef; 0: not given
	Listener  NodeID    // None where no listener was a candidate, and for parents that have none: Services
	State     State
	Missing   bool       // the parent is not in the input but may exist: NoMatchingParent is a guess (G10)
	Silent    bool       // the implementation reports nothing about this parentRef
	MaySilent bool       // whether it does is not known
	Implicit  bool       // no parentRef says so: the route asks for default Gateways, and this is one (G20)
	Hostnames []Hostname // of an accepted attachment: the pairs that survive, in the route's order (G16); see anyHost
	Reason    string     // one plain sentence

	Verdict *ParentVerdict // of an implementation that judges the parent itself; nil: the Gateway API's rules decided
}

// parentRef is a parentRef with its defaults filled in.
type parentRef struct {
	ref  model.Ref
	port int32
}

const (
	mostParentRefs = 32
	mostHostnames  = 16
	mostTLSHosts   = 1024
)

// tableWriter fills the attachment tables of routes.
type tableWriter struct {
	*gateways
	services     *bindings
	decides      parentJudge
	asking       map[NodeID]struct{} // routes that ask for default Gateways (G20)
	routeParents bool                // a parentRef names an HTTPRoute
	portHosts    map[NodeID]portHosts

	// of the route at hand
	parents model.Set[parentRef]
	hosts   []string
	table   []Attachment
}

func newTableWriter(gs *gateways, services *bindings) *tableWriter {
	return &tableWriter{
		gateways: gs, services: services, decides: gs.parentJudge(),
		asking: map[NodeID]struct{}{}, portHosts: map[NodeID]portHosts{},
	}
}

// attach fills the attachment table of a route and connects it to the listeners that accept it.
func (w *tableWriter) attach(r *route) {
	list, at := r.spec.list("parentRefs"), r.spec.at.field("parentRefs")
	w.limit(list.Len(), mostParentRefs, at)
	w.readHostnames(r)
	w.parents.Clear()
	w.table = w.table[:0]
	for i, v := range list.Items {
		f := w.entry(v, at.entry(i))
		p, ok := f.parentRef()
		if !ok {
			continue
		}
		if w.parents.Has(p) {
			w.problem(model.Problem{
				Severity: model.Info, Code: model.DuplicateParentRef, Message: f.at.String() + " names " + p.ref.String() + " once more",
			}, r.object, f.at.path()...)
			continue
		}
		w.parents.Add(p)
		if v := w.decides.parent(r.object, p); v != nil {
			w.attachJudged(r, Attachment{Parent: p.ref, Port: p.port, Listener: None}, v)
			continue
		}
		r.gatewayBound = r.gatewayBound || !MeshParent(p.ref.GroupKind())
		w.attachTo(r, p)
	}
	w.attachToDefaults(r)
	r.meshBound = len(w.parents.List) > 0 && !r.gatewayBound
	w.tables[w.nodes[r.id].table] = slices.Clone(w.table)
}

func (f *fields) parentRef() (parentRef, bool) {
	port, section, home := f.port("port"), f.text("sectionName"), f.at.object.Ref
	ref, ok := f.named(model.Ref{Group: home.Group, Kind: gatewayKind.Kind, Namespace: home.Namespace})
	ref.Section = section
	return parentRef{ref: ref, port: port}, ok
}

// readHostnames reads a route's hostnames into w.hosts. A route with hostnames none of which can be read is not one without.
func (w *tableWriter) readHostnames(r *route) {
	w.hosts = w.hosts[:0]
	if ignoresHostnames(r.kind) {
		return
	}
	list, at := r.spec.list("hostnames"), r.spec.at.field("hostnames")
	if r.kind == tlsRouteKind {
		w.limit(list.Len(), mostTLSHosts, at)
		if list.Len() == 0 && !r.spec.bad {
			w.invalid(at, at.String()+" is empty; the API server wants at least one")
		}
	} else {
		w.limit(list.Len(), mostHostnames, at)
	}
	for i, v := range list.Items {
		switch h := v.Text(); {
		case !v.IsText():
			w.wrong(v, "a text", at.entry(i))
		case h == "":
			w.skip(at.entry(i), "is empty")
		default:
			w.hosts = append(w.hosts, h)
		}
	}
	r.hostless = len(w.hosts) == 0 && (list.Len() > 0 || list.IsNull() && r.spec.has("hostnames"))
}

// attachTo decides one parentRef.
func (w *tableWriter) attachTo(r *route, p parentRef) {
	a := Attachment{Parent: p.ref, Port: p.port, Listener: None, State: Unknown}
	switch gk := p.ref.GroupKind(); {
	case r.kind != r.object.Ref.GroupKind() && !slices.Contains(r.takers, gk):
		a.State, a.Silent, a.Reason = NoMatchingParent, true, "nobody takes "+r.object.Ref.Kind+"s of group "+r.object.Ref.Group+" at a "+p.ref.Kind
	case gk == gatewayKind:
		w.attachToGateway(r, a)
		return
	case MeshParent(gk):
		w.attachToService(r, a)
		return
	case IsListenerSet(gk):
		w.attachToSet(r, a)
		return
	case gk == httpRouteKind && len(w.delegations) > 0:
		w.routeParents = true
		a.State, a.Reason = NoMatchingParent, a.Parent.String()+" does not delegate to the route"
	case gk.Group != coreGroup && gk.Group != gatewayGroup && gk.Group != experimentalGroup:
		w.note(topic{what: parentNotEvaluated, about: kindRef(gk)}, r.object)
		a.Reason = "parents of kind " + gk.String() + " are not evaluated"
	case gk.Group == gatewayGroup && gk.Kind == serviceKind.Kind: // G6
		a.State, a.Reason = NoMatchingParent, `group "" is not written out, so kind Service is looked for in group `+gatewayGroup
	default:
		a.State, a.Reason = NoMatchingParent, "nothing of kind "+gk.String()+" can be a parent"
	}
	w.table = append(w.table, a)
}

// attachToGateway decides a parentRef to a Gateway for each of its candidate listeners (gatewayapi G8, G9).
// a has everything but the verdict.
func (w *tableWriter) attachToGateway(r *route, a Attachment) {
	id, ok := w.find(a.Parent.WithoutSection())
	if !ok || w.nodes[id].Object == nil {
		w.table = append(w.table, w.withoutParent(r, a, Gateway))
		return
	}
	w.attachToOwner(r, id, a, passage{sure: true, open: true})
}

// passage says how traffic comes to the listeners of a Gateway or a ListenerSet.
type passage struct {
	sure bool   // else whether any does is not known, nor whether a route is accepted
	why  string // it is not sure: one plain sentence
	open bool   // traffic passes
}

// attachToOwner decides a parentRef for each of the candidate listeners that the owner holds (gatewayapi G8, G9).
func (w *tableWriter) attachToOwner(r *route, owner NodeID, a Attachment, way passage) {
	found := false
	for id := range w.nodes[owner].parts.all {
		l := w.listener(id)
		if a.Parent.Section != "" && a.Parent.Section != l.ref.Section || a.Port != 0 && a.Port != l.port {
			continue
		}
		found = true
		row := a
		row.Listener = id
		w.judge(r, &row)
		if row.State == Accepted && way.open && !l.idle() {
			w.connect(id, r.id)
		}
		if row.State == Accepted && w.mayLoseHosts(r, l) { // the route is shown all the same, marked
			row.State, row.Reason = Unknown, "a ListenerSet that may not be read may have the hostnames of the route for itself"
		}
		if !way.sure { // what the listener says may not be asked at all
			row.State, row.Reason, row.Hostnames = Unknown, way.why, nil
		}
		w.table = append(w.table, row)
	}
	if !found {
		a.State, a.Reason = NoMatchingParent, a.Parent.WithoutSection().String()+" has no "+a.wanted()
		w.table = append(w.table, a)
	}
}

// withoutParent is the verdict on a Gateway or a ListenerSet that is not in the input (gatewayapi G10).
func (w *tableWriter) withoutParent(r *route, a Attachment, role Role) Attachment {
	a.State = NoMatchingParent
	parent := a.Parent.WithoutSection()
	switch {
	case w.covers.has(parent.GroupKind(), parent.Namespace):
		a.Reason = parent.String() + " does not exist"
		return a
	case w.covers.withheld(parent.GroupKind(), parent.Namespace):
		return w.throughWithheld(r, a, role)
	}
	a.Missing, a.Reason = true, parent.String()+" is not in the input"
	w.note(topic{what: parentMissing, about: parent}, r.object)
	return a
}

// throughWithheld assumes that a parent which we may not read exists and takes the route: the policies that are known to hold there and
// below can be told then, and every answer through it is marked as one that may change.
func (w *tableWriter) throughWithheld(r *route, a Attachment, role Role) Attachment {
	a.State, a.Missing, a.Reason = Unknown, true, a.Parent.WithoutSection().String()+" may not be read"
	w.connect(w.withheld(role, a.Parent.WithoutSection()), r.id)
	return a
}

// wanted describes the listener that a parentRef asks for.
func (a *Attachment) wanted() string {
	s := "listener"
	if a.Parent.Section != "" {
		s += " called " + quote(a.Parent.Section)
	}
	if a.Port != 0 {
		s += " on port " + itoa(int(a.Port))
	}
	return s
}

// judge decides whether the listener a.Listener accepts the route: by kind, then namespace, then hostname (gatewayapi G13-G17).
func (w *tableWriter) judge(r *route, a *Attachment) {
	l := w.listener(a.Listener)
	a.State = NotAllowedByListeners
	switch {
	case l.unreadable:
		a.Reason = "listener " + l.ref.Section + " cannot be read"
		return
	case !slices.Contains(l.kinds, r.kind) && l.mayTake(r.kind):
		a.State, a.Reason = Unknown, "whether listener "+l.ref.Section+" takes routes of kind "+r.kind.Kind+" depends on its implementation, and the class may not be read"
		return
	case !slices.Contains(l.kinds, r.kind):
		a.Reason = "listener " + l.ref.Section + " takes no routes of kind " + r.kind.Kind
		return
	}
	namespace := r.object.Ref.Namespace
	switch w.admits(a.Listener, &l.admission, namespace) {
	case No:
		a.Reason = "listener " + l.ref.Section + " takes no routes from namespace " + namespace
		return
	case Maybe:
		a.State, a.Reason = Unknown, "listener "+l.ref.Section+" selects namespaces by labels, and those of "+namespace+" are not known"
		w.note(topic{what: labelsUnknown, about: namespaceRef(namespace), at: l.ref}, r.object)
		return
	}
	switch {
	case ignoresHostnames(r.kind):
		a.Hostnames = anyHost
	case r.hostless:
		a.State, a.Reason = Unknown, "the hostnames of the route cannot be read"
		return
	case len(w.hosts) == 0:
		a.Hostnames = l.whole
	default:
		a.Hostnames = intersect(l.hostname, w.hosts)
		w.withoutOwned(a)
	}
	if len(a.Hostnames) == 0 {
		a.State = NoMatchingListenerHostname
		a.Reason = cmp.Or(a.Reason, "no hostname of the route fits "+l.hostname+" of listener "+l.ref.Section)
		return
	}
	a.State, a.Reason = Accepted, l.accepts
}
