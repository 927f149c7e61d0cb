package awslbc

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// entryFor is the entry for a route: the one that names it, else the first for its kind and namespace, else the first for its kind.
func entryFor(entries []model.Body, route model.Ref) int {
	found, best := -1, 0
	for i, e := range entries {
		id := e.Field("routeIdentifier")
		kind, namespace, name := id.Text("kind"), id.Text("namespace"), id.Text("name")
		rank := 0
		switch {
		case kind != route.Kind:
		case name == route.Name && namespace == route.Namespace:
			rank = 3
		case name != "":
		case namespace == route.Namespace:
			rank = 2
		case namespace == "":
			rank = 1
		}
		if rank > best {
			found, best = i, rank
		}
	}
	return found
}

// reference makes of a targetReference what the controller reads: it does not look at the group.
func reference(_ *model.Object, body any, _ model.Settings) any {
	ref, ok := model.Get(body, "spec", "targetReference").(map[string]any)
	if !ok {
		return body
	}
	ref = maps.Clone(ref)
	if ref["kind"] == nil || ref["kind"] == "" {
		ref["kind"] = "Service"
	}
	switch ref["kind"] {
	case "Service":
		ref["group"] = ""
	case "Gateway":
		ref["group"] = gatewayGroup
	}
	spec := maps.Clone(model.Get(body, "spec").(map[string]any))
	spec["targetReference"] = ref
	whole := maps.Clone(body.(map[string]any))
	whole["spec"] = spec
	return whole
}

// gatewayAsBackend finds configurations of Gateways that routes send to: that is an extension of the controller, and nothing here follows it.
func gatewayAsBackend(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	at := []string{"spec", "targetReference"}
	if p.Object.Body.At(at...).Text("kind") != "Gateway" {
		return "", nil
	}
	problem := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: "a Gateway as a backend of routes is not evaluated"}.At(p.Object, at...)
	return "Gateways as backends are not evaluated", []model.Problem{problem}
}

// defaults merges the default configurations of a class and of a Gateway. The one with priority wins field by field; the entries for routes are
// those of that one alone, and go before all others.
func defaults(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var order []int // of layers, that with priority first
	for i, l := range s.Layers {
		if len(l.Blocks) > 0 {
			order = append(order, i)
		}
	}
	if len(order) > 1 && s.Layers[order[0]].Blocks[0].Strategy.Wins != merge.Higher {
		slices.Reverse(order)
	}
	f := fields{layers: s.Layers}
	for n, i := range order {
		for _, b := range slices.Backward(s.Layers[i].Blocks) {
			if n > 0 && b.Kind == merge.Overrides {
				f.leave(b.Units, merge.Ignored)
			} else {
				f.fill(b.Units, i)
			}
		}
	}
	return f.units, f.effects
}

// fields is a result that is filled field by field.
type fields struct {
	layers  []merge.Layer
	units   []merge.Unit
	effects []merge.Effect
}

// fill takes the units of a layer that are not there yet.
func (f *fields) fill(units []merge.Unit, layer int) {
	there := slices.Clone(f.units)
	for _, u := range units {
		at := slices.IndexFunc(there, func(o merge.Unit) bool { return slices.Equal(o.Path, u.Path) })
		if at < 0 {
			f.units = append(f.units, u)
			f.effects = append(f.effects, effect(u, merge.Taken))
			continue
		}
		e := effect(u, merge.Dropped)
		e.Other, e.Reason = there[at].From, merge.MoreSpecificWins
		if there[at].From[0].Layer < layer {
			e.Reason = merge.LessSpecificOverrides
		}
		f.effects = append(f.effects, e)
	}
}

// leave notes that units play no part.
func (f *fields) leave(units []merge.Unit, why merge.Reason) {
	for _, u := range units {
		e := effect(u, merge.Dropped)
		e.Reason = why
		f.effects = append(f.effects, e)
	}
}

func effect(u merge.Unit, o merge.Action) merge.Effect {
	return merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o}
}

// alone keeps fields that the controller does not merge: they are in force as long as one configuration is alone.
func alone(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	f := fields{layers: s.Layers}
	for i, l := range s.Layers {
		for _, b := range l.Blocks {
			if len(s.Layers) > 1 {
				f.leave(b.Units, merge.Ignored)
			} else {
				f.fill(b.Units, i)
			}
		}
	}
	return f.units, f.effects
}
