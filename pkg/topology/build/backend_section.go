package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// DefineBackendSections gives the backends of an implementation's kind the parts that it knows, so
// that policies can be for one. A rule that sends to such a backend sends to each of its parts.
func (b *Builder) DefineBackendSections(gk model.GroupKind, names topology.SectionsFunc) {
	if b.sections == nil {
		b.sections = map[model.GroupKind]topology.SectionsFunc{}
	}
	b.sections[gk] = names
}

// addSections adds the parts of the backends that rules send to.
func (bs *backendBuilder) addSections() {
	if len(bs.sections) == 0 {
		return
	}
	by := map[topology.NodeID][]topology.NodeID{} // the rules, by backend
	var backends []topology.NodeID
	for _, e := range bs.traffic {
		n := bs.nodes.Node(e.To)
		if n.Role != topology.Backend || n.Object == nil || bs.sections[n.Ref.GroupKind()] == nil {
			continue
		}
		if by[e.To] == nil {
			backends = append(backends, e.To)
		}
		by[e.To] = append(by[e.To], e.From)
	}
	slices.Sort(backends)
	for _, id := range backends {
		owner := bs.nodes.Node(id)
		for i, name := range bs.sections[owner.Ref.GroupKind()](owner.Object) {
			part := bs.nodes.AddPart(id, topology.Node{Role: topology.Port, Ref: owner.Ref.WithSection(name),
				Object: owner.Object, Index: i})
			bs.addToNamespace(owner.Ref.Namespace, part)
			bs.addAbove(part, id)
			for _, rule := range by[id] {
				bs.addEdge(rule, part)
			}
		}
	}
}
