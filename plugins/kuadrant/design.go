package kuadrant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// The designs of RFC 0009 that were considered and not chosen: a granularity, conditions inside a
// block, paths as keys, and lists of operations. They are understood where a kind's descriptor
// allows them, and marked as experimental.

var (
	experimentalDesign = model.Rule{ID: "Experimental", Severities: []model.Severity{model.Info},
		Summary: "a policy uses a design that RFC 0009 did not choose",
		Fix:     "nothing, if its controller has that design"}
	twoStrategies = model.Rule{ID: "ConflictingStrategy", Severities: []model.Severity{model.Warning},
		Summary: "`granularity` and `strategy` are both given; `granularity` counts",
		Fix:     "drop one"}
	constraintInDefaults = model.Rule{ID: "ConstraintInDefaults", Severities: []model.Severity{model.Warning},
		Summary: "a constraint stands among defaults: it binds all the same",
		Fix:     "move it to the overrides"}
)

// design reads a block that is written in one of these designs.
type design struct{ *policy.BlockInput }

// readDesign decodes a block if it is written in one of these designs; false if it is not.
func readDesign(in *policy.BlockInput) bool { return design{in}.read(in.Raw) }

func (d design) read(raw model.Body) bool {
	dotted := false
	for key := range raw.Fields {
		dotted = dotted || strings.Contains(key, ".")
	}
	fields := func() map[string]any { return raw.Value().(map[string]any) }
	switch {
	case raw.IsList():
		d.experimental("a list of operations")
		d.operations(raw.Value().([]any))
	case !raw.IsObject():
		return false
	case !raw.Field("granularity").IsNull():
		d.experimental("granularity")
		d.granularity(fields())
	case dotted:
		d.experimental("paths as keys")
		d.pathKeys(fields())
	case slices.ContainsFunc(d.Containers, func(f string) bool { return hasNestedCondition(raw.Field(f)) }):
		d.experimental("conditions inside a block")
		d.nested(fields(), raw)
	default:
		return false
	}
	return true
}

func (d design) experimental(what string) {
	d.Problem(experimentalDesign.ID, d.At, "%s uses %s, which is a design that RFC 0009 did not choose", d.where(),
		what).Severity = model.Info
}

// where is the path of the block.
func (d design) where() string { return strings.Join(d.At, ".") }

// in is the path of what is in the block.
func (d design) in(path ...string) []string { return slices.Concat(d.At, path) }

// put appends a block that is merged unit by unit, the set below it cut at the given shape.
func (d design) put(b merge.Block, shape merge.Shape) {
	b.Strategy = policy.StrategyChoice{Strategy: merge.Strategy{Cut: merge.Rules, Shape: shape}}.ForBlock(b.Kind)
	d.Policy.AppendBlock(b)
}

// granularity cuts a block at so many segments below the container's root; 0 is the whole set.
func (d design) granularity(block map[string]any) {
	n, ok := block["granularity"].(int64)
	if !ok || n < 0 {
		d.Problem(model.WrongType, d.in("granularity"), "%s.granularity is not a whole number: the block is ignored",
			d.where())
		return
	}
	if block["strategy"] != nil {
		d.Problem(twoStrategies.ID, d.in("granularity"), "%s has granularity and strategy: granularity counts",
			d.where())
	}
	const deepest = 100 // no document is nested deeper
	n = min(n, deepest)
	settings := map[string]any{}
	var shape merge.Shape
	for _, field := range d.Policy.Kind.Content.Fields {
		if _, isText := block[field].(string); block[field] != nil && (field != d.Policy.Kind.Content.Condition ||
			!isText) {
			settings[field] = block[field]
		}
		path := merge.KeyPath(field)
		if slices.Contains(d.Containers, field) {
			for range n {
				path = append(path, merge.Segment{Form: merge.Any})
			}
		}
		shape = append(shape, merge.Pattern{Path: path})
	}
	out := merge.Block{Kind: d.Block, When: d.blockCondition(block)}
	if n == 0 {
		out.Units, _ = d.Policy.Kind.Rules.CutSettings(settings)
		out.Strategy = policy.StrategyChoice{}.ForBlock(d.Block)
		d.Policy.AppendBlock(out)
		return
	}
	out.Units, _ = shape.CutSettings(settings)
	d.put(out, shape)
}

// blockCondition is the block's own condition, nil if it has none.
func (d design) blockCondition(block map[string]any) merge.Condition {
	text, ok := block[d.Policy.Kind.Content.Condition].(string)
	if !ok {
		return nil
	}
	return d.Condition(strings.TrimSpace(text), d.in(d.Policy.Kind.Content.Condition))
}

// pathKeys reads a block that maps dotted paths to values.
func (d design) pathKeys(block map[string]any) {
	out := merge.Block{Kind: d.Block}
	var shape merge.Shape
	for _, key := range slices.Sorted(maps.Keys(block)) {
		path := merge.KeyPath(strings.Split(key, ".")...)
		out.Units = append(out.Units, merge.Unit{Path: path, Value: block[key]})
		shape = append(shape, merge.Pattern{Path: path})
	}
	if overlapping(out.Units) {
		d.Problem(model.InvalidObject, d.At, "%s has a path that lies within another one", d.where())
		return
	}
	d.put(out, slices.Concat(shape, d.Policy.Kind.Rules))
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

// nested reads a block in which maps have conditions of their own; what stands outside of these
// follows the block's strategy.
func (d design) nested(block map[string]any, raw model.Body) {
	rest := map[string]any{}
	out := merge.Block{Kind: d.Block, When: d.blockCondition(block)}
	var shape merge.Shape
	for _, key := range slices.Sorted(maps.Keys(block)) {
		if !slices.Contains(d.Policy.Kind.Content.Fields, key) {
			continue
		}
		if key == d.Policy.Kind.Content.Condition {
			if _, isList := block[key].([]any); isList {
				rest[key] = block[key]
			}
			continue
		}
		left := d.pull(merge.KeyPath(key), block[key], &out.Units)
		if left != nil {
			rest[key] = left
		}
	}
	for _, u := range out.Units {
		shape = append(shape, merge.Pattern{Path: u.Path})
	}
	plain, _ := d.Policy.Kind.Rules.CutSettings(rest)
	out.Units = append(plain, out.Units...)
	strategy, _, _ := d.Policy.Kind.Strategy.ReadStrategy(d.Block, raw, d.Spec)
	strategy.Shape = slices.Concat(shape, d.Policy.Kind.Rules)
	out.Strategy = strategy
	d.Policy.AppendBlock(out)
}

// pull takes the maps with a condition out of v as units, and returns what is left of it, nil for
// nothing.
func (d design) pull(path merge.Path, v any, units *[]merge.Unit) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if text, isText := m["when"].(string); isText {
		value := maps.Clone(m)
		delete(value, "when")
		where := append(d.in(strings.Split(path.String(), ".")...), "when")
		*units = append(*units, merge.Unit{Path: path, Value: value, When: d.Condition(strings.TrimSpace(text), where)})
		return nil
	}
	left := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		below := append(slices.Clone(path), merge.Segment{Name: key})
		if kept := d.pull(below, m[key], units); kept != nil {
			left[key] = kept
		}
	}
	if len(left) == 0 && len(m) > 0 {
		return nil
	}
	return left
}

// operations reads a list of {path, operation, value}.
func (d design) operations(list []any) {
	ops := operations{overrides: d.Block == merge.Overrides}
	out := merge.Block{Kind: d.Block}
	for i, entry := range list {
		name := strings.Join(strings.Fields(model.Text(entry, "path")), "")
		op := operation{verb: model.Text(entry, "operation"), path: merge.KeyPath(strings.Split(name, ".")...),
			value: model.Get(entry, "value")}
		switch {
		case name == "" || !slices.Contains([]string{"add", "remove", "le", "lt", "ge", "gt", "in"}, op.verb):
			d.Problem(model.WrongType, d.in(fmt.Sprint(i)), "%s[%d] has no path or no known operation: it is ignored",
				d.where(), i)
			continue
		case op.verb == "remove" && !ops.overrides:
			d.Policy.Unset = append(d.Policy.Unset, name)
			continue
		case op.verb != "add" && op.verb != "remove" && !ops.overrides:
			d.Problem(constraintInDefaults.ID, d.in(fmt.Sprint(i)),
				"%s[%d] is a constraint among defaults: it binds all the same", d.where(), i)
		}
		ops.list = append(ops.list, op)
		out.Units = append(out.Units, merge.Unit{Path: op.path, Value: op.value})
	}
	out.Strategy = merge.Strategy{Func: ops.apply}
	d.Policy.AppendBlock(out)
}
