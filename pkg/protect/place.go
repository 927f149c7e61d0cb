package protect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Stack is what the policies of one kind make at a place.
type Stack struct {
	Kind *resolve.Kind
	ID   resolve.StackID
}

// At lists the gates that a request meets at a place that is no route rule, where some stacks are in
// force, and by what gates tell requests apart there.
func (j *Judge) At(id topology.NodeID, stacks []Stack, r *request.Request) (*Gates, []request.Test) {
	w := &way{Place: Place{topology.None, topology.None, topology.None, topology.None}}
	for _, s := range stacks {
		v := s.Kind.Verdict(s.ID)
		w.before = append(w.before, j.settingsAt(s.Kind, s.ID, id)...)
		w.lost = append(w.lost, lostSettings(j.res, s.Kind, id, v)...)
	}
	w.open = j.unreadPolicies(id)
	look := &Look{Request: r, compiled: j.compiled}
	out := &Gates{Place: w.Place, judge: j, lost: w.lost, open: w.open, known: map[string]Result{}}
	out.Before = j.make(w.before, w, look, &out.over)
	return out, look.tests
}

// Has reports whether there is a gate of a property, whether it holds or not.
func (g *Gates) Has(p gate.Property) bool {
	return slices.ContainsFunc(g.Before, func(one Gate) bool { return one.counts(p) })
}
