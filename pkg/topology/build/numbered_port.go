package build

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// DefineNumberedPorts gives the backends of an implementation's kind a port for every number by
// which rules send to them, so that policies can be for one. What such an object says about its
// ports is not read.
func (b *Builder) DefineNumberedPorts(gk model.GroupKind) {
	b.numberedPorts[gk] = true
}

// portUse is a rule that sends to a backend by a port's number.
type portUse struct {
	backend topology.NodeID
	port    int32
	rule    topology.NodeID
}

// addNumberedPorts adds the ports of backends that list none, by the rules that send to them.
func (bs *backendBuilder) addNumberedPorts() {
	slices.SortFunc(bs.portUses, func(x, y portUse) int {
		return cmp.Or(cmp.Compare(x.backend, y.backend), cmp.Compare(x.port, y.port), cmp.Compare(x.rule, y.rule))
	})
	id := topology.None
	for i, u := range bs.portUses {
		if i == 0 || bs.portUses[i-1].backend != u.backend || bs.portUses[i-1].port != u.port {
			owner := bs.nodes.Node(u.backend)
			id = bs.nodes.AddPart(u.backend, topology.Node{Role: topology.Port,
				Ref: owner.Ref.WithSection(manifest.FormatInt(int(u.port))), Object: owner.Object})
			bs.addToNamespace(owner.Ref.Namespace, id)
			bs.addAbove(id, u.backend)
		}
		bs.addEdge(u.rule, id)
	}
}
