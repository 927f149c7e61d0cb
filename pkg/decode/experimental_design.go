package decode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// The designs of RFC 0009 that were considered and not chosen: a granularity, conditions inside a block, paths as keys, and lists of
// operations. They are understood where a kind's descriptor allows them, and marked as experimental.

// designReader reads a block that is written in one of these designs.
type designReader struct {
	*decoder
	block merge.BlockKind
	at    []string
}

// readBlock decodes the block if it is written in one of these designs; false if it is not.
func (d designReader) readBlock(raw model.Body) bool {
	dotted := false
	for key := range raw.Fields {
		dotted = dotted || strings.Contains(key, ".")
	}
	fields := func() map[string]any { return raw.Value().(map[string]any) }
	switch {
	case raw.IsList():
		d.reportExperimental("a list of operations")
		d.readOperations(raw.Value().([]any))
	case !raw.IsObject():
		return false
	case !raw.Field("granularity").IsNull():
		d.reportExperimental("granularity")
		d.readGranularity(fields())
	case dotted:
		d.reportExperimental("paths as keys")
		d.readPathKeys(fields())
	case slices.ContainsFunc(d.containers, func(f string) bool { return hasCondition(raw.Field(f)) }):
		d.reportExperimental("conditions inside a block")
		d.readNestedConditions(fields(), raw)
	default:
		return false
	}
	return true
}

func (d designReader) reportExperimental(what string) {
	d.addProblem(model.Experimental, d.at, "%s uses %s, which is a design that RFC 0009 did not choose", d.blockPath(), what).Severity = model.Info
}

// blockPath returns the path of the block.
func (d designReader) blockPath() string { return strings.Join(d.at, ".") }

// pathInBlock returns the path of a field of the block.
func (d designReader) pathInBlock(path ...string) []string { return slices.Concat(d.at, path) }

// appendByUnit appends a block that is merged unit by unit, the set below it cut at the given
// shape.
func (d designReader) appendByUnit(b merge.Block, shape merge.Shape) {
	b.Strategy = policy.StrategyChoice{Strategy: merge.Strategy{Cut: merge.Rules, Shape: shape}}.ForBlock(b.Kind)
	d.policy.AppendBlock(b)
}

// readGranularity cuts a block at so many segments below the container's root; 0 is the whole set.
func (d designReader) readGranularity(block map[string]any) {
	n, ok := block["granularity"].(int64)
	if !ok || n < 0 {
		d.addProblem(model.WrongType, d.pathInBlock("granularity"), "%s.granularity is not a whole number: the block is ignored", d.blockPath())
		return
	}
	if block["strategy"] != nil {
		d.addProblem(model.ConflictingStrategy, d.pathInBlock("granularity"), "%s has granularity and strategy: granularity counts", d.blockPath())
	}
	const deepest = 100 // no document is nested deeper
	n = min(n, deepest)
	settings := map[string]any{}
	var shape merge.Shape
	for _, field := range d.kind.Content.Fields {
		if _, isText := block[field].(string); block[field] != nil && (field != d.kind.Content.Condition || !isText) {
			settings[field] = block[field]
		}
		path := merge.KeyPath(field)
		if slices.Contains(d.containers, field) {
			for range n {
				path = append(path, merge.Segment{Form: merge.Any})
			}
		}
		shape = append(shape, merge.Pattern{Path: path})
	}
	out := merge.Block{Kind: d.block, When: d.blockCondition(block)}
	if n == 0 {
		out.Units, _ = d.kind.Rules.CutSettings(settings)
		out.Strategy = policy.StrategyChoice{}.ForBlock(d.block)
		d.policy.AppendBlock(out)
		return
	}
	out.Units, _ = shape.CutSettings(settings)
	d.appendByUnit(out, shape)
}

// blockCondition is the block's own condition, nil if it has none.
func (d designReader) blockCondition(block map[string]any) merge.Condition {
	text, ok := block[d.kind.Content.Condition].(string)
	if !ok {
		return nil
	}
	return d.compileCondition(strings.TrimSpace(text), d.block, d.pathInBlock(d.kind.Content.Condition))
}

// readPathKeys reads a block that maps dotted paths to values.
func (d designReader) readPathKeys(block map[string]any) {
	out := merge.Block{Kind: d.block}
	var shape merge.Shape
	for _, key := range slices.Sorted(maps.Keys(block)) {
		path := merge.KeyPath(strings.Split(key, ".")...)
		out.Units = append(out.Units, merge.Unit{Path: path, Value: block[key]})
		shape = append(shape, merge.Pattern{Path: path})
	}
	if isOverlapping(out.Units) {
		d.addProblem(model.InvalidObject, d.at, "%s has a path that lies within another one", d.blockPath())
		return
	}
	d.appendByUnit(out, slices.Concat(shape, d.kind.Rules))
}

func isOverlapping(units []merge.Unit) bool {
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

// readNestedConditions reads a block in which maps have conditions of their own; what stands
// outside of these follows the block's strategy.
func (d designReader) readNestedConditions(block map[string]any, raw model.Body) {
	rest := map[string]any{}
	out := merge.Block{Kind: d.block, When: d.blockCondition(block)}
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
		left := d.extractConditional(merge.KeyPath(key), block[key], &out.Units)
		if left != nil {
			rest[key] = left
		}
	}
	for _, u := range out.Units {
		shape = append(shape, merge.Pattern{Path: u.Path})
	}
	plain, _ := d.kind.Rules.CutSettings(rest)
	out.Units = append(plain, out.Units...)
	strategy, _, _ := d.kind.Strategy.ReadStrategy(d.block, raw, d.spec)
	strategy.Shape = slices.Concat(shape, d.kind.Rules)
	out.Strategy = strategy
	d.policy.AppendBlock(out)
}

// extractConditional takes the maps with a condition out of v as units, and returns what is left of
// it, nil for nothing.
func (d designReader) extractConditional(path merge.Path, v any, units *[]merge.Unit) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if text, isText := m["when"].(string); isText {
		value := maps.Clone(m)
		delete(value, "when")
		where := append(d.pathInBlock(strings.Split(path.String(), ".")...), "when")
		*units = append(*units, merge.Unit{Path: path, Value: value, When: d.compileCondition(strings.TrimSpace(text), d.block, where)})
		return nil
	}
	left := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		below := append(slices.Clone(path), merge.Segment{Name: key})
		if kept := d.extractConditional(below, m[key], units); kept != nil {
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

// readOperations reads a list of {path, operation, value}.
func (d designReader) readOperations(list []any) {
	ops := operationList{overrides: d.block == merge.Overrides}
	out := merge.Block{Kind: d.block}
	for i, entry := range list {
		name := strings.Join(strings.Fields(model.Text(entry, "path")), "")
		op := operation{verb: model.Text(entry, "operation"), path: merge.KeyPath(strings.Split(name, ".")...), value: model.Get(entry, "value")}
		switch {
		case name == "" || !slices.Contains([]string{"add", "remove", "le", "lt", "ge", "gt", "in"}, op.verb):
			d.addProblem(model.WrongType, d.pathInBlock(fmt.Sprint(i)), "%s[%d] has no path or no known operation: it is ignored", d.blockPath(), i)
			continue
		case op.verb == "remove" && !ops.overrides:
			d.policy.Unset = append(d.policy.Unset, name)
			continue
		case op.verb != "add" && op.verb != "remove" && !ops.overrides:
			d.addProblem(model.ConstraintInDefaults, d.pathInBlock(fmt.Sprint(i)), "%s[%d] is a constraint among defaults: it binds all the same", d.blockPath(), i)
		}
		ops.list = append(ops.list, op)
		out.Units = append(out.Units, merge.Unit{Path: op.path, Value: op.value})
	}
	out.Strategy = merge.Strategy{Func: ops.applyAll}
	d.policy.AppendBlock(out)
}
