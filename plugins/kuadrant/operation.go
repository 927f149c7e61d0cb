package kuadrant

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// operations are the steps of a block written as a list, in order.
type operations struct {
	overrides bool
	list      []operation
}

type operation struct {
	verb  string // add, remove, le, lt, ge, gt, in
	path  merge.Path
	value any
}

// apply is the block's strategy: own has one unit per operation, with its source.
func (o operations) apply(own, lower []merge.Unit) ([]merge.Unit, []merge.Effect) {
	w := workbench{units: slices.Clone(lower)}
	for i := range w.units { // the operations look into values
		w.units[i].Value = merge.Unpack(w.units[i].Value)
	}
	for i, op := range o.list {
		from := own[i].From
		switch {
		case op.verb == "add" && !o.overrides && w.at(op.path):
			w.note(own[i], merge.Dropped, merge.MoreSpecificWins, nil)
		case op.verb == "add":
			w.clear(op.path, from)
			w.units = append(w.units, own[i])
			w.note(own[i], merge.Taken, "", nil)
		case op.verb == "remove":
			if !w.clear(op.path, from) {
				w.note(own[i], merge.Dropped, merge.NoEffect, nil)
			}
		default:
			w.clip(op, own[i])
		}
	}
	return w.units, w.effects
}

// workbench is what is in force while the operations are applied.
type workbench struct {
	units   []merge.Unit
	effects []merge.Effect
}

func (w *workbench) note(u merge.Unit, o merge.Action, reason merge.Reason, to []merge.Source) {
	w.effects = append(w.effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
		Action: o, Reason: reason, Other: to})
}

// at reports whether something is set at the path, or below it.
func (w *workbench) at(path merge.Path) bool {
	return slices.ContainsFunc(w.units, func(u merge.Unit) bool {
		if len(u.Path) >= len(path) {
			return slices.Equal(u.Path[:len(path)], path)
		}
		_, ok := inside(u, path)
		return ok
	})
}

// inside is the value at a path that leads into a unit.
func inside(u merge.Unit, path merge.Path) (any, bool) {
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

// replaced is v with the value at path exchanged; what is not on the way is shared.
func replaced(v any, path merge.Path, value any) any {
	if len(path) == 0 {
		return value
	}
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	out[path[0].Name] = replaced(m[path[0].Name], path[1:], value)
	return out
}

// clear takes out what is set at the path, below it, or inside a unit above it, and reports whether
// there was anything.
func (w *workbench) clear(path merge.Path, by []merge.Source) (found bool) {
	var kept []merge.Unit
	for _, u := range w.units {
		if len(u.Path) >= len(path) && slices.Equal(u.Path[:len(path)], path) {
			for _, from := range u.From {
				lost := u
				lost.From = []merge.Source{from}
				w.note(lost, merge.Replaced, merge.LessSpecificOverrides, by)
			}
			found = true
			continue
		}
		if _, ok := inside(u, path); ok {
			u.Value = without(u.Value, path[len(u.Path):])
			u.Parts = nil
			found = true
		}
		kept = append(kept, u)
	}
	w.units = kept
	return found
}

// without is v less the field at path.
func without(v any, path merge.Path) any {
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	if len(path) == 1 {
		delete(out, path[0].Name)
	} else {
		out[path[0].Name] = without(m[path[0].Name], path[1:])
	}
	return out
}

// clip holds a value that is there to a bound; a rule that is clipped has two sources, the lower
// first.
func (w *workbench) clip(op operation, own merge.Unit) {
	for i, u := range w.units {
		old, ok := inside(u, op.path)
		if !ok {
			continue
		}
		value, clipped := op.bound(old)
		if clipped {
			w.units[i].Value = replaced(u.Value, op.path[len(u.Path):], value)
			w.units[i].From = slices.Concat(u.From, own.From)
			w.units[i].Parts = nil
			w.note(own, merge.Joined, "", u.From)
			return
		}
	}
	w.note(own, merge.Dropped, merge.NoEffect, nil)
}

// bound is the nearest value that the constraint allows, and whether that is another one.
func (op operation) bound(old any) (any, bool) {
	if op.verb == "in" {
		list, _ := op.value.([]any)
		if len(list) == 0 || slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, old) }) {
			return old, false
		}
		return list[0], true
	}
	have, ok1 := number(old)
	limit, ok2 := number(op.value)
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

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
