package envoygateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// newConnectionPlan finds what of BackendTrafficPolicies is in force for connections: each field
// from the first level that has it. A policy of a route that asks to be merged has the fields that
// the merge with the nearest policy above the route has.
func newConnectionPlan(model.Settings) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		c := connectionStack{layers: s.Layers, above: -1}
		names := map[string]bool{}
		for i, l := range s.Layers {
			if !isRouteLayer(l) {
				c.above = i
			}
			fields := map[string][]merge.Unit{}
			for _, b := range l.Blocks {
				for _, u := range b.Units {
					if len(u.Path) > 0 {
						fields[u.Path[0].Name] = append(fields[u.Path[0].Name], u)
						names[u.Path[0].Name] = true
					}
				}
			}
			c.fields = append(c.fields, fields)
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			c.resolveField(name)
		}
		return c.out.Units, c.out.Effects
	}
}

// connectionStack are the policies for one connection, least specific first.
type connectionStack struct {
	layers []merge.Layer
	fields []map[string][]merge.Unit // by layer, then by field
	above  int                       // the layer that those of routes are merged with; -1: none
	out    merge.Output
}

// isRouteLayer reports whether a policy stands at a route or at a rule.
func isRouteLayer(l merge.Layer) bool {
	role := topology.Role(l.Level)
	return role == topology.Route || role == topology.Rule
}

// resolveField finds the value of one field. Settings of the proxy's connections to backends count
// only in what routes have.
func (c *connectionStack) resolveField(name string) {
	var won []merge.Unit
	for i := len(c.layers) - 1; i >= 0 && len(won) == 0; i-- {
		switch route := isRouteLayer(c.layers[i]); {
		case route && c.layers[i].DemandedStrategy != nil && c.above >= 0:
			won = mergeFields(c.fields[c.above][name], c.fields[i][name])
		case route || name != "connection":
			won = slices.DeleteFunc(slices.Clone(c.fields[i][name]), func(u merge.Unit) bool { return u.Null })
		}
	}
	var winners []merge.Source
	for _, u := range won {
		c.out.Units = append(c.out.Units, u)
		c.out.Note(u, merge.Taken, "", nil)
		for _, from := range u.From {
			if !slices.Contains(winners, from) {
				winners = append(winners, from)
			}
		}
	}
	if len(won) > 0 {
		c.noteLosses(name, won, winners)
	}
}

// noteLosses notes what of a field is not in force: as the whole field where nothing of a policy is.
func (c *connectionStack) noteLosses(name string, won []merge.Unit, winners []merge.Source) {
	for i, l := range c.layers {
		if name == "connection" && !isRouteLayer(l) && i != c.above {
			continue // it is ignored there
		}
		units := slices.DeleteFunc(slices.Clone(c.fields[i][name]), func(u merge.Unit) bool { return u.Null })
		lost := slices.DeleteFunc(slices.Clone(units), func(u merge.Unit) bool {
			return slices.ContainsFunc(won, func(w merge.Unit) bool {
				return slices.Equal(w.From, u.From) && slices.Equal(w.Path, u.Path)
			})
		})
		if len(lost) == len(units) {
			lost = merge.Recut(lost, merge.Shape{{Path: merge.Path{{Name: name}}}})
		}
		for _, u := range lost {
			c.out.Note(u, merge.Dropped, merge.MoreSpecificWins, winners)
		}
	}
}

// mergeFields merges a field of two policies: the child's values win, and its nulls delete.
func mergeFields(parent, child []merge.Unit) []merge.Unit {
	var out []merge.Unit
	for _, u := range child {
		if !u.Null && !(isEmptyObject(u) && slices.ContainsFunc(parent, func(p merge.Unit) bool {
			return len(p.Path) > len(u.Path) && isPrefix(p.Path, u.Path)
		})) {
			out = append(out, u)
		}
	}
	for _, p := range parent {
		if !p.Null && !slices.ContainsFunc(child, func(u merge.Unit) bool {
			return isPrefix(p.Path, u.Path) && !(isEmptyObject(u) && len(p.Path) > len(u.Path))
		}) {
			out = append(out, p)
		}
	}
	return out
}

// isEmptyObject reports whether a unit is an object without fields, which replaces nothing.
func isEmptyObject(u merge.Unit) bool {
	if u.Null {
		return false
	}
	fields, ok := merge.Unpack(u.Value).(map[string]any)
	return ok && len(fields) == 0
}
