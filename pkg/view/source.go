package view

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Source says who set something: a block of a policy at a target, or a value that no policy wrote
// (Builtin).
type Source struct {
	Policy   *model.Ref `json:"policy,omitempty"`    // absent where no policy wrote it
	Target   *model.Ref `json:"target" null:"never"` // shared, and not to be changed
	Level    string     `json:"level"`               // the role at which it stands
	Block    string     `json:"block,omitempty"`     // defaults, bare, overrides
	Strategy string     `json:"strategy,omitempty"`  // atomic, merge, patch, none, union
	// Condition is the block's `when`. It was met, unless the source is that of a loss with the
	// reason ConditionFalse.
	Condition string        `json:"condition,omitempty"`
	Origin    *model.Origin `json:"origin,omitempty"`  // where it is
	Builtin   string        `json:"builtin,omitempty"` // what the setting is, where no policy wrote it
	Part      string        `json:"part,omitempty"`    // which part of the policy, as to[0], where it has several
	// DecidedBy is, of the winner of a loss, what made it win.
	DecidedBy *Deciding `json:"decidedBy,omitempty"`
}

// Deciding is what made the winner of a loss win, with what was compared.
type Deciding struct {
	// level, block, strategy, builtIn, order, age, name, namespace, section, position, field,
	// label, annotation
	By     string `json:"by"`
	Called string `json:"called,omitempty"` // which field, label or annotation, or what the policy kind calls it
	Winner string `json:"winner,omitempty"` // what was compared of the winner
	Loser  string `json:"loser,omitempty"`  // what was compared of the loser
}

// EachSource joins a fact about each source, weakest first, with " + "; "-" stands for what there
// is not.
func EachSource(sources []Source, fact func(Source) string) string {
	parts := make([]string, 0, len(sources))
	for _, s := range sources {
		parts = append(parts, OrDash(fact(s)))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " + ")
}

// OriginText says where a source is written; "" where that is not known.
func OriginText(s Source) string {
	if s.Origin == nil {
		return ""
	}
	return s.Origin.String()
}

// IsSameBlock reports whether two sources are one block of one policy, or one setting that no
// policy wrote.
func (s Source) IsSameBlock(x Source) bool {
	if s.Policy == nil || x.Policy == nil {
		return s.Policy == x.Policy && s.Builtin == x.Builtin
	}
	return *x.Policy == *s.Policy && x.Block == s.Block
}

// SourceName is who s is: the policy, or the label of a value that no policy wrote.
func SourceName(s Source) string {
	if s.Policy == nil {
		return s.Builtin
	}
	return s.Policy.FullName()
}
