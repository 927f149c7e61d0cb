package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// family holds what a waypoint serves below the waypoint. Everything else stands alone: what holds at it is found by the policies.
const family = "istio.proxy"

// proxies links workloads, namespaces and what waypoints serve.
func proxies(b *topology.Extender, in *model.Snapshot, s model.Settings) []model.Problem {
	if !present(in, s) {
		return nil
	}
	w := readWorld(in, s)
	named := map[model.Ref]bool{} // hosts of DestinationRules that no object stands for
	b.Workloads()
	b.Family(family, topology.Namespace, topology.Gateway, topology.Backend, topology.Workload)
	for _, name := range w.spaces {
		ref := model.Ref{Kind: "Namespace", Name: name}
		if o := in.Get(ref); o != nil {
			b.Add(topology.Namespace, o)
		} else {
			b.AddNamed(topology.Namespace, ref)
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
		id := b.Add(role, t.of())
		if t.service != nil && t.object.Ref.GroupKind() == gatewayKind {
			b.Connect(family, b.Add(topology.Gateway, t.object), id)
		}
	}
	for _, o := range in.Of(serviceEntryKind) {
		addPorts(b, b.Add(topology.Backend, o), o)
	}
	for _, refs := range readHosts(in, w.root).of {
		for _, ref := range refs {
			if ref.Kind == "Hostname" {
				named[ref] = true
			}
		}
	}
	for _, ref := range sortedRefs(named) {
		b.AddNamed(topology.Backend, ref)
	}
	return w.notes()
}

// addPorts adds the ports of a ServiceEntry, by their names.
func addPorts(b *topology.Extender, id topology.NodeID, o *model.Object) {
	var names []string
	for _, port := range o.Body.At("spec", "ports").Items {
		if name := port.Text("name"); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, part := range b.Sections(id, topology.Port, names) {
		b.Under(id, part)
	}
}
