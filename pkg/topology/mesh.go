package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// meshLevels are the roles of Mesh, every parent's before its children's; allLevels those of both families. A Service has a smaller id
// than its ports, which are on its level.
var (
	meshLevels = [...]Role{Frontend, Route, Rule, Backend, Port}
	allLevels  = [...]Role{Frontend, GatewayClass, Gateway, ListenerSet, Listener, Route, Rule, Backend, Port}
)

// isMeshParent reports whether a parent of the kind makes a route one of the mesh (gatewayapi G19, G49).
func isMeshParent(gk model.GroupKind) bool { return gk == serviceKind || gk == serviceImportKind }

// families makes the families of the edges. Without a route that a Service is the parent of, All is Traffic, and Mesh has what only
// policies of its own can be in force at: backends.
func (b *builder) families() map[string]family {
	traffic := newFamily(b.nodes, b.traffic, trafficLevels[:])
	if len(b.mesh) == 0 {
		return map[string]family{Traffic: traffic, All: traffic, Mesh: {order: inOrder(b.nodes, []Role{Backend, Port})}}
	}
	mesh := slices.Clone(b.mesh)
	for _, e := range b.traffic {
		if role := b.nodes[e.from].Role; role == Route || role == Rule {
			mesh = append(mesh, e)
		}
	}
	return map[string]family{
		Traffic: traffic, Mesh: newFamily(b.nodes, mesh, meshLevels[:]),
		All: newFamily(b.nodes, slices.Concat(b.traffic, b.mesh), allLevels[:]),
	}
}

// attachToService decides a parentRef to a Service, which refuses no route (gatewayapi G19): it or its port may only not exist (G50).
// What is accepted here can still lose to a route of another kind.
func (b *builder) attachToService(r *route, a Attachment) {
	whole := a.Parent.Whole()
	object := b.in.Get(whole)
	if object == nil {
		b.table = append(b.table, b.withoutService(r, a))
		return
	}
	bound := binding{service: whole, namespace: r.object.Ref.Namespace, kind: r.kind, route: r.id, row: len(b.table)}
	if a.Parent.Section != "" || a.Port != 0 {
		if bound.port = findPort(object, a.Parent.Section, a.Port, r.kind == udpRouteKind); bound.port == nil {
			a.State, a.Reason = NoMatchingParent, whole.String()+" has no "+a.wantedPort()
			b.table = append(b.table, a)
			return
		}
	}
	a.State, a.Hostnames, a.Reason = Accepted, anyHost, "a Service takes every route"
	b.table = append(b.table, a)
	b.bindings = append(b.bindings, bound)
}

// withoutService is the verdict on a Service that is not in the input, as that on a Gateway (gatewayapi G10). Whether it exists is as well
// known as of a backend (G36).
func (b *builder) withoutService(r *route, a Attachment) Attachment {
	service := a.Parent.Whole()
	a.State = NoMatchingParent
	switch {
	case b.complete(service):
		a.Reason = service.String() + " does not exist"
	case b.covers.withheld(service.GroupKind(), service.Namespace):
		a.State, a.Missing, a.Reason = Unknown, true, service.String()+" may not be read"
		b.mesh = append(b.mesh, edge{b.frontend(service), r.id})
	default:
		a.Missing, a.Reason = true, service.String()+" is not in the input"
		b.note(topic{what: parentMissing, about: service}, r.object)
	}
	return a
}

// wantedPort describes the port of a Service that a parentRef asks for.
func (a *Attachment) wantedPort() string {
	s := "port"
	if a.Parent.Section != "" {
		s += " called " + quote(a.Parent.Section)
	}
	if a.Port != 0 {
		s += " with number " + itoa(int(a.Port))
	}
	return s
}

// frontend is the node of a Service as a parent. Its object is that of the Service's node as a backend.
func (b *builder) frontend(service model.Ref) NodeID {
	id, ok := b.frontends[service]
	if !ok {
		id = b.addFrontend(service, b.in.Get(service))
		b.under(service.Namespace, id)
	}
	return id
}

// frontendPort is the node of one port of a Service as a parent, below that of the Service.
func (b *builder) frontendPort(service NodeID, section string) NodeID {
	whole := b.nodes[service]
	id, ok := b.frontends[whole.Ref.In(section)]
	if !ok {
		id = b.addFrontend(whole.Ref.In(section), whole.Object)
		b.mesh = append(b.mesh, edge{service, id})
	}
	return id
}

func (b *builder) addFrontend(ref model.Ref, o *model.Object) NodeID {
	id := NodeID(len(b.nodes))
	b.nodes = append(b.nodes, Node{Role: Frontend, Ref: ref, Object: o})
	b.frontends[ref] = id
	return id
}

// Frontend is the node of a Service, or of a port of one, as a parent of routes (gatewayapi G49); None if it is none. Its reference is that
// of the node as a backend.
func (g *Graph) Frontend(ref model.Ref) NodeID {
	if id, ok := g.frontends[ref]; ok {
		return id
	}
	return None
}

// withFrontends adds to the nodes that stand for ref those of the same Services and ports as parents.
func (g *Graph) withFrontends(ref model.Ref, found []NodeID) []NodeID {
	out := slices.Clip(found)
	if id, ok := g.frontends[ref]; ok {
		out = append(out, id)
	}
	for _, id := range found {
		n := &g.nodes[id]
		if n.Role != Backend && n.Role != Port {
			continue
		}
		if at, ok := g.frontends[n.Ref]; ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}
