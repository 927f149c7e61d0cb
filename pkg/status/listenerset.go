package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var (
	setKind  = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "ListenerSet"}
	xSetKind = model.GroupKind{Group: "gateway.networking.x-k8s.io", Kind: "XListenerSet"}
)

func isListenerSet(gk model.GroupKind) bool { return gk == setKind || gk == xSetKind }

// listenerSet has the conditions of a ListenerSet (gatewayapi G22). Programmed is predicted only where it follows from the spec.
func listenerSet(r *resolve.Resolution, id topology.NodeID) Prediction {
	f := r.Graph.Set(id)
	accepted := Condition{"Accepted", "False", string(f.State), f.Reason}
	p := Prediction{Object: r.Graph.Node(id).Ref, Ancestors: []Ancestor{{Conditions: []Condition{accepted}}}}
	own := p.Ancestors[0].Conditions
	switch {
	case f.State == topology.SetAccepted:
		own[0].Status = "True"
	case f.State == topology.SetUnknown, f.Missing:
		own[0].Status = "Unknown"
	case f.State == topology.SetNotAllowed, f.State == topology.SetListenersNotValid:
		p.Ancestors[0].Conditions = append(own, Condition{"Programmed", "False", string(f.State), f.Reason})
	}
	return p
}

// attachedSets counts the ListenerSets of a Gateway that are accepted: those that it takes and that have a valid listener (gatewayapi G24).
// Where a cluster did not let us read whether there are more, there is no number.
func attachedSets(r *resolve.Resolution, gateway topology.NodeID) *int {
	g, n := r.Graph, 0
	if cluster := r.Snapshot.Cluster; cluster != nil && slices.ContainsFunc(cluster.Gaps, func(gap model.Gap) bool { return isListenerSet(gap.Kind) }) {
		return nil
	}
	for _, id := range g.SetsOf(gateway) {
		switch g.Set(id).State {
		case topology.SetAccepted:
			n++
		case topology.SetUnknown:
			if r.Snapshot.Cluster != nil {
				return nil
			}
		}
	}
	return &n
}
