package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Policy reads a custom resource of kind k. Whatever is wrong with it is a problem of the result, never an error: a part that cannot
// be read takes no part.
func Policy(k *policy.Kind, o *model.Object, conditions *expression.Conditions) *policy.Policy {
	d := &decoder{kind: k, policy: &policy.Policy{Kind: k, Object: o}, body: o.Body, conditions: conditions}
	d.guess = &guess{decoder: d}
	if k.Content.StripNulls {
		d.body, d.extent = stripped(d.body)
	}
	d.prepare()
	d.spec = d.body.At(k.Content.At...)
	if !d.spec.IsNull() && !d.spec.IsObject() {
		d.problem(model.WrongType, k.Content.At, "%s is not an object: the policy has no settings", strings.Join(k.Content.At, "."))
	}
	if k.Scopes != nil { // settings are in the parts, and who finds their places reads the references
		d.validate()
		return d.policy
	}
	references{d}.read()
	for _, b := range []merge.BlockKind{merge.Defaults, merge.Bare, merge.Overrides} {
		if b == merge.Bare {
			d.bare()
		} else {
			d.block(b)
		}
	}
	d.oneSet()
	d.asks()
	d.unset()
	d.mixture()
	d.unjudged()
	if k.Generic() {
		d.guess.read()
	}
	d.validate()
	return d.policy
}

type decoder struct {
	kind       *policy.Kind
	policy     *policy.Policy
	body       model.Body
	extent     model.Extent // of body, where nulls are stripped
	spec       model.Body
	conditions *expression.Conditions
	filled     [][]string      // where the API server's defaults stand
	strange    map[string]bool // fields that are reported as unknown, by path
	guess      *guess
}

func (d *decoder) problem(code model.Code, at []string, format string, args ...any) *model.Problem {
	p := model.Problem{Severity: model.Warning, Code: code, Message: fmt.Sprintf(format, args...)}.At(d.policy.Object, at...)
	d.policy.Problems = append(d.policy.Problems, p)
	return &d.policy.Problems[len(d.policy.Problems)-1]
}

// block decodes defaults or overrides.
func (d *decoder) block(b merge.BlockKind) {
	at, ok := d.kind.Content.Blocks[b]
	raw := d.body.At(at...)
	if !ok || raw.IsNull() {
		return
	}
	if d.kind.Content.Designs && (design{d, b, at}).read(raw) {
		return
	}
	if d.kind.Generic() && !isBlock(raw) {
		return // a setting of that name
	}
	if !raw.IsObject() {
		d.problem(model.WrongType, at, "%s is not an object: the block is ignored", strings.Join(at, "."))
		return
	}
	settings := map[string]any{}
	out := merge.Block{Kind: b}
	known := d.kind.Strategy.Fields()
	if d.kind.Generic() {
		known = append(known, foreignWords()...)
	}
	words := slices.Concat(known, d.kind.Content.Unset)
	for key, value := range raw.Fields {
		switch {
		case key == d.kind.Content.Condition && key != "" && value.IsText():
			out.When = d.condition(strings.TrimSpace(value.Text()), b, append(slices.Clone(at), key))
		case d.setting(key, words):
			settings[key] = value.Part()
		case !slices.Contains(known, key):
			d.unknown(at, key, "a block")
		}
	}
	d.add(out, settings, raw, at)
}

// condition compiles a block's condition; one that does not compile never holds.
func (d *decoder) condition(text string, b merge.BlockKind, at []string) *expression.Condition {
	c := d.conditions.Compile(text)
	switch {
	case errors.Is(c.Err(), expression.ErrRedacted):
		d.problem(model.NotEvaluated, at, "the condition of %s %s: the block is taken not to apply", b, c.Err())
	case c.Err() != nil:
		d.problem(model.InvalidCondition, at, "the condition %q of %s %s: the block does not apply", text, b, c.Err()).Severity = model.Error
	}
	return c
}

// bare decodes the settings that stand in no block.
func (d *decoder) bare() {
	settings := map[string]any{}
	at := d.kind.Content.At
	words := d.words()
	for key, value := range d.spec.Fields {
		switch {
		case key == d.kind.Content.Condition && key != "" && value.IsText():
			d.problem(model.WrongType, append(slices.Clone(at), key), "a condition stands in a block; %s.%s is a list of predicates: ignored", strings.Join(at, "."), key)
		case d.setting(key, words):
			settings[key] = value.Part()
		case !slices.Contains(words, key):
			d.unknown(at, key, "the kind")
		}
	}
	if len(settings) > 0 || d.kind.Content.Claims && (d.spec.IsObject() || d.spec.IsNull() && len(at) > 1) {
		d.add(merge.Block{Kind: merge.Bare}, settings, model.Body{}, at)
	}
}

// setting reports whether a key of a block is a setting of the kind.
func (d *decoder) setting(key string, words []string) bool {
	if d.kind.Content.Fields != nil {
		return slices.Contains(d.kind.Content.Fields, key)
	}
	return !slices.Contains(words, key)
}

// words are the fields of the settings root that are no settings: references, blocks, strategy, unset lists.
func (d *decoder) words() []string {
	c := d.kind.Content
	out := slices.Concat(c.Unset, d.kind.Strategy.Fields())
	if d.kind.Asks != nil {
		out = append(out, d.kind.Asks.Path[0])
	}
	if d.kind.Generic() {
		out = append(out, foreignWords()...)
	}
	under := func(path []string) {
		if len(path) > len(c.At) && slices.Equal(path[:len(c.At)], c.At) {
			out = append(out, path[len(c.At)])
		}
	}
	for _, r := range d.kind.Refs {
		under(r.At)
	}
	if c.Entries != nil {
		under(c.Entries.At)
	}
	for _, b := range []merge.BlockKind{merge.Defaults, merge.Overrides} {
		if at := c.Blocks[b]; at != nil && !(d.kind.Generic() && !isBlock(d.body.At(at...))) {
			under(at)
		}
	}
	return out
}

// add cuts a block's settings into units and appends it.
func (d *decoder) add(b merge.Block, settings map[string]any, block model.Body, at []string) {
	strategy, place, problem := d.kind.Strategy.Of(b.Kind, block, d.spec)
	if problem != nil {
		p := problem.At(d.policy.Object)
		where := d.kind.Content.At
		if place.Block {
			where = at
		}
		origin := d.policy.Object.OriginOf(append(slices.Clone(where), place.Path...)...)
		p.Origin = &origin
		if !slices.ContainsFunc(d.policy.Problems, func(q model.Problem) bool { return q.Code == p.Code && *q.Origin == origin && q.Message == p.Message }) {
			d.policy.Problems = append(d.policy.Problems, p)
		}
	}
	b.Strategy = strategy
	if b.Kind == merge.Bare && len(d.kind.Content.Blocks) == 0 && strategy.Wins == merge.Higher && d.kind.Strategy.Default.Strategy.Wins == merge.Lower {
		b.Kind = merge.Overrides // by its own word, which others do not have; it stands where bare settings do
	}
	for _, field := range containers(d.kind) {
		if body, ok := settings[field].(model.Body); settings[field] != nil && !(ok && body.IsObject()) {
			d.problem(model.WrongType, append(slices.Clone(at), field), "%s.%s is not an object: it is ignored", strings.Join(at, "."), field)
			delete(settings, field)
		}
	}
	shape := d.kind.Rules
	if strategy.Cut == merge.Leaves {
		shape = merge.LeafShape()
	}
	units, odd := shape.CutAll(settings)
	for _, o := range odd {
		d.problem(model.WrongType, append(slices.Clone(at), strings.Split(o.Path.String(), ".")...), "%s.%s %s", strings.Join(at, "."), o.Path, o.Why)
	}
	if len(units) == 0 && d.kind.Content.Claims {
		units = []merge.Unit{{Value: map[string]any{}}}
	}
	if d.kind.Content.DeleteNulls {
		for i := range units {
			units[i].Null = units[i].Value == nil
		}
	}
	units = d.zeros(d.choices(units))
	d.marked(units, at)
	b.Units = units
	d.policy.Append(b)
}

// isBlock reports whether a value may be a block. A list or a scalar is a setting that happens to have the name of one.
func isBlock(v model.Body) bool { return v.IsNull() || v.IsObject() }

// containers are the fields that hold named rules.
func containers(k *policy.Kind) []string {
	var out []string
	for _, p := range k.Rules {
		if len(p.Path) > 1 && p.Path[0].Form == merge.Key && p.Keys == nil && !p.Numbers && !slices.Contains(out, p.Path[0].Name) {
			out = append(out, p.Path[0].Name)
		}
	}
	return out
}
