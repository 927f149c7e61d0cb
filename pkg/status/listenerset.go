package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var (
	gatewayKind = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "Gateway"}
	setKind     = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "ListenerSet"}
	xSetKind    = model.GroupKind{Group: "gateway.networking.x-k8s.io", Kind: "XListenerSet"}
)

func isListenerSet(gk model.GroupKind) bool { return gk == setKind || gk == xSetKind }

// listenerSet has the conditions of a ListenerSet (gatewayapi G22). Programmed is predicted only where it follows from the spec.
func listenerSet(r *resolve.Resolution, id topology.NodeID) Prediction {
	f := r.Graph.Set(id)
	conditions := []Condition{{"Accepted", "False", string(f.State), f.Reason}}
	doubt := unreadRivals(r, id)
	switch {
	case f.State == topology.SetUnknown, f.Missing:
		conditions[0].Status = "Unknown"
	case f.State != topology.SetNotAllowed && f.State != topology.SetWithoutParent && doubt != "":
		conditions[0] = Condition{"Accepted", "Unknown", "NotEvaluated", doubt}
	case f.State == topology.SetAccepted:
		conditions[0].Status = "True"
	case f.State == topology.SetNotAllowed, f.State == topology.SetListenersNotValid:
		conditions = append(conditions, Condition{"Programmed", "False", string(f.State), f.Reason})
	}
	return Prediction{Object: r.Graph.Node(id).Ref, Ancestors: []Ancestor{{Conditions: conditions}}}
}

// conflicted adds to the conditions of a listener, the first of which is Accepted, what its conflicts come to (gatewayapi G29). A listener
// of a ListenerSet is not accepted if it conflicts; whether it does is not known if the set does not take part, and nobody says anything
// about the acceptance of listeners of a set that the Gateway refuses.
func conflicted(r *resolve.Resolution, id topology.NodeID, conditions []Condition) []Condition {
	facts := r.Graph.Listener(id)
	conflict := facts.Conflict
	owner := r.Graph.Parents(topology.Traffic, id)[0]
	doubt := unreadRivals(r, owner)
	if r.Graph.Node(owner).Role != topology.ListenerSet {
		switch {
		case conflict.Reason == "":
		case doubt != "":
			conditions = append(conditions, Condition{"Conflicted", "Unknown", "NotEvaluated", doubt})
		default:
			conditions = append(conditions, Condition{"Conflicted", "True", conflict.Reason, conflict.Message})
		}
		return conditions
	}
	set := r.Graph.Set(owner)
	switch {
	case set.State == topology.SetUnknown, set.Missing:
		conditions[0] = Condition{"Accepted", "Unknown", "NotEvaluated", set.Reason}
	case set.State == topology.SetNotAllowed, set.State == topology.SetWithoutParent:
		return conditions[1:]
	case facts.Unsupported: // it has no place that others could take
	case doubt != "" && (!conflict.Settled || r.Graph.Merging()):
		conditions[0] = Condition{"Accepted", "Unknown", "NotEvaluated", doubt}
	case conflict.Reason != "":
		conditions[0] = Condition{"Accepted", "False", conflict.Reason, conflict.Message}
		conditions = append(conditions, Condition{"Programmed", "False", conflict.Reason, conflict.Message},
			Condition{"Conflicted", "True", conflict.Reason, conflict.Message})
	}
	return conditions
}

// unreadRivals says why a cluster leaves open which listeners of a Gateway or a ListenerSet conflict, "" if it does not: sets that may not be
// read, or of which it is not known whether they take part, can have the place of other sets' listeners; Gateways of the class that
// of any, where they share their ports.
func unreadRivals(r *resolve.Resolution, owner topology.NodeID) string {
	cluster := r.Snapshot.Cluster
	if cluster == nil {
		return ""
	}
	unread := func(is func(model.GroupKind) bool) bool {
		return slices.ContainsFunc(cluster.Gaps, func(gap model.Gap) bool { return is(gap.Kind) })
	}
	if r.Graph.Merging() && unread(func(gk model.GroupKind) bool { return gk == gatewayKind }) {
		return "Gateways that share its ports may not be read"
	}
	if r.Graph.Node(owner).Role != topology.ListenerSet {
		return ""
	}
	if unread(isListenerSet) {
		return "listener sets that come before it may not be read"
	}
	for _, other := range r.Graph.SetsOf(r.Graph.Set(owner).Gateway) {
		if other != owner && r.Graph.Set(other).State == topology.SetUnknown {
			return "whether " + r.Graph.Node(other).Ref.String() + " takes part is not known, and it may come before it"
		}
	}
	return ""
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
