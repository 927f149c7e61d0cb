package descriptor

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// strategyReader reads strategies, and where they stand.
type strategyReader struct{ reader }

// readStrategy reads which strategy a block has, and who says so.
func (r strategyReader) readStrategy(n *yaml.Node) {
	rule := &r.kind.Strategy
	if n.Kind == yaml.ScalarNode {
		*rule = policy.StrategyRule{Default: r.readChoice(n)}
		return
	}
	*rule = policy.StrategyRule{Values: rule.Values, Read: rule.Read}
	r.Object(n, map[string]form.Field{
		"read": func(n *yaml.Node) {
			rule.Read = nil
			r.List(n, func(e *yaml.Node) { rule.Read = append(rule.Read, r.readPlace(e)) })
		},
		"default": func(n *yaml.Node) { rule.Default = r.readChoice(n) },
		"values":  func(n *yaml.Node) { rule.Values = r.readChoices(n) },
	})
}

// readChoices reads the strategies that texts stand for.
func (r strategyReader) readChoices(n *yaml.Node) map[string]policy.StrategyChoice {
	out := map[string]policy.StrategyChoice{}
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "an object is expected here")
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if _, twice := out[n.Content[i].Value]; twice {
			r.Fail(n.Content[i], "value %q is written twice", n.Content[i].Value)
		}
		out[n.Content[i].Value] = r.readChoice(n.Content[i+1])
	}
	return out
}

func (r strategyReader) readChoice(n *yaml.Node) policy.StrategyChoice {
	var s string
	r.Text(&s)(n)
	c, err := parseChoice(s)
	switch {
	case err != nil:
		r.Fail(n, "%s", err)
	case c.Strategy.Wins == merge.Both && !slices.Contains([]string{"evaluation", "application", "display"},
		form.TextOf(r.document, "result")):
		r.Fail(n, "%q gives a list: say with \"result\" what its order means", s)
	}
	return c
}

func (r strategyReader) readPlace(n *yaml.Node) policy.StrategyPlace {
	var s string
	r.Text(&s)(n)
	root, rest, _ := strings.Cut(s, ".")
	switch {
	case rest == "":
		r.Fail(n, "%q is no place of a strategy (block.FIELD, spec.FIELD, by.FIELD)", s)
	case root == "block" || root == "spec":
		return policy.StrategyPlace{InBlock: root == "block", Path: strings.Split(rest, ".")}
	case root == "by":
		return policy.StrategyPlace{InNamer: true, Path: strings.Split(rest, ".")}
	default:
		r.Fail(n, "%q is no place of a strategy (block.FIELD, spec.FIELD, by.FIELD)", s)
	}
	return policy.StrategyPlace{Path: []string{s}}
}

// parseChoice reads a strategy word, optionally with its side: "merge", "atomic defaults".
func parseChoice(text string) (policy.StrategyChoice, error) {
	word, side, fixed := strings.Cut(text, " ")
	c := policy.StrategyChoice{Fixed: fixed}
	switch word {
	case "atomic":
	case "merge":
		c.Strategy.Cut = merge.Rules
	case "patch":
		c.Strategy.Cut = merge.Leaves
	case "none":
		c = policy.StrategyChoice{Strategy: merge.Strategy{Wins: merge.Higher, Rejects: true}, Fixed: true}
	case "union":
		c = policy.StrategyChoice{Strategy: merge.Strategy{Wins: merge.Both}, Fixed: true}
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
