package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// newRoutingTypePlan finds the routing type by a search of its own: the policy of the rule, else of
// the route, decides, also by saying nothing, unless it has a mergeType; else the first policy
// above that says one.
func newRoutingTypePlan(model.Settings) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		if len(s.Layers) == 0 {
			return nil, nil
		}
		said := make([]*merge.Unit, len(s.Layers))
		from := make([][]merge.Source, len(s.Layers))
		for i, l := range s.Layers {
			from[i] = []merge.Source{{Layer: i, Block: merge.Bare}}
			for _, b := range l.Blocks {
				if at := slices.IndexFunc(b.Units,
					func(u merge.Unit) bool { return u.Path.String() == "routingType" }); at >= 0 {
					said[i], from[i] = &b.Units[at], b.Units[at].From
				}
			}
		}
		at := findDecidingLayer(s, said)
		by := from[len(from)-1] // without a decision: the policy that hides the others
		if at >= 0 {
			by = from[at]
		}
		var units []merge.Unit
		var effects []merge.Effect
		for i, u := range said {
			switch {
			case u == nil:
			case i == at:
				units = []merge.Unit{{Path: u.Path, Value: u.Value, From: from[i]}}
				effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value,
					From: from[i], Action: merge.Taken})
			default:
				reason := merge.MoreSpecificWins
				if at < 0 || said[at] == nil || i > at {
					reason = merge.AtomicReplaced
				}
				effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value,
					From: from[i], Action: merge.Dropped, Reason: reason, Other: by})
			}
		}
		return units, effects
	}
}

// findDecidingLayer is the layer that decides the routing type, -1 if there is none.
func findDecidingLayer(s merge.Stack, said []*merge.Unit) int {
	level := func(roles ...topology.Role) int {
		for i, l := range slices.Backward(s.Layers) {
			if slices.Contains(roles, topology.Role(l.Level)) {
				return i
			}
		}
		return -1
	}
	own := level(topology.Rule)
	if own < 0 {
		own = level(topology.Route)
	}
	if own >= 0 && (said[own] != nil || s.Layers[own].DemandedStrategy == nil) {
		return own
	}
	for _, role := range []topology.Role{topology.Listener, topology.ListenerSet, topology.Gateway} {
		if at := level(role); at >= 0 && said[at] != nil {
			return at
		}
	}
	return -1
}
