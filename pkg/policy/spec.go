package policy

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Spec is what policies of a kind say, and how they say it.
type Spec struct {
	Content          Content
	Rules            merge.Shape
	RuleWord         string // what one rule is, for people
	Strategy         StrategyRule
	DemandedStrategy *StrategySource // the strategy that the lower side of a merge demands
	Normalize        Normalizer      // nil: policies are read as they are written
	Defaults         []Default
	Builtins         []Builtin
	Unevaluated      []UnevaluatedField
	Parts            []Part
	Facets           []Facet // nil: all settings hold wherever the kind has results
}

// StrategyNames lists the strategies that a policy of the kind can have, sorted.
func (k *Spec) StrategyNames() []string { return k.Strategy.strategyNames() }

// DescribeRules says what one rule of the kind is: a word of the schema, or its patterns.
func (k *Spec) DescribeRules() string {
	if k.RuleWord != "" {
		return k.RuleWord
	}
	var out []string
	for _, p := range k.Rules {
		if p.Choice == "" { // cuts nothing that others do not
			out = append(out, p.Path.String())
		}
	}
	return strings.Join(out, ", ")
}

// Content says where settings, blocks, unset lists and conditions stand in a policy.
type Content struct {
	At         []string // the settings root
	Fields     []string // settings fields; nil: everything but references and block words
	Blocks     map[merge.BlockKind][]string
	Condition  string      // the field of a block that is a D/O condition where it is a string; "" for none
	Unset      []string    // fields that list deactivated names
	OneSet     bool        // only one set is read: the first that is there of defaults, overrides and the bare one
	Reader     BlockReader // of blocks in forms of the vendor's own; nil: there are none
	KeepsEmpty bool        // an empty spec still holds its place

	Zero ZeroValues // what false, 0, "" and an empty list are

	Entries *Entries // settings for single routes; nil: there are none

	StripNulls  bool // the API server takes nulls out before anything sees them
	DeleteNulls bool // a null deletes what a higher policy sets
}

// ZeroValues says what false, 0, "" and an empty list are to a kind. An empty object is a value
// everywhere.
type ZeroValues string

// The ways with zero values.
const (
	ZeroSet   ZeroValues = "set"   // values like all others
	ZeroUnset ZeroValues = "unset" // as good as not there
	ZeroTail  ZeroValues = "tail"  // that, but in the first set that is merged, which is taken as it is and then filled
)

// BlockPath returns where a block's settings stand, from the object's root.
func (c *Content) BlockPath(b merge.BlockKind) []string {
	if at, ok := c.Blocks[b]; ok {
		return at
	}
	if c.Entries != nil && b == merge.Overrides {
		return c.Entries.At
	}
	return c.At
}

// Normalizer rewrites the body of a policy (JSON values) as its controller sees it. It returns a
// new value where it changes something.
type Normalizer func(o *model.Object, body any, s model.Settings) any

// Default is a value that the API server fills in where the object around it is there and the field
// is not.
type Default struct {
	Path  []string // from the object's root; * is every entry of a list or a map
	Value any
}

// UnevaluatedField is a field that does something which is not evaluated: a policy that sets it
// makes answers incomplete.
type UnevaluatedField struct {
	Path    []string // from the object's root
	Message string
}
