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

// Reader reads the custom resources of one kind. It may be used by several goroutines.
type Reader struct {
	kind       *policy.Kind
	conditions *expression.Conditions

	strategyFields []string // the fields for the strategy
	words          []string // the fields of the settings root that are no settings: references, strategy, unset lists, and blocks where the kind has a descriptor
	inBlocks       []string // those of a block
	containers     []string // the fields that hold named rules
}

// For is a reader of the custom resources of kind k.
func For(k *policy.Kind, conditions *expression.Conditions) *Reader {
	r := &Reader{kind: k, conditions: conditions, strategyFields: k.Strategy.Fields(), containers: containers(k)}
	if k.Generic() {
		r.strategyFields = append(r.strategyFields, foreignWords()...)
	}
	r.inBlocks = slices.Concat(r.strategyFields, k.Content.Unset)
	r.words = slices.Clone(r.inBlocks)
	if k.Asks != nil {
		r.words = append(r.words, k.Asks.Path[0])
	}
	for _, form := range k.Refs {
		r.words = append(r.words, r.under(form.At)...)
	}
	if k.Content.Entries != nil {
		r.words = append(r.words, r.under(k.Content.Entries.At)...)
	}
	if !k.Generic() {
		r.words = r.withBlocks(r.words, func([]string) bool { return true })
	}
	return r
}

// withBlocks is words and the fields of blocks.
func (r *Reader) withBlocks(words []string, is func(at []string) bool) []string {
	out := slices.Clip(words)
	for _, b := range []merge.BlockKind{merge.Defaults, merge.Overrides} {
		if at := r.kind.Content.Blocks[b]; at != nil && is(at) {
			out = append(out, r.under(at)...)
		}
	}
	return out
}

// under is the field of the settings root that a path leads through, if it does.
func (r *Reader) under(path []string) []string {
	root := r.kind.Content.At
	if len(path) > len(root) && slices.Equal(path[:len(root)], root) {
		return path[len(root) : len(root)+1]
	}
	return nil
}

// Policy reads a custom resource. Whatever is wrong with it is a problem of the result, never an error: a part that cannot
// be read takes no part.
func (r *Reader) Policy(o *model.Object) *policy.Policy {
	k := r.kind
	d := &decoder{Reader: r, policy: &policy.Policy{Kind: k, Object: o}, body: o.Body}
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
	*Reader
	policy  *policy.Policy
	body    model.Body
	extent  model.Extent // of body, where nulls are stripped
	spec    model.Body
	filled  [][]string      // where the API server's defaults stand
	strange map[string]bool // fields that are reported as unknown, by path
	guess   *guess
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
	if read := d.kind.Content.Reader; read != nil {
		in := policy.BlockInput{Policy: d.policy, Block: b, At: at, Raw: raw, Spec: d.spec, Containers: d.containers}
		in.Condition = func(text string, at []string) merge.Condition { return d.condition(text, b, at) }
		if read(&in) {
			return
		}
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
	for key, value := range raw.Fields {
		switch {
		case key == d.kind.Content.Condition && key != "" && value.IsText():
			out.When = d.condition(strings.TrimSpace(value.Text()), b, append(slices.Clone(at), key))
		case d.setting(key, d.inBlocks):
			settings[key] = value.Part()
		case !slices.Contains(d.strategyFields, key):
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
	words := d.outside()
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

// outside are the fields of the settings root that are no settings. What is called like a block may be one where the kind has no descriptor.
func (d *decoder) outside() []string {
	if !d.kind.Generic() {
		return d.words
	}
	return d.withBlocks(d.words, func(at []string) bool { return isBlock(d.body.At(at...)) })
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
	for _, field := range d.containers {
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
