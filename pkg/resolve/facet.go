package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// factValue returns what the paths of the stack have to say about a fact.
func (k stackLayout) factValue(name string) string { return k.factOf(k.stack, name) }

// dropHidden leaves out of a stack the layers that have nothing to say there: all their settings
// belong to parts of policies that hold elsewhere.
func (k stackLayout) dropHidden(o *Verdict) {
	if k.Facets == nil {
		return
	}
	o.Layers = slices.DeleteFunc(o.Layers, func(l Layer) bool {
		return k.BlocksOnPath(l.Policy, l.blocksAtPlace(), k.factValue) == nil
	})
}

// hasShownPolicy reports whether a policy in the stack has anything to say there.
func hasShownPolicy(k *pathEngine, s StackID) bool {
	says := func(name string) string { return k.factOf(s, name) }
	return slices.ContainsFunc(k.nodesOf(s), func(id topology.NodeID) bool {
		for _, a := range k.Table[id].Policies {
			if k.BlocksOnPath(a.Policy, a.BlocksAtTarget(), says) != nil {
				return true
			}
		}
		return false
	})
}
