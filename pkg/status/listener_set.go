package status

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var gatewayKind = model.GroupKind{Group: gatewayv1.GroupName, Kind: "Gateway"}

// missesListenerSets reports whether a cluster did not let us read all ListenerSets.
func missesListenerSets(r *resolve.Resolution) bool {
	return slices.ContainsFunc(gatewayapi.ListenerSetKinds(), r.Snapshot.Cluster.HasUnread)
}

// MarkUnknownSets makes what is reported about ListenerSets Unknown where it is not known whether
// their Gateway takes them.
func MarkUnknownSets(r *resolve.Resolution, ancestors []Ancestor) {
	for i := range ancestors {
		a := &ancestors[i]
		if a.Ref == nil || !gatewayapi.IsListenerSet(a.Ref.GroupKind()) {
			continue
		}
		for _, id := range r.Graph.Lookup(a.Ref.WithoutSection()) {
			if set := r.Graph.ListenerSet(id); set.State == topology.SetUnknown {
				a.Conditions = []Condition{{Type: typeAccepted, Status: "Unknown", Reason: "NotEvaluated",
					Message: set.Reason}}
			}
		}
	}
}

// predictListenerSet returns the conditions of a ListenerSet (gatewayapi G22). Programmed is
// predicted only where it follows from the spec.
func predictListenerSet(g *topology.Graph, id topology.NodeID, others unreadListeners) Prediction {
	f := g.ListenerSet(id)
	conditions := []Condition{{typeAccepted, "False", string(f.State), f.Reason}}
	doubt := others.conflictDoubt(id)
	switch {
	case f.State == topology.SetUnknown, f.Missing:
		conditions[0].Status = "Unknown"
	case f.State != topology.SetNotAllowed && f.State != topology.SetWithoutParent && doubt != "":
		conditions[0] = Condition{typeAccepted, "Unknown", "NotEvaluated", doubt}
	case f.State == topology.SetAccepted:
		conditions[0].Status = "True"
		if total, bad, _, _ := countListeners(g, id); bad > 0 {
			conditions[0] = listenersNotValid(bad, total)
		}
	case f.State == topology.SetNotAllowed, f.State == topology.SetListenersNotValid:
		conditions = append(conditions, Condition{typeProgrammed, "False", string(f.State), f.Reason})
	}
	return Prediction{Object: g.Node(id).Ref, Ancestors: []Ancestor{{Conditions: conditions}}}
}

// addConflicts adds what the conflicts of a listener come to (gatewayapi G29) to its conditions,
// the first of which are Accepted and ResolvedRefs. A listener of a ListenerSet is not accepted if
// it conflicts; whether it does is not known if the set does not take part, and nobody says
// anything about the acceptance of listeners of a set that the Gateway refuses.
func addConflicts(g *topology.Graph, id topology.NodeID, conditions []Condition, others unreadListeners) []Condition {
	facts := g.Listener(id)
	conflict := facts.Conflict
	owner := g.Parents(topology.Traffic, id)[0]
	doubt := others.conflictDoubt(owner)
	if g.Node(owner).Role != topology.ListenerSet {
		switch {
		case conflict.Reason == "":
		case doubt != "":
			conditions = append(conditions, Condition{typeConflicted, "Unknown", "NotEvaluated", doubt})
		default:
			conditions = append(conditions, Condition{typeConflicted, "True", conflict.Reason, conflict.Message})
		}
		return conditions
	}
	set := g.ListenerSet(owner)
	switch {
	case set.State == topology.SetUnknown, set.Missing:
		conditions[0] = Condition{typeAccepted, "Unknown", "NotEvaluated", set.Reason}
	case set.State == topology.SetNotAllowed, set.State == topology.SetWithoutParent:
		return conditions[1:2]
	case facts.Unsupported: // it has no place that others could take
	case doubt != "" && (!conflict.Settled || g.MergesGateways()):
		conditions[0] = Condition{typeAccepted, "Unknown", "NotEvaluated", doubt}
	case conflict.Reason != "":
		conditions[0] = Condition{typeAccepted, "False", conflict.Reason, conflict.Message}
		conditions = append(conditions[:2], Condition{typeProgrammed, "False", conflict.Reason, conflict.Message},
			Condition{typeConflicted, "True", conflict.Reason, conflict.Message})
	}
	return conditions
}

// unreadListeners are listeners that a cluster did not let us read and that may have the place of
// others.
type unreadListeners struct {
	graph    *topology.Graph
	gateways bool                                // Gateways may not be read, and those of a class share their ports
	sets     bool                                // ListenerSets may not be read
	unknown  map[topology.NodeID]topology.NodeID // by Gateway, a set of which it is not known whether it takes part
}

func newUnreadListeners(r *resolve.Resolution) unreadListeners {
	cluster := r.Snapshot.Cluster
	v := unreadListeners{graph: r.Graph, unknown: map[topology.NodeID]topology.NodeID{},
		gateways: r.Graph.MergesGateways() && cluster.HasUnread(gatewayKind), sets: missesListenerSets(r)}
	if cluster == nil {
		return v
	}
	for _, id := range r.Graph.Order(topology.Traffic) {
		if r.Graph.Node(id).Role == topology.ListenerSet {
			if set := r.Graph.ListenerSet(id); set.State == topology.SetUnknown && set.Gateway != topology.None {
				v.unknown[set.Gateway] = id
			}
		}
	}
	return v
}

// conflictDoubt says why it is open which listeners of a Gateway or a ListenerSet conflict, "" if
// it is not.
func (v unreadListeners) conflictDoubt(owner topology.NodeID) string {
	switch isSet := v.graph.Node(owner).Role == topology.ListenerSet; {
	case v.gateways:
		return "Gateways that share its ports are forbidden"
	case !isSet:
	case v.sets:
		return "listener sets that come before it are forbidden"
	default:
		if other, ok := v.unknown[v.graph.ListenerSet(owner).Gateway]; ok {
			return "cannot tell whether " + v.graph.Node(other).Ref.String() + " takes part, and it may come before it"
		}
	}
	return ""
}

// countAttachedSets counts the ListenerSets of a Gateway that are accepted: those that it takes and
// that have a valid listener (gatewayapi G24). Where a cluster did not let us read whether there
// are more, there is no number.
func countAttachedSets(r *resolve.Resolution, gateway topology.NodeID) *int {
	g, n := r.Graph, 0
	if missesListenerSets(r) {
		return nil
	}
	for _, id := range g.ListenerSetsOf(gateway) {
		switch g.ListenerSet(id).State {
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
