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

// IsMeshParent reports whether a parent of the kind makes a route one of the mesh (gatewayapi G19,
// G49).
func IsMeshParent(gk model.GroupKind) bool { return gk == serviceKind || gk == serviceImportKind }

// buildFamilies makes the families of the edges. Without a route that a Service is the parent of,
// All is Traffic, and Mesh has what only policies of its own can be in force at: backends.
func (d *draft) buildFamilies() map[string]edgeFamily {
	traffic := newEdgeFamily(d.nodes, d.traffic, trafficLevels[:])
	if len(d.mesh) == 0 {
		return map[string]edgeFamily{Traffic: traffic, All: traffic, Mesh: {order: orderByLevel(d.nodes, []Role{Backend, Port})}}
	}
	mesh := slices.Clone(d.mesh)
	for _, e := range d.traffic {
		if role := d.nodes[e.from].Role; role == Route || role == Rule {
			mesh = append(mesh, e)
		}
	}
	return map[string]edgeFamily{
		Traffic: traffic, Mesh: newEdgeFamily(d.nodes, mesh, meshLevels[:]),
		All: newEdgeFamily(d.nodes, slices.Concat(d.traffic, d.mesh), allLevels[:]),
	}
}

// attachToService decides a parentRef to a Service, which refuses no route (gatewayapi G19): it or its port may only not exist (G50).
// What is accepted here can still lose to a route of another kind.
func (w *routeAttacher) attachToService(r *routeDraft, a Attachment) {
	whole := a.Parent.WithoutSection()
	object := w.in.Get(whole)
	if object == nil {
		w.table = append(w.table, w.judgeMissingService(r, a))
		return
	}
	bound := serviceBinding{service: whole, namespace: r.object.Ref.Namespace, kind: r.kind, route: r.id, row: len(w.table)}
	if a.Parent.Section != "" || a.Port != 0 {
		if bound.port = findServicePort(object, a.Parent.Section, a.Port, r.kind == udpRouteKind); bound.port == nil {
			a.State, a.Reason = NoMatchingParent, whole.String()+" has no "+a.describePort()
			w.table = append(w.table, a)
			return
		}
	}
	a.State, a.Hostnames, a.Reason = Accepted, anyHost, "a Service takes every route"
	w.table = append(w.table, a)
	w.services.all = append(w.services.all, bound)
}

// judgeMissingService returns the verdict on a Service that is not in the input, as that on a
// Gateway (gatewayapi G10). Whether it exists is as well known as of a backend (G36).
func (w *routeAttacher) judgeMissingService(r *routeDraft, a Attachment) Attachment {
	service := a.Parent.WithoutSection()
	a.State = NoMatchingParent
	switch {
	case w.isComplete(service):
		a.Reason = service.String() + " does not exist"
	case w.coverage.isWithheld(service.GroupKind(), service.Namespace):
		a.State, a.Missing, a.Reason = Unknown, true, service.String()+" may not be read"
		w.mesh = append(w.mesh, edge{w.services.frontendNode(service), r.id})
	default:
		a.Missing, a.Reason = true, service.String()+" is not in the input"
		w.addNote(noteTopic{kind: parentMissing, about: service}, r.object)
	}
	return a
}

// describePort describes the port of a Service that a parentRef asks for.
func (a *Attachment) describePort() string {
	s := "port"
	if a.Parent.Section != "" {
		s += " called " + quoteName(a.Parent.Section)
	}
	if a.Port != 0 {
		s += " with number " + formatInt(int(a.Port))
	}
	return s
}

// frontendNode returns the node of a Service as a parent. Its object is that of the Service's node
// as a backend.
func (bs *serviceBindings) frontendNode(service model.Ref) NodeID {
	id, ok := bs.frontends[service]
	if !ok {
		id = bs.addFrontend(service, bs.in.Get(service))
		bs.addToNamespace(service.Namespace, id)
	}
	return id
}

// frontendPortNode returns the node of one port of a Service as a parent, below that of the
// Service.
func (bs *serviceBindings) frontendPortNode(service NodeID, section string) NodeID {
	whole := bs.nodes[service]
	id, ok := bs.frontends[whole.Ref.WithSection(section)]
	if !ok {
		id = bs.addFrontend(whole.Ref.WithSection(section), whole.Object)
		bs.mesh = append(bs.mesh, edge{service, id})
	}
	return id
}

func (bs *serviceBindings) addFrontend(ref model.Ref, o *model.Object) NodeID {
	id := NodeID(len(bs.nodes))
	bs.nodes = append(bs.nodes, Node{Role: Frontend, Ref: ref, Object: o})
	bs.frontends[ref] = id
	return id
}
