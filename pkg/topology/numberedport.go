package topology

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// NumberPorts gives the backends of an implementation's kind a port for every number by which rules send to them, so that policies can be for
// one. What such an object says about its ports is not read.
func (b *Builder) NumberPorts(gk model.GroupKind) {
	b.portless[gk] = true
}

// numberUse is a rule that sends to a backend by a port's number.
type numberUse struct {
	backend NodeID
	port    int32
	rule    NodeID
}

// addNumberedPorts adds the ports of backends that list none, by the rules that send to them.
func (bs *backends) addNumberedPorts() {
	slices.SortFunc(bs.uses, func(x, y numberUse) int {
		return cmp.Or(cmp.Compare(x.backend, y.backend), cmp.Compare(x.port, y.port), cmp.Compare(x.rule, y.rule))
	})
	id := None
	for i, u := range bs.uses {
		if i == 0 || bs.uses[i-1].backend != u.backend || bs.uses[i-1].port != u.port {
			owner := bs.nodes[u.backend]
			id = bs.addPart(u.backend, Node{Role: Port, Ref: owner.Ref.In(itoa(int(u.port))), Object: owner.Object})
			bs.under(owner.Ref.Namespace, id)
			bs.above = append(bs.above, edge{id, u.backend})
		}
		bs.connect(u.rule, id)
	}
}

// NumbersPort reports whether a reference is to a port by its number, of a kind whose ports are those that something sends to.
func (g *Graph) NumbersPort(ref model.Ref) bool {
	_, err := strconv.ParseUint(ref.Section, 10, 16)
	return err == nil && g.portless[ref.GroupKind()]
}
