package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The designs of RFC 0009 that were considered and not chosen: a granularity, conditions inside a block, paths as keys, and lists of
// operations. They are understood where a kind's descriptor allows them, and marked as experimental.

// design decodes a block that is written in one of these designs; false if it is not.
func (d *decoder) design(b merge.BlockKind, raw model.Body, at []string) bool {
	dotted := false
	for key := range raw.Fields {
		dotted = dotted || strings.Contains(key, ".")
	}
	fields := func() map[string]any { return raw.Value().(map[string]any) }
	switch {
	case raw.IsList():
		d.experimental(at, "a list of operations")
		d.operations(b, raw.Value().([]any), at)
	case !raw.IsObject():
		return false
	case !raw.Field("granularity").IsNull():
		d.experimental(at, "granularity")
		d.granularity(b, fields(), at)
	case dotted:
		d.experimental(at, "paths as keys")
		d.pathKeys(b, fields(), at)
	case slices.ContainsFunc(d.kind.containers(), func(f string) bool { return hasCondition(raw.Field(f)) }):
		d.experimental(at, "conditions inside a block")
		d.nested(b, fields(), raw, at)
	default:
		return false
	}
	return true
}

func (d *decoder) experimental(at []string, what string) {
	d.problem(model.Experimental, at, "%s uses %s, which is a design that RFC 0009 did not choose", strings.Join(at, "."), what).Severity = model.Info
}

// put appends a block that is merged unit by unit, the set below it cut at the given shape.
func (d *decoder) put(b merge.Block, shape merge.Shape) {
	b.Strategy = Choice{Strategy: merge.Strategy{Cut: merge.Rules, Shape: shape}}.on(b.Kind)
	d.append(b)
}

func (d *decoder) append(b merge.Block) {
	d.policy.Blocks = append(d.policy.Blocks, b)
	d.policy.words[b.Kind] = b.Strategy.Word()
}

// granularity cuts a block at so many segments below the container's root; 0 is the whole set.
func (d *decoder) granularity(b merge.BlockKind, block map[string]any, at []string) {
	where := append(slices.Clone(at), "granularity")
	n, ok := block["granularity"].(int64)
	if !ok || n < 0 {
		d.problem(model.WrongType, where, "%s.granularity is not a whole number: the block takes no part", strings.Join(at, "."))
		return
	}
	if block["strategy"] != nil {
		d.problem(model.ConflictingStrategy, where, "%s has granularity and strategy: granularity counts", strings.Join(at, "."))
	}
	const deepest = 100 // no document is nested deeper
	n = min(n, deepest)
	settings := map[string]any{}
	var shape merge.Shape
	for _, field := range d.kind.Content.Fields {
		if _, isText := block[field].(string); block[field] != nil && (field != d.kind.Content.Condition || !isText) {
			settings[field] = block[field]
		}
		path := merge.Keys(field)
		if slices.Contains(d.kind.containers(), field) {
			for range n {
				path = append(path, merge.Segment{Form: merge.Any})
			}
		}
		shape = append(shape, merge.Pattern{Path: path})
	}
	out := merge.Block{Kind: b, When: d.blockCondition(b, block, at)}
	if n == 0 {
		out.Units, _ = d.kind.Rules.CutAll(settings)
		out.Strategy = Choice{}.on(b)
		d.append(out)
		return
	}
	out.Units, _ = shape.CutAll(settings)
	d.put(out, shape)
}

// blockCondition is the block's own condition, nil if it has none.
func (d *decoder) blockCondition(b merge.BlockKind, block map[string]any, at []string) merge.Condition {
	text, ok := block[d.kind.Content.Condition].(string)
	if !ok {
		return nil
	}
	return d.condition(strings.TrimSpace(text), b, append(slices.Clone(at), d.kind.Content.Condition))
}

// pathKeys reads a block that maps dotted paths to values.
func (d *decoder) pathKeys(b merge.BlockKind, block map[string]any, at []string) {
	out := merge.Block{Kind: b}
	var shape merge.Shape
	for _, key := range slices.Sorted(maps.Keys(block)) {
		path := merge.Keys(strings.Split(key, ".")...)
		out.Units = append(out.Units, merge.Unit{Path: path, Value: block[key]})
		shape = append(shape, merge.Pattern{Path: path})
	}
	if overlapping(out.Units) {
		d.problem(model.InvalidObject, at, "%s has a path that lies within another one", strings.Join(at, "."))
		return
	}
	d.put(out, slices.Concat(shape, d.kind.Rules))
}

func overlapping(units []merge.Unit) bool {
	for i := range units {
		for j := range units {
			a, b := units[i].Path, units[j].Path
			if i != j && len(a) <= len(b) && slices.Equal(a, b[:len(a)]) {
				return true
			}
		}
	}
	return false
}

// nested reads a block in which maps have conditions of their own; what stands outside of these follows the block's strategy.
func (d *decoder) nested(b merge.BlockKind, block map[string]any, raw model.Body, at []string) {
	rest := map[string]any{}
	out := merge.Block{Kind: b, When: d.blockCondition(b, block, at)}
	var shape merge.Shape
	for _, key := range slices.Sorted(maps.Keys(block)) {
		if !slices.Contains(d.kind.Content.Fields, key) {
			continue
		}
		if key == d.kind.Content.Condition {
			if _, isList := block[key].([]any); isList {
				rest[key] = block[key]
			}
			continue
		}
		left := d.pull(b, merge.Keys(key), block[key], at, &out.Units)
		if left != nil {
			rest[key] = left
		}
	}
	for _, u := range out.Units {
		shape = append(shape, merge.Pattern{Path: u.Path})
	}
	plain, _ := d.kind.Rules.CutAll(rest)
	out.Units = append(plain, out.Units...)
	strategy, _, _ := d.kind.Strategy.of(b, raw, d.spec)
	strategy.Shape = slices.Concat(shape, d.kind.Rules)
	out.Strategy = strategy
	d.append(out)
}

// pull takes the maps with a condition out of v as units, and returns what is left of it, nil for nothing.
func (d *decoder) pull(b merge.BlockKind, path merge.Path, v any, at []string, units *[]merge.Unit) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if text, isText := m["when"].(string); isText {
		value := maps.Clone(m)
		delete(value, "when")
		where := append(slices.Clone(at), strings.Split(path.String(), ".")...)
		*units = append(*units, merge.Unit{Path: path, Value: value, When: d.condition(strings.TrimSpace(text), b, append(where, "when"))})
		return nil
	}
	left := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		below := append(slices.Clone(path), merge.Segment{Name: key})
		if kept := d.pull(b, below, m[key], at, units); kept != nil {
			left[key] = kept
		}
	}
	if len(left) == 0 && len(m) > 0 {
		return nil
	}
	return left
}

// hasCondition reports whether a map within v has a condition of its own.
func hasCondition(v model.Body) bool {
	for key, inner := range v.Fields {
		if key == "when" && inner.IsText() || hasCondition(inner) {
			return true
		}
	}
	return false
}

// operations reads a list of {path, operation, value}.
func (d *decoder) operations(b merge.BlockKind, list []any, at []string) {
	ops := operations{overrides: b == merge.Overrides}
	out := merge.Block{Kind: b}
	for i, entry := range list {
		where := append(slices.Clone(at), fmt.Sprint(i))
		name := strings.Join(strings.Fields(model.Text(entry, "path")), "")
		op := operation{verb: model.Text(entry, "operation"), path: merge.Keys(strings.Split(name, ".")...), value: model.Get(entry, "value")}
		switch {
		case name == "" || !slices.Contains([]string{"add", "remove", "le", "lt", "ge", "gt", "in"}, op.verb):
			d.problem(model.WrongType, where, "%s[%d] has no path, or no operation that is known: it takes no part", strings.Join(at, "."), i)
			continue
		case op.verb == "remove" && !ops.overrides:
			d.policy.Unset = append(d.policy.Unset, name)
			continue
		case op.verb != "add" && op.verb != "remove" && !ops.overrides:
			d.problem(model.ConstraintInDefaults, where, "%s[%d] is a constraint among defaults: it binds all the same", strings.Join(at, "."), i)
		}
		ops.list = append(ops.list, op)
		out.Units = append(out.Units, merge.Unit{Path: op.path, Value: op.value})
	}
	out.Strategy = merge.Strategy{Func: ops.apply}
	d.append(out)
}
