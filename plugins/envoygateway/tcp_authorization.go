package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// newTCPAuthorizationPlan finds the authorization of a connection: of the first policy from below
// that has any. One for a route that says more than authorization, by itself or merged with the
// policy above, is invalid and takes no part.
func newTCPAuthorizationPlan(model.Settings) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		t := tcpStack{stack: s, authorization: make([][]merge.Unit, len(s.Layers)),
			hasMore: make([]bool, len(s.Layers))}
		var effects []merge.Effect
		for i, l := range s.Layers {
			for _, b := range l.Blocks {
				for _, u := range b.Units {
					if len(u.Path) > 0 && u.Path[0].Name == "authorization" {
						t.authorization[i] = append(t.authorization[i], u)
						continue
					}
					t.hasMore[i] = t.hasMore[i] || len(u.Path) > 0
					effects = append(effects, droppedEffects([]merge.Unit{u}, merge.Ignored, nil)...)
				}
			}
		}
		units, more := t.buildUnits()
		return units, append(effects, more...)
	}
}

type tcpStack struct {
	stack         merge.Stack
	authorization [][]merge.Unit // by layer: what it says of authorization
	hasMore       []bool         // by layer: it says more
}

func (t *tcpStack) buildUnits() ([]merge.Unit, []merge.Effect) {
	above := -1
	for i, l := range t.stack.Layers {
		if role := topology.Role(l.Level); role != topology.Route && role != topology.Rule {
			above = i
		}
	}
	var units []merge.Unit
	var effects []merge.Effect
	for i := len(t.stack.Layers) - 1; i >= 0; i-- {
		asks := t.stack.Layers[i].DemandedStrategy != nil && above >= 0
		switch route := i > above; {
		case route && (t.hasMore[i] || asks && t.hasMore[above]):
			effects = append(effects, droppedEffects(t.authorization[i], merge.Invalid, nil)...)
		case len(units) == 0 && route && asks:
			units = slices.Clone(t.authorization[i])
			for _, u := range t.authorization[above] {
				if !slices.ContainsFunc(t.authorization[i],
					func(v merge.Unit) bool { return isPrefix(u.Path, v.Path) }) {
					units = append(units, u)
				}
			}
		case len(units) == 0:
			units = t.authorization[i]
		}
	}
	units = slices.DeleteFunc(slices.Clone(units), func(u merge.Unit) bool { return u.Null })
	for _, u := range units {
		effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
			Action: merge.Taken})
	}
	var winners []merge.Source
	for _, u := range units {
		if !slices.Contains(winners, u.From[0]) {
			winners = append(winners, u.From[0])
		}
	}
	for i := range t.authorization {
		lost := slices.DeleteFunc(slices.Clone(t.authorization[i]), func(u merge.Unit) bool {
			if u.Null {
				return true // what it deletes is lost to it
			}
			taken := slices.ContainsFunc(units, func(v merge.Unit) bool {
				return v.From[0] == u.From[0] &&
					slices.Equal(v.Path, u.Path)
			})
			return taken ||
				slices.ContainsFunc(effects, func(e merge.Effect) bool {
					return e.Reason == merge.Invalid &&
						e.From[0] == u.From[0]
				})
		})
		effects = append(effects, droppedEffects(lost, merge.AtomicReplaced, winners)...)
	}
	return units, effects
}

// isPrefix reports whether one of two paths leads to the other.
func isPrefix(a, b merge.Path) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

func droppedEffects(units []merge.Unit, reason merge.Reason, to []merge.Source) []merge.Effect {
	var out []merge.Effect
	for _, u := range units {
		out = append(out, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
			Action: merge.Dropped, Reason: reason, Other: to})
	}
	return out
}
