package resolve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// byRoute is the fact of a path that leads through a route for which some policy has settings of its own, by the node's number.
const byRoute = "route"

// ownEntries is the fact that a node is a route for which policies of the kind have settings of their own.
func (k *routed) ownEntries(id topology.NodeID) (fact, bool) {
	n := k.res.Graph.Node(id)
	if k.Content.Entries == nil || n.Role != topology.Route {
		return fact{}, false
	}
	has := func(p *policy.Policy) bool { return k.Content.Entries.For(p, n.Ref) >= 0 }
	return fact{byRoute, strconv.Itoa(int(id))}, slices.ContainsFunc(k.Policies, has)
}

// ByRoute reports whether results at backends may depend on the route that leads there, and whether on its rule as well: routes or filters name
// policies, policies have settings for single routes, or are in error on some ways.
func ByRoute(k *Kind) (route, rule bool) {
	if !k.Reaches(topology.Backend) && !k.Reaches(topology.Port) {
		return false, false
	}
	route = k.TellsRoutes()
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

// withEntry is the blocks of a policy with what it has for the route of the stack, which counts before the others.
func (k layout) withEntry(p *policy.Policy, blocks []merge.Block) []merge.Block {
	if k.Content.Entries == nil || p.Builtin != "" {
		return blocks
	}
	id, err := strconv.Atoi(k.fact(k.stack, byRoute))
	if err != nil {
		return blocks
	}
	if b, ok := k.Content.Entries.Block(p, k.res.Node(topology.NodeID(id)).Ref); ok {
		if len(blocks) > 0 { // merged like the policy's own
			b.Strategy = blocks[len(blocks)-1].Strategy
		}
		b.Strategy.Wins = merge.Higher
		return append(slices.Clip(blocks), b)
	}
	return blocks
}
