package resolve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// routeFact is the fact of a path that leads through a route for which some policy has settings of
// its own, by the node's number.
const routeFact = "route"

// entryFactAt returns the fact that a node is a route for which policies of the kind have settings
// of their own.
func (k *pathEngine) entryFactAt(id topology.NodeID) (pathFact, bool) {
	n := k.res.Graph.Node(id)
	if k.Content.Entries == nil || n.Role != topology.Route {
		return pathFact{}, false
	}
	has := func(p *policy.Policy) bool { return k.Content.Entries.IndexFor(p, n.Ref) >= 0 }
	return pathFact{routeFact, strconv.Itoa(int(id))}, slices.ContainsFunc(k.Policies, has)
}

// RouteDependence reports whether results at backends may depend on the route that leads there, and
// whether on its rule as well: routes or filters name policies, policies have settings for single
// routes, or are in error on some ways.
func RouteDependence(k *Kind) (route, rule bool) {
	if !k.HasResultsAt(topology.Backend) && !k.HasResultsAt(topology.Port) {
		return false, false
	}
	route = k.DependsOnRoute()
	rule = route && k.Filters != nil
	for _, p := range k.Policies {
		for ref := range p.Faults {
			if strings.HasSuffix(ref.Kind, "Route") {
				route, rule = true, rule || ref.Section != ""
			}
		}
	}
	return route, rule
}

// withEntry returns the blocks of a policy with what it has for the route of the stack, which
// counts before the others.
func (k stackLayout) withEntry(p *policy.Policy, blocks []merge.Block) []merge.Block {
	if k.Content.Entries == nil || p.Builtin != "" {
		return blocks
	}
	id, err := strconv.Atoi(k.factOf(k.stack, routeFact))
	if err != nil {
		return blocks
	}
	if b, ok := k.Content.Entries.BlockFor(p, k.res.Node(topology.NodeID(id)).Ref); ok {
		if len(blocks) > 0 { // merged like the policy's own
			b.Strategy = blocks[len(blocks)-1].Strategy
		}
		b.Strategy.Wins = merge.Higher
		return append(slices.Clip(blocks), b)
	}
	return blocks
}
