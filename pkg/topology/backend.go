package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// backendBuilder adds what rules send to. Backends that list their ports come before the routes,
// others when a rule names them.
type backendBuilder struct {
	*draft
	missing      map[model.Ref]struct{}   // that were said not to be in the input
	missingCount *noteCount               // of those
	delegates    map[NodeID][]delegateRef // the backendRefs by which rules hand over to routes
	portUses     []portUse                // of backends whose ports are those that rules send to

	// The reference that was judged last: rules that follow each other mostly send to one backend.
	last struct {
		from referrer
		ref  model.Ref
		id   NodeID
		judgement
	}
}

// addServices adds Services and ServiceImports with their ports, and the standard backends of other kinds.
func (bs *backendBuilder) addServices() {
	var ported []NodeID
	for _, gk := range [...]model.GroupKind{serviceKind, xBackendKind, serviceImportKind} {
		for _, o := range bs.in.OfKind(gk) {
			if id := bs.addBackend(o.Ref, o); hasPortList(gk) {
				ported = append(ported, id)
			}
		}
	}
	bs.firstPort = NodeID(len(bs.nodes))
	for _, id := range ported {
		bs.addPorts(id, bs.nodes[id].Object)
	}
}

// hasPortList reports whether objects of a kind list their ports as Services do.
func hasPortList(gk model.GroupKind) bool { return gk == serviceKind || gk == serviceImportKind }

func (bs *backendBuilder) addBackend(ref model.Ref, o *model.Object) NodeID {
	id := bs.addNode(Node{Role: Backend, Ref: ref, Object: o})
	bs.addToNamespace(ref.Namespace, id)
	return id
}

func (bs *backendBuilder) addPorts(service NodeID, o *model.Object) {
	spec := bs.readSpec(o)
	for i, v := range spec.readList("ports").Items {
		f := bs.readEntry(v, spec.at.atField("ports").atEntry(i))
		name, number, protocol := f.readText("name"), f.readPort("port"), f.readText("protocol")
		if f.bad {
			continue
		}
		if number == 0 {
			bs.reportSkipped(f.at, "has no port")
			continue
		}
		if name == "" {
			name = formatInt(int(number))
		}
		id := bs.addPart(service, Node{Role: Port, Ref: o.Ref.WithSection(name), Object: o, Index: i})
		bs.ports = append(bs.ports, servicePort{number: number, udp: protocol == "UDP"})
		bs.addToNamespace(o.Ref.Namespace, id)
		bs.above = append(bs.above, edge{id, service})
	}
}

// backendRef is a backendRef with its defaults filled in.
type backendRef struct {
	ref  model.Ref
	port int32 // 0: not given
	at   fieldPosition
	verb string // what the rule does with it, for people
}

// addBackends connects a rule to what its backendRefs name. References of filters are no edges, but must be good too (gatewayapi G33, G34).
func (bs *backendBuilder) addBackends(r *routeDraft, id NodeID, rule *fieldReader) {
	bs.checkFilters(r, id, rule)
	for i, v := range rule.readList("backendRefs").Items {
		f := bs.readEntry(v, rule.at.atField("backendRefs").atEntry(i))
		if d, ok := bs.readDelegate(&f); ok && r.kind == httpRouteKind {
			bs.delegates[id] = append(bs.delegates[id], d)
			continue
		}
		if to, ok := f.readBackendRef(); ok {
			to.ref, to.verb = withCoreGroup(to.ref, r.coreGroupNames), "sends to"
			bs.connectBackend(r, id, to)
		}
		bs.checkFilters(r, id, &f)
	}
}

// checkFilters judges what the filters of a rule or of a backendRef refer to.
func (bs *backendBuilder) checkFilters(r *routeDraft, id NodeID, of *fieldReader) {
	for i, v := range of.readList("filters").Items {
		f := bs.readEntry(v, of.at.atField("filters").atEntry(i))
		for _, use := range [...]struct{ field, does string }{{"requestMirror", "mirrors to"}, {"externalAuth", "asks for permission at"}} {
			inner := f.readObject(use.field)
			if !inner.hasField("backendRef") {
				continue
			}
			ref := inner.readObject("backendRef")
			if to, ok := ref.readBackendRef(); ok {
				to.verb = use.does
				bs.checkBackend(r, id, to)
			}
		}
	}
}

func (f *fieldReader) readBackendRef() (backendRef, bool) {
	port := f.readPort("port")
	ref, ok := f.readNamedReference(model.Ref{Group: coreGroup, Kind: serviceKind.Kind, Namespace: f.at.object.Ref.Namespace})
	return backendRef{at: f.at, port: port, ref: ref}, ok
}

// connectBackend adds the edges of one backendRef, or says why there is none.
func (bs *backendBuilder) connectBackend(r *routeDraft, rule NodeID, to backendRef) {
	id, ok := bs.checkBackend(r, rule, to)
	if !ok {
		return
	}
	if id == None {
		id = bs.addAssumed(to.ref)
		bs.last.id = id
	}
	bs.addEdge(rule, id)
	if bs.numberedPorts[to.ref.GroupKind()] && to.port != 0 {
		bs.portUses = append(bs.portUses, portUse{id, to.port, rule})
	}
	if hasPortList(to.ref.GroupKind()) && to.port != 0 && bs.nodes[id].Object != nil {
		if port := bs.portNode(id, to.port, r.kind == udpRouteKind); port != None {
			bs.addEdge(rule, port)
		}
	}
}

// checkBackend judges one reference to a backend and reports whether the rule has an edge to it,
// and to which node if there is one yet. The edge stays if the port is wrong, because the rule and
// the policies on it do (gatewayapi G35).
func (bs *backendBuilder) checkBackend(r *routeDraft, rule NodeID, to backendRef) (NodeID, bool) {
	gk := to.ref.GroupKind()
	if isRoute(gk) { // some implementations let one route delegate to another
		bs.addNote(noteTopic{kind: delegationNotEvaluated, about: kindRef(gk)}, r.object)
		return None, false
	}
	if slices.Contains(bs.unfollowedBackends, gk) {
		bs.addNote(noteTopic{kind: backendNotFollowed, about: kindRef(gk)}, r.object)
		r.noteUnjudged(to, "traffic is not followed through a "+gk.Kind)
		return None, false
	}
	id, v := bs.judgeRef(referrer{kind: r.kind, namespace: r.object.Ref.Namespace, mesh: r.meshBound}, to.ref)
	says := func(what string) string {
		return "rule " + bs.nodes[rule].Ref.Section + " " + to.verb + " " + what
	}
	if v.reason != "" {
		bs.reportBackend(r, to, v.reason, model.Problem{Code: v.code, Message: says(to.ref.String() + ", " + v.why), Hint: v.hint})
		return None, false
	}
	if v.open != "" {
		r.noteUnjudged(to, v.open)
	}
	if v.assumed {
		bs.missingCount.addUse(rule)
	}
	if gk != serviceKind {
		return id, true
	}
	switch {
	case to.port == 0 && !r.missingPortReported:
		bs.reportInvalid(to.at, to.at.String()+" has no port, which a reference to a Service must have")
		r.missingPortReported = true
	case to.port != 0 && !v.assumed && bs.portNode(id, to.port, false) == None:
		bs.reportBackend(r, to, "", model.Problem{
			Code: model.BackendNotFound, Message: says("port " + formatInt(int(to.port)) + " of " + to.ref.String() + ", which has no such port"),
		})
	}
	return id, true
}

// judgeRef judges a reference to a backend, and finds the node that it has if it has one yet. A
// backend that is assumed to exist is noted once.
func (bs *backendBuilder) judgeRef(from referrer, ref model.Ref) (NodeID, judgement) {
	if last := &bs.last; last.id != None && last.ref == ref && last.from == from {
		return last.id, last.judgement
	}
	id, exists := bs.findNode(ref)
	if exists {
		exists = bs.nodes[id].Object != nil
	} else {
		id, exists = None, bs.in.Get(ref) != nil
	}
	v := bs.judgeBackend(from, ref, exists)
	if v.assumed {
		if _, said := bs.missing[ref]; !said {
			bs.missing[ref] = struct{}{}
			bs.missingCount = bs.addNamedNote(noteTopic{kind: backendMissing}, ref.String(), nil)
		}
	}
	bs.last.from, bs.last.ref, bs.last.id, bs.last.judgement = from, ref, id, v
	return id, v
}

// reportBackend reports p as a warning about a backendRef; reason is that of the route's
// ResolvedRefs condition, "" if it has none.
func (bs *backendBuilder) reportBackend(r *routeDraft, to backendRef, reason string, p model.Problem) {
	p.Severity = model.Warning
	if reason == "BackendNotFound" {
		missing := to.ref
		p.MissingRef = &missing
	}
	if reason != "" && r.unresolved == (Unresolved{}) {
		r.unresolved = Unresolved{Reason: reason, Message: p.Message}
	}
	bs.addProblem(p, to.at.object, to.at.fromRoot()...)
}

// noteUnjudged notes that a backendRef is taken to be good because what would tell may not be read.
func (r *routeDraft) noteUnjudged(to backendRef, why string) {
	if r.unresolved == (Unresolved{}) {
		r.unresolved.Message = to.at.String() + " is not evaluated: " + why
	}
}

// addAssumed adds a node for a backend that no earlier step has added: of another kind, or not in
// the input (gatewayapi G36).
func (bs *backendBuilder) addAssumed(ref model.Ref) NodeID {
	id := bs.addBackend(ref, bs.in.Get(ref))
	if gk := ref.GroupKind(); gk != serviceKind && gk != xBackendKind && gk != serviceImportKind {
		bs.addNamedNote(noteTopic{kind: backendKind, about: kindRef(gk)}, ref.String(), nil)
	}
	return id
}
