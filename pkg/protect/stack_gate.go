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

// FindGatesAt lists the gates that a request meets at a place that is no route rule, where some
// stacks are in force, and by what gates tell requests apart there.
func (j *Judge) FindGatesAt(id topology.NodeID, stacks []Stack, r *request.Request) (*Gates, []request.Test) {
	w := &pathSettings{RulePath: RulePath{topology.None, topology.None, topology.None, topology.None}}
	for _, s := range stacks {
		v := s.Kind.Verdict(s.ID)
		w.before = append(w.before, j.settingsAt(s.Kind, s.ID, id)...)
		w.lost = append(w.lost, lostSettings(j.res, s.Kind, id, v)...)
	}
	w.unreadReasons = j.unreadPolicies(id)
	look := &RequestReader{Request: r, compiled: j.compiled}
	out := &Gates{RulePath: w.RulePath, judge: j, lost: w.lost, unreadReasons: w.unreadReasons,
		results: map[string]Result{}}
	out.Before = j.buildSettingGates(w.before, w, look, &out.overridden)
	return out, look.tests
}

// HasGate reports whether there is a gate of a property, whether it holds or not.
func (g *Gates) HasGate(p gate.Property) bool {
	return slices.ContainsFunc(g.Before, func(one Gate) bool { return one.isAbout(p) })
}
