package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Graph builds the graph of everything in the snapshot, with what the linkers say about
// implementations. The outcome does not depend on the order of the input, and costs time and space
// linear in its objects and references, and in the chains of delegation. Each phase relies on the
// nodes of those before it.
func Graph(in *model.Snapshot, settings model.Settings, linkers ...Linker) *topology.Graph {
	d := newDraft(in, newBuilder(settings, linkers))
	d.unfollowedBackends = d.unfollowedKinds()
	d.references.AddKinds(d.backendKinds)
	d.addNamespaces()
	gs := newGatewayBuilder(d)
	gs.addGateways()
	back := &backendBuilder{draft: d, missing: map[model.Ref]struct{}{}, delegates: map[topology.NodeID][]delegateRef{}}
	back.addServices()
	back.checkListenerFilters(&gs.listenerTable)
	services := &serviceBindings{draft: d}
	rows := newRouteAttacher(gs, services)
	rs := routeBuilder{draft: d, parents: rows, backends: back}
	rs.addRoutes()
	back.addNumberedPorts()
	back.addSections()
	services.connectAll()
	ports := portSharing{gatewayBuilder: gs}
	ports.isolateHosts()
	if len(d.delegations) > 0 && (len(back.delegates) > 0 || rows.routeParents) {
		newDelegationChains(gs, back.delegates).followAll()
	}
	extended := d.runExtensions()
	d.reportNotes()
	p := d.listParts()
	gs.addTo(&p)
	extended.addTo(&p)
	p.WantDefaults, p.SharedPorts, p.HostOwners = rows.wantDefaults, ports.groups, ports.findOwners()
	p.Readings, p.RoutesTogether = d.readings, rows.parentJudge.routesTogether
	p.NamesNoObject = d.namesNoObject
	return topology.New(p)
}
