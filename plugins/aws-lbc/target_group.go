package awslbc

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// findEntry is the index of the entry for a route: the one that names it, else the first for its
// kind and namespace, else the first for its kind.
func findEntry(entries []model.Body, route model.Ref) int {
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

// normalizeReference makes of a targetReference what the controller reads: it does not look at the
// group.
func normalizeReference(_ *model.Object, body any, _ model.Settings) any {
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

// checkGatewayBackend finds configurations of Gateways that routes send to: that is an extension of
// the controller, and nothing here follows it.
func checkGatewayBackend(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	at := []string{"spec", "targetReference"}
	if p.Object.Body.At(at...).Text("kind") != "Gateway" {
		return "", nil
	}
	problem := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: "a Gateway as a backend of routes is not evaluated"}.At(p.Object, at...)
	return "Gateways as backends are not evaluated", []model.Problem{problem}
}

// foldDefaults merges the default configurations of a class and of a Gateway. The one with priority
// wins field by field; the entries for routes are those of that one alone, and go before all
// others.
func foldDefaults(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	f := fieldFold{layers: s.Layers}
	for n, i := range listByPriority(s) {
		for _, b := range slices.Backward(s.Layers[i].Blocks) {
			if n > 0 && b.Kind == merge.Overrides {
				f.addLost(b.Units, merge.Ignored)
			} else {
				f.fillMissing(b.Units, i)
			}
		}
	}
	return f.units, f.effects
}

// listByPriority lists the layers that set something, that with priority first: the class says which
// it is.
func listByPriority(s merge.Stack) []int {
	var order []int
	for i, l := range s.Layers {
		if len(l.Blocks) > 0 {
			order = append(order, i)
		}
	}
	if len(order) > 1 && s.Layers[order[0]].Blocks[0].Strategy.Wins != merge.Higher {
		slices.Reverse(order)
	}
	return order
}

// fieldFold is a result that is filled field by field.
type fieldFold struct {
	layers  []merge.Layer
	units   []merge.Unit
	effects []merge.Effect
}

// fillMissing takes the units of a layer that are not there yet.
func (f *fieldFold) fillMissing(units []merge.Unit, layer int) {
	there := slices.Clone(f.units)
	for _, u := range units {
		at := slices.IndexFunc(there, func(o merge.Unit) bool { return slices.Equal(o.Path, u.Path) })
		if at < 0 {
			f.units = append(f.units, u)
			f.effects = append(f.effects, newEffect(u, merge.Taken))
			continue
		}
		e := newEffect(u, merge.Dropped)
		e.Other, e.Reason = there[at].From, merge.MoreSpecificWins
		if there[at].From[0].Layer < layer {
			e.Reason = merge.LessSpecificOverrides
		}
		f.effects = append(f.effects, e)
	}
}

// addLost notes that units play no part.
func (f *fieldFold) addLost(units []merge.Unit, why merge.Reason) {
	for _, u := range units {
		e := newEffect(u, merge.Dropped)
		e.Reason = why
		f.effects = append(f.effects, e)
	}
}

func newEffect(u merge.Unit, o merge.Action) merge.Effect {
	return merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o}
}

// foldSingle keeps fields that the controller does not merge: they are in force as long as one
// configuration is alone.
func foldSingle(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	f := fieldFold{layers: s.Layers}
	for i, l := range s.Layers {
		for _, b := range l.Blocks {
			if len(s.Layers) > 1 {
				f.addLost(b.Units, merge.Ignored)
			} else {
				f.fillMissing(b.Units, i)
			}
		}
	}
	return f.units, f.effects
}
