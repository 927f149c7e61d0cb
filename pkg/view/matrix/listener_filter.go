package matrix

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// listenerFilterKind stands for the filters of listeners among the policy kinds of a matrix.
var listenerFilterKind = model.GroupKind{Group: gatewayapi.GatewayGroup, Kind: "ListenerFilters"}

// addFilterColumn adds a column for the filters of listeners, if a listener has some and all kinds are
// asked for: they are in force for every request of the listener, as a policy there would be.
func (m *matrixBuilder) addFilterColumn() {
	if m.collector.Query.Kinds != nil {
		return
	}
	g := m.collector.Resolution.Graph
	for id := range topology.NodeID(g.Len()) {
		if len(g.Node(id).ListenerFilters()) > 0 {
			m.newColumn(listenerFilterKind).hasListenerFilters = true
			return
		}
	}
}

// filterCells says on which paths a listener has filters, and whose listener it is.
func (c *matrixColumn) filterCells(ways []resolve.Path) pathCells {
	if len(ways) == 0 {
		return pathCells{common: c.none}
	}
	each := make([]*sharedCell, len(ways))
	for i, way := range ways {
		each[i] = c.none
		for _, id := range way {
			n := c.builder.collector.Resolution.Node(id)
			if len(n.ListenerFilters()) == 0 {
				continue
			}
			each[i] = c.cellWithReason(CellInForce, "", n.Ref.WithoutSection())
			each[i].Levels = []string{string(topology.Listener)}
		}
	}
	return newPathCells(each)
}
