package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// Build builds the graph of everything in the snapshot, with what the linkers say about implementations. The outcome does not depend on the
// order of the input, and costs time and space linear in its objects and references, and in the chains of delegation. Each phase relies on
// the nodes of those before it.
func Build(in *model.Snapshot, settings model.Settings, linkers ...Linker) *Graph {
	d := newDraft(in, &Builder{settings: settings, portless: map[model.GroupKind]bool{}})
	for _, link := range linkers {
		link(d.Builder)
	}
	d.taken = d.unfollowed()
	d.addNamespaces()
	d.readGrants()
	gs := newGateways(d)
	gs.addGateways()
	back := &backends{draft: d, missing: map[model.Ref]struct{}{}, handing: map[NodeID][]delegate{}}
	back.addServices()
	services := &bindings{draft: d}
	rows := newTableWriter(gs, services)
	rs := routes{draft: d, parents: rows, backends: back}
	rs.addRoutes()
	back.addNumberedPorts()
	back.addSections()
	services.connect()
	ports := portSharing{gateways: gs}
	ports.isolate()
	if len(d.delegations) > 0 && (len(back.handing) > 0 || rows.routeParents) {
		newChains(gs, back.handing).follow()
	}
	extended := d.extend()
	d.report()
	g := d.graph()
	gs.into(g)
	g.asking, g.portmates, g.owners = rows.asking, ports.portmates, ports.findOwners()
	extended.into(g)
	g.alike = d.alike
	g.core, g.together = rows.decides.core, rows.decides.together
	return g
}
