package topology

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// backends are what rules send to. Those that list their ports come before the routes, others when a rule names them.
type backends struct {
	*draft
	missing map[model.Ref]struct{} // that were said not to be in the input
	absent  *tally                 // of those
	handing map[NodeID][]delegate  // the backendRefs by which rules hand over to routes
	uses    []numberUse            // of backends whose ports are those that rules send to

	// The reference that was judged last: rules that follow each other mostly send to one backend.
	last struct {
		from sender
		ref  model.Ref
		id   NodeID
		judgement
	}
}

// addServices adds Services and ServiceImports with their ports, and the standard backends of other kinds.
func (bs *backends) addServices() {
	var ported []NodeID
	for _, gk := range [...]model.GroupKind{serviceKind, xBackendKind, serviceImportKind} {
		for _, o := range bs.in.Of(gk) {
			if id := bs.addBackend(o.Ref, o); listsPorts(gk) {
				ported = append(ported, id)
			}
		}
	}
	bs.firstPort = NodeID(len(bs.nodes))
	for _, id := range ported {
		bs.addPorts(id, bs.nodes[id].Object)
	}
}

// listsPorts reports whether objects of a kind list their ports as Services do.
func listsPorts(gk model.GroupKind) bool { return gk == serviceKind || gk == serviceImportKind }

func (bs *backends) addBackend(ref model.Ref, o *model.Object) NodeID {
	id := bs.add(Node{Role: Backend, Ref: ref, Object: o})
	bs.under(ref.Namespace, id)
	return id
}

func (bs *backends) addPorts(service NodeID, o *model.Object) {
	spec := bs.spec(o)
	for i, v := range spec.list("ports").Items {
		f := bs.entry(v, spec.at.field("ports").entry(i))
		name, number, protocol := f.text("name"), f.port("port"), f.text("protocol")
		if f.bad {
			continue
		}
		if number == 0 {
			bs.skip(f.at, "has no port")
			continue
		}
		if name == "" {
			name = itoa(int(number))
		}
		id := bs.addPart(service, Node{Role: Port, Ref: o.Ref.In(name), Object: o, Index: i})
		bs.ports = append(bs.ports, servicePort{number: number, udp: protocol == "UDP"})
		bs.under(o.Ref.Namespace, id)
		bs.above = append(bs.above, edge{id, service})
	}
}

// backendRef is a backendRef with its defaults filled in.
type backendRef struct {
	ref  model.Ref
	port int32 // 0: not given
	at   fieldPosition
	does string // what the rule does with it, for people
}

// addBackends connects a rule to what its backendRefs name. References of filters are no edges, but must be good too (gatewayapi G33, G34).
func (bs *backends) addBackends(r *route, id NodeID, rule *fields) {
	bs.checkFilters(r, id, rule)
	for i, v := range rule.list("backendRefs").Items {
		f := bs.entry(v, rule.at.field("backendRefs").entry(i))
		if d, ok := bs.readDelegate(&f); ok && r.kind == httpRouteKind {
			bs.handing[id] = append(bs.handing[id], d)
			continue
		}
		if to, ok := f.backendRef(); ok {
			to.ref, to.does = plain(to.ref, r.core), "sends to"
			bs.send(r, id, to)
		}
		bs.checkFilters(r, id, &f)
	}
}

// checkFilters judges what the filters of a rule or of a backendRef refer to.
func (bs *backends) checkFilters(r *route, id NodeID, of *fields) {
	for i, v := range of.list("filters").Items {
		f := bs.entry(v, of.at.field("filters").entry(i))
		for _, use := range [...]struct{ field, does string }{{"requestMirror", "mirrors to"}, {"externalAuth", "asks for permission at"}} {
			inner := f.object(use.field)
			if !inner.has("backendRef") {
				continue
			}
			ref := inner.object("backendRef")
			if to, ok := ref.backendRef(); ok {
				to.does = use.does
				bs.check(r, id, to)
			}
		}
	}
}

func (f *fields) backendRef() (backendRef, bool) {
	port := f.port("port")
	ref, ok := f.named(model.Ref{Group: coreGroup, Kind: serviceKind.Kind, Namespace: f.at.object.Ref.Namespace})
	return backendRef{at: f.at, port: port, ref: ref}, ok
}

// send adds the edges of one backendRef, or says why there is none.
func (bs *backends) send(r *route, rule NodeID, to backendRef) {
	id, ok := bs.check(r, rule, to)
	if !ok {
		return
	}
	if id == None {
		id = bs.assume(to.ref)
		bs.last.id = id
	}
	bs.connect(rule, id)
	if bs.portless[to.ref.GroupKind()] && to.port != 0 {
		bs.uses = append(bs.uses, numberUse{id, to.port, rule})
	}
	if listsPorts(to.ref.GroupKind()) && to.port != 0 && bs.nodes[id].Object != nil {
		if port := bs.port(id, to.port, r.kind == udpRouteKind); port != None {
			bs.connect(rule, port)
		}
	}
}

// check judges one reference to a backend and reports whether the rule has an edge to it, and to which node if there is one yet. The edge
// stays if the port is wrong, because the rule and the policies on it do (gatewayapi G35).
func (bs *backends) check(r *route, rule NodeID, to backendRef) (NodeID, bool) {
	gk := to.ref.GroupKind()
	if isRoute(gk) { // some implementations let one route delegate to another
		bs.note(topic{what: delegationNotEvaluated, about: kindRef(gk)}, r.object)
		return None, false
	}
	if slices.Contains(bs.taken, gk) {
		bs.note(topic{what: backendNotFollowed, about: kindRef(gk)}, r.object)
		r.leaveOpen(to, "traffic is not followed through a "+gk.Kind)
		return None, false
	}
	id, v := bs.judge(sender{kind: r.kind, namespace: r.object.Ref.Namespace, mesh: r.meshBound}, to.ref)
	says := func(what string) string {
		return "rule " + bs.nodes[rule].Ref.Section + " " + to.does + " " + what
	}
	if v.reason != "" {
		bs.refuse(r, to, v.reason, model.Problem{Code: v.code, Message: says(to.ref.String() + ", " + v.why), Hint: v.hint})
		return None, false
	}
	if v.open != "" {
		r.leaveOpen(to, v.open)
	}
	if v.assumed {
		bs.absent.use(rule)
	}
	if gk != serviceKind {
		return id, true
	}
	switch {
	case to.port == 0 && !r.portless:
		bs.invalid(to.at, to.at.String()+" has no port, which a reference to a Service must have")
		r.portless = true
	case to.port != 0 && !v.assumed && bs.port(id, to.port, false) == None:
		bs.refuse(r, to, "", model.Problem{
			Code: model.BackendNotFound, Message: says("port " + itoa(int(to.port)) + " of " + to.ref.String() + ", which has no such port"),
		})
	}
	return id, true
}

// judge judges a reference to a backend, and finds the node that it has if it has one yet. A backend that is assumed to exist is noted once.
func (bs *backends) judge(from sender, ref model.Ref) (NodeID, judgement) {
	if last := &bs.last; last.id != None && last.ref == ref && last.from == from {
		return last.id, last.judgement
	}
	id, exists := bs.find(ref)
	if exists {
		exists = bs.nodes[id].Object != nil
	} else {
		id, exists = None, bs.in.Get(ref) != nil
	}
	v := bs.backend(from, ref, exists)
	if v.assumed {
		if _, said := bs.missing[ref]; !said {
			bs.missing[ref] = struct{}{}
			bs.absent = bs.noteName(topic{what: backendMissing}, ref.String(), nil)
		}
	}
	bs.last.from, bs.last.ref, bs.last.id, bs.last.judgement = from, ref, id, v
	return id, v
}

// refuse reports p as a warning about a backendRef; reason is that of the route's ResolvedRefs condition, "" if it has none.
func (bs *backends) refuse(r *route, to backendRef, reason string, p model.Problem) {
	p.Severity = model.Warning
	if reason == string(gatewayv1.RouteReasonBackendNotFound) {
		missing := to.ref
		p.Missing = &missing
	}
	if reason != "" && r.unresolved == (Unresolved{}) {
		r.unresolved = Unresolved{Reason: reason, Message: p.Message}
	}
	bs.problem(p, to.at.object, to.at.path()...)
}

// leaveOpen notes that a backendRef is taken to be good because what would tell may not be read.
func (r *route) leaveOpen(to backendRef, why string) {
	if r.unresolved == (Unresolved{}) {
		r.unresolved.Message = to.at.String() + " is not evaluated: " + why
	}
}

// assume is a new node for a backend that no earlier step has added: of another kind, or not in the input (gatewayapi G36, §7).
func (bs *backends) assume(ref model.Ref) NodeID {
	id := bs.addBackend(ref, bs.in.Get(ref))
	if gk := ref.GroupKind(); gk != serviceKind && gk != xBackendKind && gk != serviceImportKind {
		bs.noteName(topic{what: backendKind, about: kindRef(gk)}, ref.String(), nil)
	}
	return id
}
