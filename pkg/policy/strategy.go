package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Choice is a strategy word, with the side where the word fixes it.
type Choice struct {
	Strategy merge.Strategy
	Fixed    bool // the side is part of the word, not the block's
}

// on is the strategy for a block: the block's own side, unless the word fixes it.
func (c Choice) on(b merge.BlockKind) merge.Strategy {
	s := c.Strategy
	if !c.Fixed && s.Wins != merge.Both && b == merge.Overrides {
		s.Wins = merge.Higher
	}
	return s
}

// planned is the strategy for a plan, which leaves the side to the block unless the word fixes it.
func (c Choice) planned() merge.Strategy {
	s := c.Strategy
	if !c.Fixed && s.Wins == merge.Lower {
		s.Wins = merge.ByBlock
	}
	return s
}

// StrategyRule says which strategy a block has, and who says so.
type StrategyRule struct {
	Read    []Place // in order; the first that is there decides
	Values  map[string]Choice
	Default Choice
}

// Place is where a strategy is read: a field of the block or of the spec.
type Place struct {
	Block bool
	Path  []string
}

// fields are the names under which strategies stand, which are therefore no settings.
func (r StrategyRule) fields() []string {
	var out []string
	for _, p := range r.Read {
		out = append(out, p.Path[0])
	}
	return out
}

// words lists the strategy words that a policy of the kind can have, sorted.
func (r StrategyRule) words() []string {
	out := []string{r.Default.Strategy.Word()}
	for _, c := range r.Values {
		out = append(out, c.Strategy.Word())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// of reads the strategy of a block, and where it stands. An unknown value is atomic, and said.
func (r StrategyRule) of(b merge.BlockKind, block, spec model.Body) (merge.Strategy, Place, *model.Problem) {
	for _, place := range r.Read {
		from := spec
		if place.Block {
			from = block
		}
		raw := from.At(place.Path...)
		if raw.IsNull() {
			continue
		}
		if choice, ok := r.Values[raw.Text()]; ok && raw.IsText() {
			return choice.on(b), place, nil
		}
		return Choice{}.on(b), place, &model.Problem{Severity: model.Warning, Code: model.UnknownStrategy,
			Message: fmt.Sprintf("strategy %q is not known, atomic is used", fmt.Sprint(raw.Value())),
			Hint:    "use one of: " + strings.Join(r.known(), ", ")}
	}
	return r.Default.on(b), Place{}, nil
}

func (r StrategyRule) known() []string {
	var out []string
	for raw := range r.Values {
		out = append(out, raw)
	}
	slices.Sort(out)
	return out
}

// parseChoice reads a strategy word, optionally with its side: "merge", "atomic defaults".
func parseChoice(text string) (Choice, error) {
	word, side, fixed := strings.Cut(text, " ")
	c := Choice{Fixed: fixed}
	switch word {
	case "atomic":
	case "merge":
		c.Strategy.Cut = merge.Rules
	case "patch":
		c.Strategy.Cut = merge.Leaves
	case "none":
		c = Choice{Strategy: merge.Strategy{Wins: merge.Higher, Rejects: true}, Fixed: true}
	case "union":
		c = Choice{Strategy: merge.Strategy{Wins: merge.Both}, Fixed: true}
	default:
		return c, fmt.Errorf("%q is no strategy (atomic, merge, patch, none, union)", word)
	}
	switch {
	case !fixed:
	case word == "none" || word == "union":
		return c, fmt.Errorf("strategy %q has no side", word)
	case side == "overrides":
		c.Strategy.Wins = merge.Higher
	case side != "defaults":
		return c, fmt.Errorf("%q is no side (defaults, overrides)", side)
	}
	return c, nil
}

// StrategyWords lists the strategies that a policy of the kind can have, sorted.
func (k *Kind) StrategyWords() []string { return k.Strategy.words() }

// RuleWords says what one rule of the kind is: a word of the schema, or its patterns.
func (k *Kind) RuleWords() string {
	if k.Cutting != "" {
		return k.Cutting
	}
	var out []string
	for _, p := range k.Rules {
		if p.Choice == "" { // cuts nothing that others do not
			out = append(out, p.Path.String())
		}
	}
	return strings.Join(out, ", ")
}
