package decode

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// operationList is a block written as a list of operations, in order.
type operationList struct {
	overrides bool
	list      []operation
}

type operation struct {
	verb  string // add, remove, le, lt, ge, gt, in
	path  merge.Path
	value any
}

// applyAll is the block's strategy: own has one unit per operation, with its source.
func (o operationList) applyAll(own, lower []merge.Unit) ([]merge.Unit, []merge.Effect) {
	w := operationState{units: slices.Clone(lower)}
	for i := range w.units { // the operations look into values
		w.units[i].Value = merge.Unpack(w.units[i].Value)
	}
	for i, op := range o.list {
		from := own[i].From
		switch {
		case op.verb == "add" && !o.overrides && w.hasSetting(op.path):
			w.recordEffect(own[i], merge.Dropped, merge.MoreSpecificWins, nil)
		case op.verb == "add":
			w.removeAt(op.path, from)
			w.units = append(w.units, own[i])
			w.recordEffect(own[i], merge.Taken, "", nil)
		case op.verb == "remove":
			if !w.removeAt(op.path, from) {
				w.recordEffect(own[i], merge.Dropped, merge.NoEffect, nil)
			}
		default:
			w.limitValue(op, own[i])
		}
	}
	return w.units, w.effects
}

// operationState is what is in force while the operations are applied.
type operationState struct {
	units   []merge.Unit
	effects []merge.Effect
}

func (w *operationState) recordEffect(u merge.Unit, o merge.Action, reason merge.Reason, to []merge.Source) {
	w.effects = append(w.effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o, Reason: reason, Other: to})
}

// hasSetting reports whether something is set at the path, or below it.
func (w *operationState) hasSetting(path merge.Path) bool {
	return slices.ContainsFunc(w.units, func(u merge.Unit) bool {
		if len(u.Path) >= len(path) {
			return slices.Equal(u.Path[:len(path)], path)
		}
		_, ok := valueInside(u, path)
		return ok
	})
}

// valueInside returns the value at a path that leads into a unit.
func valueInside(u merge.Unit, path merge.Path) (any, bool) {
	if len(path) < len(u.Path) || !slices.Equal(path[:len(u.Path)], u.Path) {
		return nil, false
	}
	v := u.Value
	for _, seg := range path[len(u.Path):] {
		m, _ := v.(map[string]any)
		next, ok := m[seg.Name]
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// replaceAt returns v with the value at path exchanged; what is not on the path is shared.
func replaceAt(v any, path merge.Path, value any) any {
	if len(path) == 0 {
		return value
	}
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	out[path[0].Name] = replaceAt(m[path[0].Name], path[1:], value)
	return out
}

// removeAt takes out what is set at the path, below it, or inside a unit above it, and reports
// whether there was anything.
func (w *operationState) removeAt(path merge.Path, by []merge.Source) (found bool) {
	var kept []merge.Unit
	for _, u := range w.units {
		if len(u.Path) >= len(path) && slices.Equal(u.Path[:len(path)], path) {
			for _, from := range u.From {
				lost := u
				lost.From = []merge.Source{from}
				w.recordEffect(lost, merge.Replaced, merge.LessSpecificOverrides, by)
			}
			found = true
			continue
		}
		if _, ok := valueInside(u, path); ok {
			u.Value = removeField(u.Value, path[len(u.Path):])
			u.Parts = nil
			found = true
		}
		kept = append(kept, u)
	}
	w.units = kept
	return found
}

// removeField returns v less the field at path.
func removeField(v any, path merge.Path) any {
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	if len(path) == 1 {
		delete(out, path[0].Name)
	} else {
		out[path[0].Name] = removeField(m[path[0].Name], path[1:])
	}
	return out
}

// limitValue holds a value that is there to a bound; a rule that is changed so has two sources, the
// lower first.
func (w *operationState) limitValue(op operation, own merge.Unit) {
	for i, u := range w.units {
		old, ok := valueInside(u, op.path)
		if !ok {
			continue
		}
		value, clipped := op.nearestAllowed(old)
		if clipped {
			w.units[i].Value = replaceAt(u.Value, op.path[len(u.Path):], value)
			w.units[i].From = slices.Concat(u.From, own.From)
			w.units[i].Parts = nil
			w.recordEffect(own, merge.Joined, "", u.From)
			return
		}
	}
	w.recordEffect(own, merge.Dropped, merge.NoEffect, nil)
}

// nearestAllowed returns the nearest value that the constraint allows, and whether that is another
// one.
func (op operation) nearestAllowed(old any) (any, bool) {
	if op.verb == "in" {
		list, _ := op.value.([]any)
		if len(list) == 0 || slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, old) }) {
			return old, false
		}
		return list[0], true
	}
	have, ok1 := toNumber(old)
	limit, ok2 := toNumber(op.value)
	if !ok1 || !ok2 {
		return old, false
	}
	whole, isWhole := op.value.(int64)
	switch {
	case op.verb == "le" && have > limit, op.verb == "ge" && have < limit:
		return op.value, true
	case op.verb == "lt" && have >= limit && isWhole:
		return whole - 1, true
	case op.verb == "gt" && have <= limit && isWhole:
		return whole + 1, true
	}
	return old, false
}

func toNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
