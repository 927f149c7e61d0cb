package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// StrategyChoice is a strategy word, with the side where the word fixes it.
type StrategyChoice struct {
	Strategy merge.Strategy
	Fixed    bool // the side is part of the word, not the block's
}

// ForBlock returns the strategy for a block: the block's own side, unless the word fixes it.
func (c StrategyChoice) ForBlock(b merge.BlockKind) merge.Strategy {
	s := c.Strategy
	if !c.Fixed && s.Wins != merge.Both && b == merge.Overrides {
		s.Wins = merge.Higher
	}
	return s
}

// ForPlan returns the strategy for a plan, which leaves the side to the block unless the word fixes
// it.
func (c StrategyChoice) ForPlan() merge.Strategy {
	s := c.Strategy
	if !c.Fixed && s.Wins == merge.Lower {
		s.Wins = merge.ByBlock
	}
	return s
}

// StrategyRule says which strategy a block has, and who says so.
type StrategyRule struct {
	Read    []StrategyPlace // in order; the first that is there decides
	Values  map[string]StrategyChoice
	Default StrategyChoice
}

// StrategyPlace is where a strategy is read: a field of the block, of the spec, or of the object
// that names the policy.
type StrategyPlace struct {
	InBlock bool
	InNamer bool // Path is from that object's root
	Path    []string
}

// Fields returns the names under which strategies stand, which are therefore no settings.
func (r StrategyRule) Fields() []string {
	var out []string
	for _, p := range r.Read {
		if !p.InNamer {
			out = append(out, p.Path[0])
		}
	}
	return out
}

// strategyNames lists the strategies that a policy of the kind can have, sorted.
func (r StrategyRule) strategyNames() []string {
	out := []string{r.Default.Strategy.Name()}
	for _, c := range r.Values {
		out = append(out, c.Strategy.Name())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ReadStrategy returns the strategy of a block, and where it stands. An unknown value is taken as
// atomic, with a problem.
func (r StrategyRule) ReadStrategy(b merge.BlockKind, block, spec model.Body) (merge.Strategy, StrategyPlace,
	*model.Problem) {
	for _, place := range r.Read {
		if place.InNamer { // known where the policy is named
			continue
		}
		from := spec
		if place.InBlock {
			from = block
		}
		raw := from.At(place.Path...)
		if raw.IsNull() {
			continue
		}
		if choice, ok := r.Values[raw.Text()]; ok && raw.IsText() {
			return choice.ForBlock(b), place, nil
		}
		return StrategyChoice{}.ForBlock(b), place, &model.Problem{Severity: model.Warning, Code: model.UnknownStrategy,
			Message: fmt.Sprintf("unknown strategy %q: atomic is used", fmt.Sprint(raw.Value())),
			Hint:    "use one of: " + strings.Join(r.knownWords(), ", ")}
	}
	return r.Default.ForBlock(b), StrategyPlace{}, nil
}

func (r StrategyRule) knownWords() []string {
	var out []string
	for raw := range r.Values {
		out = append(out, raw)
	}
	slices.Sort(out)
	return out
}

// StrategySource says that a strategy is read somewhere else than in the policy that is merged: in
// a field of the policy below it, or in an annotation of the object that a level belongs to.
type StrategySource struct {
	Path   []string // a field below the settings root
	Name   string   // of an annotation
	Values map[string]StrategyChoice
	Func   StrategyParser
}

// StrategyParser returns the strategy that a text stands for; not ok if it stands for none.
type StrategyParser func(raw string, s model.Settings) (strategy merge.Strategy, ok bool)

// ParseStrategy returns the strategy that a text stands for, nil for none.
func (r *StrategySource) ParseStrategy(raw string, s model.Settings) *merge.Strategy {
	if r.Func != nil {
		if strategy, ok := r.Func(raw, s); ok {
			return &strategy
		}
		return nil
	}
	if c, ok := r.Values[raw]; ok {
		strategy := c.ForPlan()
		return &strategy
	}
	return nil
}
