package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// SectionsFunc names the parts of a backend of an implementation's kind.
type SectionsFunc func(o *model.Object) []string

// DefineBackendSections gives the backends of an implementation's kind the parts that it knows, so
// that policies can be for one. A rule that sends to such a backend sends to each of its parts.
func (b *Builder) DefineBackendSections(gk model.GroupKind, names SectionsFunc) {
	if b.sections == nil {
		b.sections = map[model.GroupKind]SectionsFunc{}
	}
	b.sections[gk] = names
}

// addSections adds the parts of the backends that rules send to.
func (bs *backendBuilder) addSections() {
	if len(bs.sections) == 0 {
		return
	}
	by := map[NodeID][]NodeID{} // the rules, by backend
	var backends []NodeID
	for _, e := range bs.traffic {
		n := bs.nodes.Node(e.To)
		if n.Role != Backend || n.Object == nil || bs.sections[n.Ref.GroupKind()] == nil {
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
			part := bs.nodes.AddPart(id, Node{Role: Port, Ref: owner.Ref.WithSection(name), Object: owner.Object, Index: i})
			bs.addToNamespace(owner.Ref.Namespace, part)
			bs.addAbove(part, id)
			for _, rule := range by[id] {
				bs.addEdge(rule, part)
			}
		}
	}
}

// HasBackendSection reports whether a reference is to a part that an object has, of a kind whose
// parts are known; the graph has it only where a rule sends to the object.
func (g *Graph) HasBackendSection(ref model.Ref, o *model.Object) bool {
	names := g.parts.Sections[ref.GroupKind()]
	return names != nil && slices.Contains(names(o), ref.Section)
}
