package status

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// GatewaysAbove has an entry without conditions for every Gateway that accepts a route to the
// object, sorted: the ancestors that GEP-713 prefers for policies on backends. A Gateway counts
// whether or not traffic passes the listener.
func GatewaysAbove(r *resolve.Resolution, object model.Ref) []Ancestor {
	var out []Ancestor
	for _, ref := range r.Graph.GatewaysAbove(object) {
		out = append(out, Ancestor{Ref: &ref, Controller: controllerOf(r, ref)})
	}
	return out
}
