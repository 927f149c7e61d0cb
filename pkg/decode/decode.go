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
	// the fields of the settings root that are no settings: references, strategy, unset lists, and
	// blocks where the kind has a descriptor
	reserved         []string
	reservedInBlocks []string // those of a block
	containers       []string // the fields that hold named rules
}

// NewReader returns a reader of the custom resources of kind k.
func NewReader(k *policy.Kind, conditions *expression.Conditions) *Reader {
	r := &Reader{kind: k, conditions: conditions, strategyFields: k.Strategy.Fields(), containers: containerFields(k)}
	if k.IsGeneric() {
		r.strategyFields = append(r.strategyFields, foreignStrategyFields()...)
	}
	r.reservedInBlocks = slices.Concat(r.strategyFields, k.Content.Unset)
	r.reserved = slices.Clone(r.reservedInBlocks)
	if k.DemandedStrategy != nil {
		r.reserved = append(r.reserved, k.DemandedStrategy.Path[0])
	}
	for _, form := range k.Refs {
		r.reserved = append(r.reserved, r.rootField(form.At)...)
	}
	if k.Content.Entries != nil {
		r.reserved = append(r.reserved, r.rootField(k.Content.Entries.At)...)
	}
	if !k.IsGeneric() {
		r.reserved = r.withBlockFields(r.reserved, func([]string) bool { return true })
	}
	return r
}

// withBlockFields returns the words and the fields of blocks.
func (r *Reader) withBlockFields(words []string, is func(at []string) bool) []string {
	out := slices.Clip(words)
	for _, b := range []merge.BlockKind{merge.Defaults, merge.Overrides} {
		if at := r.kind.Content.Blocks[b]; at != nil && is(at) {
			out = append(out, r.rootField(at)...)
		}
	}
	return out
}

// rootField returns the field of the settings root that a path leads through, if it does.
func (r *Reader) rootField(path []string) []string {
	root := r.kind.Content.At
	if len(path) > len(root) && slices.Equal(path[:len(root)], root) {
		return path[len(root) : len(root)+1]
	}
	return nil
}

// ReadPolicy reads a custom resource. Whatever is wrong with it is a problem of the result, never
// an error: a part that cannot be read takes no part.
func (r *Reader) ReadPolicy(o *model.Object) *policy.Policy {
	k := r.kind
	d := &decoder{Reader: r, policy: &policy.Policy{Kind: k, Object: o}, body: o.Body}
	d.guess = &guessReader{decoder: d}
	if k.Content.StripNulls {
		d.body, d.extent = stripNulls(d.body)
	}
	d.prepareBody()
	d.spec = d.body.At(k.Content.At...)
	if !d.spec.IsNull() && !d.spec.IsObject() {
		d.addProblem(model.WrongType, k.Content.At, "%s is not an object: the policy has no settings",
			strings.Join(k.Content.At, "."))
	}
	if k.Scopes != nil { // settings are in the parts, and the search for their places reads the references
		d.validateBody()
		return d.policy
	}
	referenceReader{d}.readAll()
	for _, b := range []merge.BlockKind{merge.Defaults, merge.Bare, merge.Overrides} {
		if b == merge.Bare {
			d.decodeBare()
		} else {
			d.decodeBlock(b)
		}
	}
	d.keepOneSet()
	d.readDemandedStrategy()
	d.readUnset()
	d.reportMixedBlocks()
	d.reportUnevaluated()
	if k.IsGeneric() {
		d.guess.readUncertain()
	}
	d.validateBody()
	return d.policy
}

type decoder struct {
	*Reader
	policy        *policy.Policy
	body          model.Body
	extent        model.Extent // of body, where nulls are stripped
	spec          model.Body
	filled        [][]string      // where the API server's defaults stand
	unknownFields map[string]bool // fields that are reported as unknown, by path
	guess         *guessReader
}

func (d *decoder) addProblem(code model.Code, at []string, format string, args ...any) *model.Problem {
	p := model.Problem{Severity: model.Warning, Code: code, Message: fmt.Sprintf(format, args...)}.At(d.policy.Object,
		at...)
	d.policy.Problems = append(d.policy.Problems, p)
	return &d.policy.Problems[len(d.policy.Problems)-1]
}

// decodeBlock decodes defaults or overrides.
func (d *decoder) decodeBlock(b merge.BlockKind) {
	at, ok := d.kind.Content.Blocks[b]
	raw := d.body.At(at...)
	if !ok || raw.IsNull() {
		return
	}
	if read := d.kind.Content.Reader; read != nil {
		in := policy.BlockInput{Policy: d.policy, Block: b, At: at, Raw: raw, Spec: d.spec, Containers: d.containers}
		in.Condition = func(text string, at []string) merge.Condition { return d.compileCondition(text, b, at) }
		if read(&in) {
			return
		}
	}
	if d.kind.IsGeneric() && !isBlock(raw) {
		return // a setting of that name
	}
	if !raw.IsObject() {
		d.addProblem(model.WrongType, at, "%s is not an object: the block is ignored", strings.Join(at, "."))
		return
	}
	settings := map[string]any{}
	out := merge.Block{Kind: b}
	for key, value := range raw.Fields {
		switch {
		case key == d.kind.Content.Condition && key != "" && value.IsText():
			out.When = d.compileCondition(strings.TrimSpace(value.Text()), b, append(slices.Clone(at), key))
		case d.isSetting(key, d.reservedInBlocks):
			settings[key] = value.ScalarOrBody()
		case !slices.Contains(d.strategyFields, key):
			d.reportUnknownField(at, key, "a block")
		}
	}
	d.addBlock(out, settings, raw, at)
}

// compileCondition compiles a block's condition; one that does not compile never holds.
func (d *decoder) compileCondition(text string, b merge.BlockKind, at []string) *expression.Condition {
	c := d.conditions.Compile(text)
	switch {
	case errors.Is(c.Err(), expression.ErrRedacted):
		d.addProblem(model.NotEvaluated, at, "the condition of %s %s: the block is taken not to apply", b, c.Err())
	case c.Err() != nil:
		d.addProblem(model.InvalidCondition, at, "the condition %q of %s %s: the block does not apply", text, b,
			c.Err()).Severity = model.Error
	}
	return c
}

// decodeBare decodes the settings that stand in no block.
func (d *decoder) decodeBare() {
	settings := map[string]any{}
	at := d.kind.Content.At
	words := d.reservedOutside()
	for key, value := range d.spec.Fields {
		switch {
		case key == d.kind.Content.Condition && key != "" && value.IsText():
			d.addProblem(model.WrongType, append(slices.Clone(at), key),
				"a condition stands in a block; %s.%s is a list of predicates: ignored", strings.Join(at, "."), key)
		case d.isSetting(key, words):
			settings[key] = value.ScalarOrBody()
		case !slices.Contains(words, key):
			d.reportUnknownField(at, key, "the kind")
		}
	}
	if len(settings) > 0 || d.kind.Content.KeepsEmpty && (d.spec.IsObject() || d.spec.IsNull() && len(at) > 1) {
		d.addBlock(merge.Block{Kind: merge.Bare}, settings, model.Body{}, at)
	}
}

// isSetting reports whether a key of a block is a setting of the kind.
func (d *decoder) isSetting(key string, words []string) bool {
	if d.kind.Content.Fields != nil {
		return slices.Contains(d.kind.Content.Fields, key)
	}
	return !slices.Contains(words, key)
}

// reservedOutside returns the fields of the settings root that are no settings. A field that is
// called like a block may be one where the kind has no descriptor.
func (d *decoder) reservedOutside() []string {
	if !d.kind.IsGeneric() {
		return d.reserved
	}
	return d.withBlockFields(d.reserved, func(at []string) bool { return isBlock(d.body.At(at...)) })
}

// addBlock cuts a block's settings into units and appends it.
func (d *decoder) addBlock(b merge.Block, settings map[string]any, block model.Body, at []string) {
	strategy, place, problem := d.kind.Strategy.ReadStrategy(b.Kind, block, d.spec)
	if problem != nil {
		p := problem.At(d.policy.Object)
		where := d.kind.Content.At
		if place.InBlock {
			where = at
		}
		origin := d.policy.Object.OriginOf(append(slices.Clone(where), place.Path...)...)
		p.Origin = &origin
		if !slices.ContainsFunc(d.policy.Problems, func(q model.Problem) bool {
			return q.Code == p.Code &&
				*q.Origin == origin && q.Message == p.Message
		}) {
			d.policy.Problems = append(d.policy.Problems, p)
		}
	}
	b.Strategy = strategy
	if b.Kind == merge.Bare && len(d.kind.Content.Blocks) == 0 && strategy.Wins == merge.Higher &&
		d.kind.Strategy.Default.Strategy.Wins == merge.Lower {
		b.Kind = merge.Overrides // by its own word, which others do not have; it stands where bare settings do
	}
	for _, field := range d.containers {
		if body, ok := settings[field].(model.Body); settings[field] != nil && !(ok && body.IsObject()) {
			d.addProblem(model.WrongType, append(slices.Clone(at), field), "%s.%s is not an object: it is ignored",
				strings.Join(at, "."), field)
			delete(settings, field)
		}
	}
	shape := d.kind.Rules
	if strategy.Cut == merge.Leaves {
		shape = merge.LeafShape()
	}
	units, odd := shape.CutSettings(settings)
	for _, o := range odd {
		d.addProblem(model.WrongType, append(slices.Clone(at), strings.Split(o.Path.String(), ".")...), "%s.%s %s",
			strings.Join(at, "."), o.Path, o.Message)
	}
	if len(units) == 0 && d.kind.Content.KeepsEmpty {
		units = []merge.Unit{{Value: map[string]any{}}}
	}
	if d.kind.Content.DeleteNulls {
		for i := range units {
			units[i].Null = units[i].Value == nil
		}
	}
	units = d.markZeros(d.markChoices(units))
	d.markFilled(units, at)
	b.Units = units
	d.policy.AppendBlock(b)
}

// isBlock reports whether a value may be a block. A list or a scalar is a setting that happens to
// have the name of one.
func isBlock(v model.Body) bool { return v.IsNull() || v.IsObject() }

// containerFields returns the fields that hold named rules.
func containerFields(k *policy.Kind) []string {
	var out []string
	for _, p := range k.Rules {
		if len(p.Path) > 1 && p.Path[0].Form == merge.Key && p.Keys == nil && !p.Numbers &&
			!slices.Contains(out, p.Path[0].Name) {
			out = append(out, p.Path[0].Name)
		}
	}
	return out
}
