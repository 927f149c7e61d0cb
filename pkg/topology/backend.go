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

// addServices adds Services and their ports, and the standard backends of other kinds.
func (b *builder) addServices() {
	services := b.in.Of(serviceKind)
	ids := make([]NodeID, len(services))
	for i, o := range services {
		ids[i] = b.addBackend(o.Ref, o)
	}
	for _, gk := range [...]model.GroupKind{xBackendKind, serviceImportKind} {
		for _, o := range b.in.Of(gk) {
			b.addBackend(o.Ref, o)
		}
	}
	b.firstPort = NodeID(len(b.nodes))
	for i, o := range services {
		b.addPorts(ids[i], o)
	}
}

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

// port is the node of the Service's port with that number; where TCP and UDP share it, HTTP and gRPC mean TCP.
func (b *builder) port(service NodeID, number int32) NodeID {
	parts, found := b.nodes[service].parts, None
	for i := range parts.n {
		id := parts.first + NodeID(i)
		p := b.ports[id-b.firstPort]
		if p.number != number {
			continue
		}
		if !p.udp {
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
}

// addBackends connects a rule to what its backendRefs name. References of filters are no edges.
func (b *builder) addBackends(r *route, id NodeID, rule *fields) {
	for i, v := range rule.list("backendRefs").Items {
		if to, ok := b.readBackendRef(v, rule.at.field("backendRefs").entry(i)); ok {
			b.send(r, id, to)
		}
	}
}

func (b *builder) readBackendRef(v model.Body, at place) (backendRef, bool) {
	f := b.entry(v, at)
	to := backendRef{at: at, port: f.port("port"), ref: model.Ref{
		Group:     f.textOr("group", coreGroup),
		Kind:      f.textOr("kind", serviceKind.Kind),
		Namespace: cmp.Or(f.text("namespace"), at.object.Ref.Namespace),
		Name:      f.text("name"),
	}}
	if to.ref.Name == "" && !f.bad {
		b.skip(at, "has no name")
		f.bad = true
	}
	return to, !f.bad
}

// send adds the edges of one backendRef, or says why there is none: its kind, a missing grant, a missing object, in this order (G34).
func (b *builder) send(r *route, rule NodeID, to backendRef) {
	section := b.nodes[rule].Ref.Section
	gk := to.ref.GroupKind()
	if isRoute(gk) { // some implementations let one route delegate to another
		b.note(topic{what: delegationNotEvaluated, about: kindRef(gk)}, r.object)
		return
	}
	if !canBeBackend(gk) {
		b.refuse(r, to, "InvalidKind", model.Problem{
			Code: model.BackendNotFound, Message: "rule " + section + " sends to " + to.ref.String() + ", which cannot be a backend",
			Hint: `the standard backend is kind Service of group ""`,
		})
		return
	}
	granted := r.meshBound || b.grants.allow(r.kind, r.object.Ref.Namespace, to.ref) // G33: backends of mesh routes need no grant
	if !granted && b.covers.withheld(grantKind, to.ref.Namespace) {
		b.leaveOpen(r, to, "the ReferenceGrants in namespace "+to.ref.Namespace+" may not be read")
	} else if !granted {
		b.refuse(r, to, "RefNotPermitted", model.Problem{
			Code: model.RefNotPermitted, Message: "rule " + section + " sends to " + to.ref.String() + ", and no ReferenceGrant permits that",
			Hint: "add to namespace " + to.ref.Namespace + " a ReferenceGrant from kind " + r.kind.String() + ", namespace " +
				r.object.Ref.Namespace + ", to kind " + gk.String() + ", name " + to.ref.Name,
		})
		return
	}
	id, ok := b.find(to.ref)
	if !ok {
		if gk == serviceKind && b.covers.services(to.ref.Namespace) {
			b.refuse(r, to, "BackendNotFound", model.Problem{
				Code: model.BackendNotFound, Message: "rule " + section + " sends to " + to.ref.String() + ", which does not exist",
			})
			return
		}
		id = b.assume(to.ref)
	}
	if b.nodes[id].Object == nil && b.covers.withheld(gk, to.ref.Namespace) {
		b.leaveOpen(r, to, to.ref.String()+" may not be read")
	}
	b.connect(rule, id)
	if gk == serviceKind {
		b.sendToPort(r, edge{rule, id}, to)
	}
}

// sendToPort adds the edge from a rule to the port of a Service, given the edge to the Service. That one stays if the port is wrong,
// because the rule and the policies on it do (gatewayapi G35).
func (b *builder) sendToPort(r *route, whole edge, to backendRef) {
	if to.port == 0 {
		if !r.portless {
			b.invalid(to.at, to.at.String()+" has no port, which a reference to a Service must have")
		}
		r.portless = true
		return
	}
	if b.nodes[whole.to].Object == nil {
		return
	}
	if port := b.port(whole.to, to.port); port != None {
		b.connect(whole.from, port)
		return
	}
	b.refuse(r, to, "", model.Problem{
		Code: model.BackendNotFound, Message: "rule " + b.nodes[whole.from].Ref.Section + " sends to port " + itoa(int(to.port)) + " of " +
			to.ref.String() + ", which has no such port",
	})
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
	if b.nodes[id].Object == nil {
		b.noteName(topic{what: backendMissing}, ref.String(), nil)
	}
	if gk := ref.GroupKind(); gk != serviceKind && gk != xBackendKind && gk != serviceImportKind {
		b.noteName(topic{what: backendKind, about: kindRef(gk)}, ref.String(), nil)
	}
	return id
}

// canBeBackend reports whether objects of the kind can be backends: in the groups whose kinds are all known only those that are.
func canBeBackend(gk model.GroupKind) bool {
	switch gk.Group {
	case coreGroup, gatewayGroup, experimentalGroup:
		return gk == serviceKind || gk == xBackendKind
	}
	return true
}
