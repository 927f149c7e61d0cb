package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// proxyFamily holds what a waypoint serves below the waypoint. Everything else stands alone: what
// holds at it is found by the policies.
const proxyFamily = "istio.proxy"

// extendGraph links workloads, namespaces and what waypoints serve.
func extendGraph(b *build.Extender, in *model.Snapshot, s model.Settings) []model.Problem {
	if !isPresent(in, s) {
		return nil
	}
	w := buildProxyIndex(in, s)
	named := map[model.Ref]bool{} // hosts of DestinationRules without an object in the input
	b.Workloads()
	b.DeclareFamily(proxyFamily, topology.Namespace, topology.Gateway, topology.Backend, topology.Workload)
	for _, name := range w.allNamespaces {
		ref := model.Ref{Kind: "Namespace", Name: name}
		if o := in.Get(ref); o != nil {
			b.AddObject(topology.Namespace, o)
		} else {
			b.AddRef(topology.Namespace, ref)
		}
	}
	for _, t := range w.targets {
		role := topology.Workload
		switch {
		case t.service != nil:
			role = topology.Backend
		case t.object.Ref.GroupKind() == gatewayKind:
			role = topology.Gateway
		}
		id := b.AddObject(role, t.representativeObject())
		if t.service != nil && t.object.Ref.GroupKind() == gatewayKind {
			b.Connect(proxyFamily, b.AddObject(topology.Gateway, t.object), id)
		}
	}
	for _, o := range in.OfKind(serviceEntryKind) {
		addPorts(b, b.AddObject(topology.Backend, o), o)
	}
	for _, refs := range readRuleHosts(in, w.root).targets {
		for _, ref := range refs {
			if ref.Kind == "Hostname" {
				named[ref] = true
			}
		}
	}
	for _, ref := range sortRefs(named) {
		b.AddRef(topology.Backend, ref)
	}
	return w.waypointProblems()
}

// addPorts adds the ports of a ServiceEntry, by their names.
func addPorts(b *build.Extender, id topology.NodeID, o *model.Object) {
	var names []string
	for _, port := range o.Body.At("spec", "ports").Items {
		if name := port.Text("name"); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, part := range b.AddSections(id, topology.Port, names) {
		b.PlaceUnder(id, part)
	}
}
