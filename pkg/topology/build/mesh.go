package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// attachToService decides a parentRef to a Service, which refuses no route (gatewayapi G19): it or
// its port may only not exist (G50). What is accepted here can still lose to a route of another
// kind.
func (w *routeAttacher) attachToService(r *routeDraft, a topology.Attachment) {
	whole := a.Parent.WithoutSection()
	object := w.in.Get(whole)
	if object == nil {
		w.table = append(w.table, w.judgeMissingService(r, a))
		return
	}
	bound := serviceBinding{service: whole, namespace: r.object.Ref.Namespace, kind: r.kind, route: r.id,
		row: len(w.table)}
	if a.Parent.Section != "" || a.Port != 0 {
		if bound.port = manifest.FindServicePort(object, a.Parent.Section, a.Port,
			r.kind == gatewayapi.UDPRouteKind); bound.port == nil {
			a.State, a.Reason = topology.NoMatchingParent, whole.String()+" has no "+describePort(&a)
			w.table = append(w.table, a)
			return
		}
	}
	a.State, a.Hostnames, a.Reason = topology.Accepted, gatewayapi.AnyHost, "a Service takes every route"
	w.table = append(w.table, a)
	w.services.all = append(w.services.all, bound)
}

// judgeMissingService returns the verdict on a Service that is not in the input, as that on a
// Gateway (gatewayapi G10). Whether it exists is as well known as of a backend (G36).
func (w *routeAttacher) judgeMissingService(r *routeDraft, a topology.Attachment) topology.Attachment {
	service := a.Parent.WithoutSection()
	a.State = topology.NoMatchingParent
	switch {
	case w.references.IsMissing(service):
		a.Reason = service.String() + " does not exist"
	case w.in.Cluster.IsUnread(service.GroupKind(), service.Namespace):
		a.State, a.Missing, a.Reason = topology.Unknown, true, service.String()+" is forbidden"
		w.addMesh(w.services.frontendNode(service), r.id)
	default:
		a.Missing, a.Reason = true, service.String()+" is not in the input"
		w.addNote(noteTopic{kind: parentMissing, about: service}, r.object)
	}
	return a
}

// describePort describes the port of a Service that a parentRef asks for.
func describePort(a *topology.Attachment) string {
	s := "port"
	if a.Parent.Section != "" {
		s += " called " + manifest.QuoteName(a.Parent.Section)
	}
	if a.Port != 0 {
		s += " with number " + manifest.FormatInt(int(a.Port))
	}
	return s
}

// frontendNode returns the node of a Service as a parent. Its object is that of the Service's node
// as a backend.
func (bs *serviceBindings) frontendNode(service model.Ref) topology.NodeID {
	id := bs.nodes.Frontend(service)
	if id == topology.None {
		id = bs.nodes.AddFrontend(service, bs.in.Get(service))
		bs.addToNamespace(service.Namespace, id)
	}
	return id
}

// frontendPortNode returns the node of one port of a Service as a parent, below that of the
// Service.
func (bs *serviceBindings) frontendPortNode(service topology.NodeID, section string) topology.NodeID {
	whole := bs.nodes.Node(service)
	id := bs.nodes.Frontend(whole.Ref.WithSection(section))
	if id == topology.None {
		id = bs.nodes.AddFrontend(whole.Ref.WithSection(section), whole.Object)
		bs.addMesh(service, id)
	}
	return id
}
