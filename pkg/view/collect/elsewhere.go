package collect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// FindElsewhere returns where policies are in force on the traffic of what was asked for by name,
// for answers that have none on itself: gateways and delegating routes above it, then routes to
// which it delegates.
func (a *Collector) FindElsewhere() []model.Ref {
	if len(a.Query.Targets) == 0 || a.Query.IsComparison {
		return nil
	}
	g, other := a.Resolution.Graph, NewForRequests(a.Resolution, a.Query.Kinds)
	var out []model.Ref
	seen := map[topology.NodeID]bool{}
	walk := func(next func(topology.NodeID) []topology.NodeID) {
		for open := slices.Clone(a.Query.Targets); len(open) > 0; {
			id := open[0]
			open = open[1:]
			for _, to := range next(id) {
				if seen[to] {
					continue
				}
				seen[to] = true
				switch g.Node(to).Role {
				case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route,
					topology.Rule:
				default:
					continue
				}
				open = append(open, to)
				ref := g.Node(to).Ref.WithoutSection()
				if !slices.Contains(out, ref) && !a.isTarget(ref) && other.hasPolicyAt(to) {
					out = append(out, ref)
				}
			}
		}
	}
	walk(func(id topology.NodeID) []topology.NodeID { return g.Parents(topology.Traffic, id) })
	walk(func(id topology.NodeID) []topology.NodeID { return g.Children(topology.Traffic, id) })
	return out
}

// isTarget reports whether an object, or a section of it, was asked for.
func (a *Collector) isTarget(ref model.Ref) bool {
	return slices.ContainsFunc(a.Query.Targets,
		func(id topology.NodeID) bool { return a.Resolution.Node(id).Ref.WithoutSection() == ref })
}

// hasPolicyAt reports whether a setting of a policy is in force at a node.
func (a *Collector) hasPolicyAt(id topology.NodeID) (has bool) {
	a.EachStackAt(id, func(k *resolve.Kind, _ topology.NodeID, s resolve.StackID, _ []resolve.Path) {
		has = has || a.AddStackProblems(k, id, s).RuleCount > 0
	})
	return has
}
