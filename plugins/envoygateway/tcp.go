package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// tcpAuthorization finds the authorization of a connection: of the first policy from below that has any. One for a route that
// says more than authorization, by itself or merged with the policy above, is invalid and takes no part.
func tcpAuthorization(model.Settings) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		t := tcp{stack: s, own: make([][]merge.Unit, len(s.Layers)), more: make([]bool, len(s.Layers))}
		var effects []merge.Effect
		for i, l := range s.Layers {
			for _, b := range l.Blocks {
				for _, u := range b.Units {
					if len(u.Path) > 0 && u.Path[0].Name == "authorization" {
						t.own[i] = append(t.own[i], u)
						continue
					}
					t.more[i] = t.more[i] || len(u.Path) > 0
					effects = append(effects, drop([]merge.Unit{u}, merge.Ignored, nil)...)
				}
			}
		}
		units, more := t.resolve()
		return units, append(effects, more...)
	}
}

type tcp struct {
	stack merge.Stack
	own   [][]merge.Unit // by layer: what it says of authorization
	more  []bool         // by layer: it says more
}

func (t *tcp) resolve() ([]merge.Unit, []merge.Effect) {
	above := -1
	for i, l := range t.stack.Layers {
		if role := topology.Role(l.Level); role != topology.Route && role != topology.Rule {
			above = i
		}
	}
	var units []merge.Unit
	var effects []merge.Effect
	for i := len(t.stack.Layers) - 1; i >= 0; i-- {
		asks := t.stack.Layers[i].Asks != nil && above >= 0
		switch route := i > above; {
		case route && (t.more[i] || asks && t.more[above]):
			effects = append(effects, drop(t.own[i], merge.Invalid, nil)...)
		case len(units) == 0 && route && asks:
			units = slices.Clone(t.own[i])
			for _, u := range t.own[above] {
				if !slices.ContainsFunc(t.own[i], func(v merge.Unit) bool { return clash(u.Path, v.Path) }) {
					units = append(units, u)
				}
			}
		case len(units) == 0:
			units = t.own[i]
		}
	}
	units = slices.DeleteFunc(slices.Clone(units), func(u merge.Unit) bool { return u.Null })
	for _, u := range units {
		effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: merge.Taken})
	}
	var winners []merge.From
	for _, u := range units {
		if !slices.Contains(winners, u.From[0]) {
			winners = append(winners, u.From[0])
		}
	}
	for i := range t.own {
		lost := slices.DeleteFunc(slices.Clone(t.own[i]), func(u merge.Unit) bool {
			if u.Null {
				return true // what it deletes is lost to it
			}
			taken := slices.ContainsFunc(units, func(v merge.Unit) bool { return v.From[0] == u.From[0] && slices.Equal(v.Path, u.Path) })
			return taken || slices.ContainsFunc(effects, func(e merge.Effect) bool { return e.Reason == merge.Invalid && e.From[0] == u.From[0] })
		})
		effects = append(effects, drop(lost, merge.AtomicReplaced, winners)...)
	}
	return units, effects
}

// clash reports whether one of two paths leads to the other.
func clash(a, b merge.Path) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

func drop(units []merge.Unit, reason merge.Reason, to []merge.From) []merge.Effect {
	var out []merge.Effect
	for _, u := range units {
		out = append(out, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: merge.Dropped, Reason: reason, Other: to})
	}
	return out
}
