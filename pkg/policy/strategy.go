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

// On is the strategy for a block: the block's own side, unless the word fixes it.
func (c Choice) On(b merge.BlockKind) merge.Strategy {
	s := c.Strategy
	if !c.Fixed && s.Wins != merge.Both && b == merge.Overrides {
		s.Wins = merge.Higher
	}
	return s
}

// Planned is the strategy for a plan, which leaves the side to the block unless the word fixes it.
func (c Choice) Planned() merge.Strategy {
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

// Place is where a strategy is read: a field of the block, of the spec, or of the object that names the policy.
type Place struct {
	Block bool
	By    bool // Path is from that object's root
	Path  []string
}

// Fields are the names under which strategies stand, which are therefore no settings.
func (r StrategyRule) Fields() []string {
	var out []string
	for _, p := range r.Read {
		if !p.By {
			out = append(out, p.Path[0])
		}
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

// Of reads the strategy of a block, and where it stands. An unknown value is atomic, and said.
func (r StrategyRule) Of(b merge.BlockKind, block, spec model.Body) (merge.Strategy, Place, *model.Problem) {
	for _, place := range r.Read {
		if place.By { // known where the policy is named
			continue
		}
		from := spec
		if place.Block {
			from = block
		}
		raw := from.At(place.Path...)
		if raw.IsNull() {
			continue
		}
		if choice, ok := r.Values[raw.Text()]; ok && raw.IsText() {
			return choice.On(b), place, nil
		}
		return Choice{}.On(b), place, &model.Problem{Severity: model.Warning, Code: model.UnknownStrategy,
			Message: fmt.Sprintf("strategy %q is not known, atomic is used", fmt.Sprint(raw.Value())),
			Hint:    "use one of: " + strings.Join(r.known(), ", ")}
	}
	return r.Default.On(b), Place{}, nil
}

func (r StrategyRule) known() []string {
	var out []string
	for raw := range r.Values {
		out = append(out, raw)
	}
	slices.Sort(out)
	return out
}

// Reading is a strategy that is read somewhere else than in the policy that is merged: in a field of the policy below it, or in an
// annotation of the object that a level belongs to.
type Reading struct {
	Path   []string // a field below the settings root
	Name   string   // of an annotation
	Values map[string]Choice
	Func   StrategyOf
}

// StrategyOf is the strategy that a text stands for; not ok if it stands for none.
type StrategyOf func(raw string, s model.Settings) (strategy merge.Strategy, ok bool)

// Choose is the strategy that a text stands for, nil for none.
func (r *Reading) Choose(raw string, s model.Settings) *merge.Strategy {
	if r.Func != nil {
		if strategy, ok := r.Func(raw, s); ok {
			return &strategy
		}
		return nil
	}
	if c, ok := r.Values[raw]; ok {
		strategy := c.Planned()
		return &strategy
	}
	return nil
}
