package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// says is what the paths of the stack have to say about a fact.
func (k layout) says(name string) string { return k.fact(k.stack, name) }

// shown leaves out of a stack the layers that have nothing to say there: all their settings belong to parts of policies that hold elsewhere.
func (k layout) shown(o *Verdict) {
	if k.Facets == nil {
		return
	}
	o.Layers = slices.DeleteFunc(o.Layers, func(l Layer) bool {
		return k.Showing(l.Policy, l.sets(), k.says) == nil
	})
}

// shows reports whether a policy in the stack has anything to say there.
func shows(k *routed, s StackID) bool {
	says := func(name string) string { return k.fact(s, name) }
	return slices.ContainsFunc(k.nodes(s), func(id topology.NodeID) bool {
		for _, a := range k.attached[id].policies {
			if k.Showing(a.Policy, a.Sets(), says) != nil {
				return true
			}
		}
		return false
	})
}
