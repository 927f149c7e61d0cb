package nginx

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// foldLimits puts the limits of rate limit policies together: those of the policies on one target
// add up, and those of a route take the place of its Gateway's, because a location of nginx with
// limits of its own inherits none.
func foldLimits(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	last := ""
	for _, l := range s.Layers {
		if len(listUnits(l)) > 0 {
			last = l.Level
		}
	}
	var units, lost []merge.Unit
	var effects []merge.Effect
	for _, l := range s.Layers {
		if l.Level != last {
			lost = append(lost, listUnits(l)...)
			continue
		}
		for _, u := range listUnits(l) { // numbered over all policies
			own, number := u, strconv.Itoa(len(units))
			if u.Path = slices.Clone(u.Path); u.Path[len(u.Path)-1].Name != number {
				u.Path[len(u.Path)-1].Name = number
				effects = append(effects, newEffect(own, merge.Renamed))
			}
			units = append(units, merge.Unit{Path: u.Path, Value: u.Value, From: u.From})
		}
	}
	for _, u := range units {
		effects = append(effects, newEffect(u, merge.Taken))
	}
	for _, u := range lost {
		e := newEffect(u, merge.Dropped)
		e.Reason, e.Other = merge.MoreSpecificWins, listSources(units)
		effects = append(effects, e)
	}
	return units, effects
}

// foldDryRun finds what dryRun is. The controller writes nothing where it is false, so that true is
// inherited all the same (internal/controller/nginx/config/policies/ratelimit/generator.go,
// rateLimitReqTemplate @ e55bfe339).
func foldDryRun(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var winner *merge.Unit
	var all []merge.Unit
	for _, l := range s.Layers {
		for _, u := range listUnits(l) {
			all = append(all, u)
			if winner == nil || merge.Unpack(winner.Value) != true || merge.Unpack(u.Value) == true {
				winner = &all[len(all)-1]
			}
		}
	}
	var effects []merge.Effect
	for _, u := range all {
		e := newEffect(u, merge.Taken)
		if !slices.Equal(u.From, winner.From) {
			e = newEffect(u, merge.Dropped)
			e.Reason, e.Other = merge.MoreSpecificWins, winner.From
			if merge.Unpack(u.Value) != true {
				e.Reason = merge.NoEffect
			}
		}
		effects = append(effects, e)
	}
	if winner == nil {
		return nil, nil
	}
	return []merge.Unit{{Path: winner.Path, Value: winner.Value, From: winner.From}}, effects
}

// listUnits are the units of a layer.
func listUnits(l merge.Layer) []merge.Unit {
	var out []merge.Unit
	for _, b := range l.Blocks {
		out = append(out, b.Units...)
	}
	return out
}

func newEffect(u merge.Unit, o merge.Action) merge.Effect {
	return merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o}
}

// listSources unites the sources of units, each once.
func listSources(units []merge.Unit) []merge.Source {
	var out []merge.Source
	for _, u := range units {
		for _, from := range u.From {
			if !slices.Contains(out, from) {
				out = append(out, from)
			}
		}
	}
	return out
}

// foldSnippets puts the snippets of several policies together, context by context: nginx reads one
// file after the other.
func foldSnippets(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var units []merge.Unit
	var effects []merge.Effect
	for _, l := range s.Layers {
		for _, u := range listUnits(l) {
			at, outcome := slices.IndexFunc(units, func(o merge.Unit) bool { return slices.Equal(o.Path, u.Path) }),
				merge.Taken
			if at < 0 {
				units = append(units, u)
			} else {
				units[at] = merge.Unit{Path: u.Path, Value: appendSnippet(units[at].Value, u.Value),
					From: slices.Concat(units[at].From, u.From)}
				outcome = merge.Joined
			}
			effects = append(effects, newEffect(u, outcome))
		}
	}
	return units, effects
}

// appendSnippet is a snippet with the text of another one behind its own. What is no snippet stands
// as it is.
func appendSnippet(a, b any) any {
	first, ok := merge.Unpack(a).(map[string]any)
	second, both := merge.Unpack(b).(map[string]any)
	if !ok || !both {
		return []any{a, b}
	}
	return map[string]any{"context": first["context"], "value": fmt.Sprintf("%v\n%v", first["value"], second["value"])}
}

// findInferredLimits says where the limits of a route are taken to replace those of its Gateway:
// that follows from nginx, and the controller's documents say otherwise.
func findInferredLimits(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	limited := func(id topology.NodeID) bool {
		return slices.ContainsFunc(at(id), func(a policy.Attached) bool {
			return a.Policy.Object.Body.At("spec", "rateLimit", "local", "rules").Len() > 0
		})
	}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Object == nil || n.Hop > 0 || !limited(id) {
			continue
		}
		above, _ := findGateways(g, id, []string{controller})
		if !slices.ContainsFunc(above, limited) {
			continue
		}
		out = append(out, model.Problem{Severity: model.Info, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"the limits of %s are taken to replace those of its Gateway: that is inferred from limit_req of nginx, the controller's own proposal says that nothing is overridden", n.Ref)}.At(n.Object))
	}
	return out
}
