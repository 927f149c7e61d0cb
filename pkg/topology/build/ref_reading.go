package build

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// AddBackendKinds adds kinds of an implementation that its routes may send to. They count as known:
// an input need not have their definitions, nor objects of them.
func (b *Builder) AddBackendKinds(kinds ...model.GroupKind) {
	b.backendKinds = append(b.backendKinds, kinds...)
}

// AddForeignHosts adds a function that tells which references to backends name no object, but a host
// or something that the proxy has itself. Such references are always good.
func (b *Builder) AddForeignHosts(isForeign func(model.Ref) bool) {
	b.foreignHosts = append(b.foreignHosts, isForeign)
}

// namesNoObject reports whether a reference to a backend names no object.
func (d *draft) namesNoObject(ref model.Ref) bool {
	return slices.ContainsFunc(d.foreignHosts, func(isForeign func(model.Ref) bool) bool { return isForeign(ref) })
}

// readingOf returns how the implementations of a route's Gateways read what it refers to. Each has a
// say in what a name means; only if none asks for a grant, none is needed.
func (gs *gatewayBuilder) readingOf(r *routeDraft) gatewayapi.RefReading {
	var out gatewayapi.RefReading
	table := gs.tables[r.id]
	for i := range table {
		one, ok := gs.readingAt(&table[i])
		if !ok {
			continue
		}
		out.CoreNames = append(out.CoreNames, one.CoreNames...)
		if one.KindGroups != nil {
			out.KindGroups = mergeGroups(out.KindGroups, one.KindGroups)
		}
		out.NoGrants = one.NoGrants && (i == 0 || out.NoGrants)
	}
	return out
}

// readingAt returns how the implementation of a parent reads references; false: the parent is no
// Gateway, or nothing is known about it.
func (gs *gatewayBuilder) readingAt(a *topology.Attachment) (gatewayapi.RefReading, bool) {
	if gatewayapi.IsMeshParent(a.Parent.GroupKind()) || a.Verdict != nil {
		return gatewayapi.RefReading{}, false
	}
	return gs.readingOfOwner(a.Parent), true
}

// readingOfOwner returns how references of a Gateway or a ListenerSet are read. Where it is not known
// whose it is, a name means what it means to any implementation.
func (gs *gatewayBuilder) readingOfOwner(ref model.Ref) gatewayapi.RefReading {
	if id, ok := gs.nodes.Find(ref.WithoutSection()); ok {
		if i, ok := gs.gatewayOf[gs.owningGateway(id)]; ok {
			if s := &gs.specs[i]; s.implementation.Name != "" || gs.controllerOfClass(s.class) != "" {
				return s.implementation.Refs
			}
		}
	}
	if gs.unknownImplementation.Name != "" {
		return gs.unknownImplementation.Refs
	}
	var out gatewayapi.RefReading
	for _, impl := range gs.implementations {
		out.CoreNames = append(out.CoreNames, impl.Refs.CoreNames...)
		out.KindGroups = mergeGroups(out.KindGroups, impl.Refs.KindGroups)
	}
	return out
}

// mergeGroups adds the entries of b to a copy of a.
func mergeGroups(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(b)
	maps.Copy(out, a)
	return out
}
