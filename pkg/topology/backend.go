package topology

import (
	"cmp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// servicePort is what backendRefs need to know of a port of a Service.
type servicePort struct {
	number int32
	udp    bool
}

// addServices adds Services and ServiceImports with their ports, and the standard backends of other kinds.
func (b *builder) addServices() {
	var ported []NodeID
	for _, gk := range [...]model.GroupKind{serviceKind, xBackendKind, serviceImportKind} {
		for _, o := range b.in.Of(gk) {
			if id := b.addBackend(o.Ref, o); listsPorts(gk) {
				ported = append(ported, id)
			}
		}
	}
	b.firstPort = NodeID(len(b.nodes))
	for _, id := range ported {
		b.addPorts(id, b.nodes[id].Object)
	}
}

// listsPorts reports whether objects of a kind list their ports as Services do.
func listsPorts(gk model.GroupKind) bool { return gk == serviceKind || gk == serviceImportKind }

func (b *builder) addBackend(ref model.Ref, o *model.Object) NodeID {
	id := b.add(Node{Role: Backend, Ref: ref, Object: o})
	b.under(ref.Namespace, id)
	return id
}

func (b *builder) addPorts(service NodeID, o *model.Object) {
	spec := b.spec(o)
	for i, v := range spec.list("ports").Items {
		f := b.entry(v, spec.at.field("ports").entry(i))
		name, number, protocol := f.text("name"), f.port("port"), f.text("protocol")
		if f.bad {
			continue
		}
		if number == 0 {
			b.skip(f.at, "has no port")
			continue
		}
		if name == "" {
			name = itoa(int(number))
		}
		id := b.addPart(service, Node{Role: Port, Ref: o.Ref.In(name), Object: o, Index: i})
		b.ports = append(b.ports, servicePort{number: number, udp: protocol == "UDP"})
		b.under(o.Ref.Namespace, id)
		b.above = append(b.above, edge{id, service})
	}
}

// port is the node of the Service's port with that number; where TCP and UDP share it, the one of the route's protocol.
func (b *builder) port(service NodeID, number int32, udp bool) NodeID {
	parts, found := b.nodes[service].parts, None
	for i := range parts.n {
		id := parts.first + NodeID(i)
		p := b.ports[id-b.firstPort]
		if p.number != number {
			continue
		}
		if p.udp == udp {
			return id
		}
		found = id
	}
	return found
}

// backendRef is a backendRef with its defaults filled in.
type backendRef struct {
	ref  model.Ref
	port int32 // 0: not given
	at   place
	does string // what the rule does with it, for people
}

// addBackends connects a rule to what its backendRefs name. References of filters are no edges, but must be good too (gatewayapi G33, G34).
func (b *builder) addBackends(r *route, id NodeID, rule *fields) {
	b.checkFilters(r, id, rule)
	for i, v := range rule.list("backendRefs").Items {
		f := b.entry(v, rule.at.field("backendRefs").entry(i))
		if d, ok := b.readDelegate(&f); ok && r.kind == httpRouteKind {
			b.handing[id] = append(b.handing[id], d)
			continue
		}
		if to, ok := b.readBackendRef(&f); ok {
			to.does = "sends to"
			b.send(r, id, to)
		}
		b.checkFilters(r, id, &f)
	}
}

// checkFilters judges what the filters of a rule or of a backendRef refer to.
func (b *builder) checkFilters(r *route, id NodeID, of *fields) {
	for i, v := range of.list("filters").Items {
		f := b.entry(v, of.at.field("filters").entry(i))
		for _, use := range [...]struct{ field, does string }{{"requestMirror", "mirrors to"}, {"externalAuth", "asks for permission at"}} {
			inner := f.object(use.field)
			if !inner.has("backendRef") {
				continue
			}
			ref := inner.object("backendRef")
			if to, ok := b.readBackendRef(&ref); ok {
				to.does = use.does
				b.check(r, id, to)
			}
		}
	}
}

func (b *builder) readBackendRef(f *fields) (backendRef, bool) {
	to := backendRef{at: f.at, port: f.port("port"), ref: model.Ref{
		Group:     f.textOr("group", coreGroup),
		Kind:      f.textOr("kind", serviceKind.Kind),
		Namespace: cmp.Or(f.text("namespace"), f.at.object.Ref.Namespace),
		Name:      f.text("name"),
	}}
	if to.ref.Name == "" && !f.bad {
		b.skip(f.at, "has no name")
		f.bad = true
	}
	return to, !f.bad
}

// send adds the edges of one backendRef, or says why there is none.
func (b *builder) send(r *route, rule NodeID, to backendRef) {
	id, ok := b.check(r, rule, to)
	if !ok {
		return
	}
	if id == None {
		id = b.assume(to.ref)
	}
	b.connect(rule, id)
	if b.portless[to.ref.GroupKind()] && to.port != 0 {
		b.uses = append(b.uses, numberUse{id, to.port, rule})
	}
	if listsPorts(to.ref.GroupKind()) && to.port != 0 && b.nodes[id].Object != nil {
		if port := b.port(id, to.port, r.kind == udpRouteKind); port != None {
			b.connect(rule, port)
		}
	}
}

// check judges one reference to a backend and reports whether the rule has an edge to it, and to which node if there is one yet. The edge
// stays if the port is wrong, because the rule and the policies on it do (gatewayapi G35).
func (b *builder) check(r *route, rule NodeID, to backendRef) (NodeID, bool) {
	gk := to.ref.GroupKind()
	if isRoute(gk) { // some implementations let one route delegate to another
		b.note(topic{what: delegationNotEvaluated, about: kindRef(gk)}, r.object)
		return None, false
	}
	id, exists := b.find(to.ref)
	if exists {
		exists = b.nodes[id].Object != nil
	} else {
		id, exists = None, b.in.Get(to.ref) != nil
	}
	v := b.backend(sender{r.kind, r.object.Ref.Namespace, r.meshBound}, to.ref, exists)
	says := func(what string) string {
		return "rule " + b.nodes[rule].Ref.Section + " " + to.does + " " + what
	}
	if v.reason != "" {
		b.refuse(r, to, v.reason, model.Problem{Code: v.code, Message: says(to.ref.String() + ", " + v.why), Hint: v.hint})
		return None, false
	}
	if v.open != "" {
		b.leaveOpen(r, to, v.open)
	}
	if _, said := b.missing[to.ref]; v.assumed && !said {
		b.missing[to.ref] = struct{}{}
		b.noteName(topic{what: backendMissing}, to.ref.String(), nil)
	}
	if gk != serviceKind {
		return id, true
	}
	switch {
	case to.port == 0 && !r.portless:
		b.invalid(to.at, to.at.String()+" has no port, which a reference to a Service must have")
		r.portless = true
	case to.port != 0 && !v.assumed && b.port(id, to.port, false) == None:
		b.refuse(r, to, "", model.Problem{
			Code: model.BackendNotFound, Message: says("port " + itoa(int(to.port)) + " of " + to.ref.String() + ", which has no such port"),
		})
	}
	return id, true
}

// refuse reports p as a warning about a backendRef; reason is that of the route's ResolvedRefs condition, "" if it has none.
func (b *builder) refuse(r *route, to backendRef, reason string, p model.Problem) {
	p.Severity = model.Warning
	if reason != "" && r.unresolved == (Unresolved{}) {
		r.unresolved = Unresolved{Reason: reason, Message: p.Message}
	}
	b.problem(p, to.at.object, to.at.path()...)
}

// leaveOpen notes that a backendRef is taken to be good because what would tell may not be read.
func (b *builder) leaveOpen(r *route, to backendRef, why string) {
	if r.unresolved == (Unresolved{}) {
		r.unresolved.Message = to.at.String() + " is not evaluated: " + why
	}
}

// assume is a new node for a backend that no earlier step has added: of another kind, or not in the input (gatewayapi G36, §7).
func (b *builder) assume(ref model.Ref) NodeID {
	id := b.addBackend(ref, b.in.Get(ref))
	if gk := ref.GroupKind(); gk != serviceKind && gk != xBackendKind && gk != serviceImportKind {
		b.noteName(topic{what: backendKind, about: kindRef(gk)}, ref.String(), nil)
	}
	return id
}
