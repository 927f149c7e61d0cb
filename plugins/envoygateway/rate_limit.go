package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// newRateLimitPlan finds the rate limits. The controller makes its own form of those of a policy,
// of which a type leaves one half, and merges such forms: the child's over the parent's.
func newRateLimitPlan(model.Settings) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		if len(s.Layers) == 0 {
			return nil, nil
		}
		own := make([][]merge.Unit, len(s.Layers))
		var effects []merge.Effect
		for i, l := range s.Layers {
			var idle []merge.Unit
			own[i], idle = readLimits(l)
			effects = append(effects, droppedEffects(idle, merge.Ignored, nil)...)
		}
		child, parent := findMergePair(s)
		var units []merge.Unit
		var more []merge.Effect
		switch {
		case parent < 0:
			units = own[child]
			more = takenEffects(units)
		case len(own[child]) == 0:
			units = own[parent]
			more = takenEffects(units)
		default:
			units, more = mergeLimits(own[parent], own[child], s.Layers[child].DemandedStrategy.Cut == merge.Leaves)
		}
		effects = append(effects, more...)
		winners := []merge.Source{{Layer: child, Block: merge.Bare}}
		if len(own[child]) > 0 {
			winners = own[child][0].From
		}
		for i := range own {
			if i != child && i != parent {
				effects = append(effects, droppedEffects(own[i], merge.AtomicReplaced, winners)...)
			}
		}
		return units, effects
	}
}

// readLimits reads the rate limits of a policy; those of the half that its type does not name are
// idle.
func readLimits(l merge.Layer) (units, idle []merge.Unit) {
	var all []merge.Unit
	kind := ""
	for _, b := range l.Blocks {
		for _, u := range b.Units {
			if len(u.Path) == 0 || u.Path[0].Name != "rateLimit" || u.Null {
				continue
			}
			if limitKind(u) == "type" {
				kind, _ = merge.Unpack(u.Value).(string)
			}
			all = append(all, u)
		}
	}
	other := map[string]string{"Global": "local", "Local": "global"}[kind]
	for _, u := range all {
		if other != "" && limitKind(u) == other {
			idle = append(idle, u)
		} else {
			units = append(units, u)
		}
	}
	return units, idle
}

// limitKind is the field of rateLimit that a unit stands in.
func limitKind(u merge.Unit) string {
	if len(u.Path) < 2 {
		return ""
	}
	return u.Path[1].Name
}

// findMergePair is the layer that decides, and the one that it is merged with: the nearest one
// above the route, -1 if it asks for no merge or there is none.
func findMergePair(s merge.Stack) (child, parent int) {
	child, parent = len(s.Layers)-1, -1
	route := func(i int) bool {
		role := topology.Role(s.Layers[i].Level)
		return role == topology.Route || role == topology.Rule
	}
	if s.Layers[child].DemandedStrategy == nil || !route(child) {
		return child, parent
	}
	for i := range s.Layers {
		if !route(i) {
			parent = i
		}
	}
	return child, parent
}

// takenEffects are the effects of units that are in force as they are.
func takenEffects(units []merge.Unit) []merge.Effect {
	var out []merge.Effect
	for _, u := range units {
		out = append(out, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
			Action: merge.Taken})
	}
	return out
}

// mergeLimits merges the limits of a child with those of its parent: lists of rules by their own
// law, all else is the child's if it has it. A type says nothing where both halves are left.
func mergeLimits(parent, child []merge.Unit, json bool) ([]merge.Unit, []merge.Effect) {
	var units []merge.Unit
	var effects []merge.Effect
	rest := slices.Clone(parent)
	for _, u := range child {
		at := slices.IndexFunc(rest, func(p merge.Unit) bool { return slices.Equal(p.Path, u.Path) })
		if at < 0 {
			units, effects = append(units, u), append(effects, takenEffects([]merge.Unit{u})...)
			continue
		}
		joined, more := mergeRules(rest[at], u, json)
		units, effects = append(units, joined), append(effects, more...)
		rest = slices.Delete(rest, at, at+1)
	}
	units, effects = append(units, rest...), append(effects, takenEffects(rest)...)
	has := func(name string) bool {
		return slices.ContainsFunc(units, func(u merge.Unit) bool { return limitKind(u) == name })
	}
	if !has("global") || !has("local") {
		return units, effects
	}
	for i := range effects {
		if effects[i].Path.String() == "rateLimit.type" {
			effects[i].Action, effects[i].Reason = merge.Dropped, merge.NoEffect
		}
	}
	return slices.DeleteFunc(units, func(u merge.Unit) bool { return limitKind(u) == "type" }), effects
}

// mergeRules makes one list of the rules of a child and its parent, the child's first; by a JSON
// merge patch the child's take the place of the parent's. Of local limits the rule without
// selectors, the bucket for everything else, is no part of that: the child's is it, or nothing is
// limited there, and the parent's is gone.
func mergeRules(parent, child merge.Unit, json bool) (merge.Unit, []merge.Effect) {
	above, _ := merge.Unpack(parent.Value).([]any)
	below, lists := merge.Unpack(child.Value).([]any)
	selecting := len(below)
	if limitKind(child) == "local" {
		above = slices.DeleteFunc(slices.Clone(above), isCatchAll)
		selecting = len(slices.DeleteFunc(slices.Clone(below), isCatchAll))
	}
	if !lists || json && selecting > 0 {
		above = nil
	}
	path := child.Path
	out := merge.Unit{Path: path, Value: child.Value, From: child.From}
	kept := merge.Effect{Path: path, Rule: path.String(), Value: parent.Value, From: parent.From,
		Action: merge.Replaced, Reason: merge.MoreSpecificWins, Other: child.From}
	own := merge.Effect{Path: path, Rule: path.String(), Value: child.Value, From: child.From, Action: merge.Taken}
	if len(above) > 0 {
		out.Value, out.From = slices.Concat(below, above), slices.Concat(parent.From, child.From)
		kept.Action, kept.Reason = merge.Joined, ""
		own.Action, own.Other = merge.Joined, parent.From
	}
	return out, []merge.Effect{kept, own}
}

// isCatchAll reports whether a local rule is for whatever no other rule selects.
func isCatchAll(rule any) bool {
	fields, _ := rule.(map[string]any)
	selectors, _ := fields["clientSelectors"].([]any)
	return len(selectors) == 0
}
